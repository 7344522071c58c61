package rates

import (
	"testing"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
)

var began = time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)

// frame has a filter and a layer, with these counters.
func frame(after time.Duration, requests int64, refused, faults int64, answered int64) data.Frame {
	filter := &v1alpha1.Filter{}
	filter.Name, filter.Spec.Enabled, filter.Status.Requests = "authorization", true, requests
	for code, n := range map[int32]int64{403: refused, 500: faults} {
		if n > 0 {
			filter.Status.Terminated = append(filter.Status.Terminated, v1alpha1.StatusCount{Code: code, Count: n})
		}
	}
	layer := &v1alpha1.ServerLayer{}
	layer.Name, layer.Status.RequestsAnswered, layer.Status.RequestsReceived = "aggregator", answered, requests
	return data.Frame{Now: began.Add(after)}.
		With(data.View{Key: FilterFeed, State: data.Live, Objects: []kinds.Object{filter}}).
		With(data.View{Key: LayerFeed, State: data.Live, Objects: []kinds.Object{layer}})
}

func TestEnds(t *testing.T) {
	t.Parallel()
	before := frame(0, 100, 10, 0, 50)
	now := frame(5*time.Second, 200, 15, 0, 100)

	alone := Ends(now)
	if len(alone) != 2 || alone[0].Rate.Known || alone[0].Text() != "403:15" || alone[1].Text() != "100" {
		t.Errorf("without an earlier frame: %+v", alone)
	}
	now.Before = &before
	ends := Ends(now)
	if got := ends[0].Text(); got != "1.0/s (403)" {
		t.Errorf("the filter ends %q", got)
	}
	if got := ends[1].Text(); got != "10/s" || !ends[1].Layer {
		t.Errorf("the layer answers %q", got)
	}
	if got := ends[0].Token(); got != ink.Warning {
		t.Errorf("refusing is %d", got)
	}
	if got := Filters(now)[0].Requests.String(); got != "20/s" {
		t.Errorf("entered %q", got)
	}

	faulty := frame(5*time.Second, 200, 10, 5, 100)
	faulty.Before = &before
	if got := Ends(faulty)[0]; got.Token() != ink.Bad || len(got.Codes) != 1 || got.Codes[0].Code != 500 {
		t.Errorf("faults: %+v", got)
	}
	quiet := frame(5*time.Second, 200, 10, 0, 100)
	quiet.Before = &before
	if got := Ends(quiet)[0]; got.Token() != ink.Muted || got.Text() != "0/s (403)" {
		t.Errorf("nothing lately: %q %d", got.Text(), got.Token())
	}
}

// A server that was started anew has counters that went back: nothing is said then.
func TestRestarted(t *testing.T) {
	t.Parallel()
	before := frame(0, 100, 10, 0, 50)
	now := frame(5*time.Second, 3, 1, 0, 1)
	now.Before = &before
	for _, end := range Ends(now) {
		if end.Rate.Known {
			t.Errorf("%s has a rate: %+v", end.Name, end.Rate)
		}
	}
}

func TestPerSecond(t *testing.T) {
	t.Parallel()
	for rate, want := range map[float64]string{-1: "0/s", 0: "0/s", 0.04: "<0.1/s", 0.25: "0.2/s", 9.96: "10/s", 12.3: "12/s", 1234: "1.2k/s"} {
		if got := PerSecond(rate); got != want {
			t.Errorf("%v is %q, want %q", rate, got, want)
		}
	}
}
