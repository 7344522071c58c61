package chain

import (
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/chain/rates"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

// open makes the page of a location, as it is written.
func open(t *testing.T, location string) page.Page {
	t.Helper()
	at, err := page.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(page.Env{}, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// busy is a server with the frame before.
func busy(t *testing.T) data.Frame {
	t.Helper()
	frame, before := pagestest.Frame(t, pagestest.Demo), pagestest.Frame(t, pagestest.Earlier)
	frame.Before = &before
	return frame
}

func TestPictures(t *testing.T) {
	t.Parallel()
	pagestest.Golden(t, "chain", open(t, "chain"), pagestest.Frame(t, pagestest.Kapi))
	pagestest.Golden(t, "chain-busy", open(t, "chain"), busy(t))
	pagestest.Golden(t, "chain-foreign", open(t, "chain"), pagestest.Frame(t, pagestest.Foreign))
	pagestest.Golden(t, "filter", open(t, "chain/authorization"), busy(t))
	pagestest.Golden(t, "filter-off", open(t, "chain/cors"), busy(t))
	pagestest.Golden(t, "layer", open(t, "chain/layer/aggregator"), busy(t))
}

func TestFits(t *testing.T) {
	t.Parallel()
	frame := odd(pagestest.Frame(t, pagestest.Kapi))
	for _, location := range []string{"chain", "chain/authorization", "chain/cors", "chain/layer/aggregator", "chain/nothing", "chain/layer/nothing", "chain/" + oddName} {
		pagestest.Fits(t, open(t, location), frame)
		pagestest.Fits(t, open(t, location), busy(t))
		pagestest.Fits(t, open(t, location), data.Frame{})
	}
}

const oddName = "認可フィルター-e\u0301\u202eabc\x1b[31m"

// odd is a frame with names that are hard to draw, and objects that hold nothing.
func odd(frame data.Frame) data.Frame {
	filter := &v1alpha1.Filter{}
	filter.Name, filter.Spec.Enabled = oddName, true
	filter.Spec.Doc = strings.Repeat("長い説明 ", 40) + "\x07"
	filter.Status.Terminated = []v1alpha1.StatusCount{{Code: 0, Count: 1 << 60}, {Code: 999, Count: -4}}
	layer := &v1alpha1.ServerLayer{}
	layer.Name = oddName
	layer.Status.LastError = &v1alpha1.LayerError{}
	request := &v1alpha1.RequestTrace{}
	request.Name, request.Status.TerminatedBy = oddName, v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: oddName}
	for key, object := range map[data.Key]kinds.Object{rates.FilterFeed: filter, rates.LayerFeed: layer, trace.Feed: request} {
		frame = pagestest.Objects(frame, key, append([]kinds.Object{object}, frame.View(key).Objects...)...)
	}
	return frame
}

func TestStates(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	for state, want := range map[data.State]string{
		data.Loading: "loading", data.Forbidden: "forbidden", data.Failed: "error", data.Absent: "not on this server",
	} {
		for _, location := range []string{"chain", "chain/authorization", "chain/layer/inspect"} {
			got := pagestest.Picture(t, open(t, location), pagestest.In(frame, state, rates.FilterFeed, rates.LayerFeed), 80, 24)
			if !strings.Contains(got, want) {
				t.Errorf("%s in state %d does not say %q:\n%s", location, state, want, got)
			}
		}
	}
	gone := pagestest.Picture(t, open(t, "chain/nothing"), frame, 80, 24)
	if !strings.Contains(gone, "no filter of the name") {
		t.Errorf("a filter that is not there:\n%s", gone)
	}
	refused := pagestest.Picture(t, open(t, "chain/authorization"), pagestest.In(frame, data.Forbidden, trace.Feed), 80, 24)
	if !strings.Contains(refused, "requests can't be read") {
		t.Errorf("traces are forbidden:\n%s", refused)
	}
}

// The filter that refuses most is where the cursor is, so that enter explains it.
func TestWhichFilterRefuses(t *testing.T) {
	t.Parallel()
	p := open(t, "chain")
	p.Update(pagestest.Frame(t, pagestest.Kapi))
	if got, want := p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String(), "chain/authorization"; got != want {
		t.Errorf("enter leads to %q, want %q", got, want)
	}
	if got, want := p.Act(page.Action{ID: page.Requests, Count: 1}).Open, page.At("requests", "", "filter", "by:authorization"); got.String() != want.String() {
		t.Errorf("its requests are at %q, want %q", got, want)
	}
	p.Act(page.Action{ID: page.NextPart, Count: 1})
	if got, want := p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String(), "chain/layer/aggregator"; got != want {
		t.Errorf("enter on a layer leads to %q, want %q", got, want)
	}
}

// Every line of a detail that leads somewhere leads to the thing that it names.
func TestDetailLeadsOn(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	for location, want := range map[string][]string{
		"chain/authorization": {
			"requests?filter=by%3Aauthorization+code%3A403", "requests/3dc42186-90ac-4841-890c-64dee4aecb23", "chain/priority-and-fairness",
		},
		"chain/layer/aggregator": {"requests/4a79bae0-bf1e-41b3-849c-158b94fc321d", "chain/layer/kube-apiserver"},
	} {
		p := open(t, location)
		found := pagestest.Links(t, p, frame)
		for _, each := range want {
			if !slices.Contains(found, each) {
				t.Errorf("%s does not lead to %s, but to %v", location, each, found)
			}
		}
	}
}

func TestSubject(t *testing.T) {
	t.Parallel()
	p := open(t, "chain/layer/aggregator")
	p.Update(pagestest.Frame(t, pagestest.Kapi))
	subject, ok := p.(page.Selecter).Selected()
	if !ok || subject.Inspect != "serverlayers" || subject.Name != "aggregator" || subject.Object == nil || len(subject.Commands) != 2 {
		t.Errorf("the subject is %+v", subject)
	}
}
