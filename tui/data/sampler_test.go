package data

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// counters is a frame with counters that came at a time.
func counters(at, came time.Time, of inspection.Type, requests, failed int64) Frame {
	off := filter("off", 0, 1_000_000)
	off.Spec.Enabled = false
	outer, inner := filter("outer", 1, requests), filter("inner", 2, requests/2)
	outer.Status.InFlight = 3
	inner.Status.Terminated = []v1alpha1.StatusCount{{Code: 429, Count: 100}, {Code: 503, Count: failed}}
	layer := &v1alpha1.ServerLayer{}
	layer.Status.Answers = []v1alpha1.StatusCount{{Code: 200, Count: 1}, {Code: 500, Count: failed}, {Code: 0, Count: failed}}
	frame := Frame{Now: at, State: Live, About: inspection.About{Type: of}}
	frame = frame.With(View{Key: filtersKey, State: Live, At: came, Objects: objectsOf(off, outer, inner)})
	return frame.With(View{Key: layersKey, At: came, Objects: objectsOf(layer)})
}

func TestRates(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	type step struct {
		// at is the second of the sample, came when the counters have come.
		at, came         float64
		requests, failed int64
		want, bad        float64
	}
	after := func(seconds float64) time.Time { return begun.Add(time.Duration(seconds * float64(time.Second))) }
	for _, test := range []struct {
		name  string
		of    inspection.Type
		steps []step
	}{
		{"watched", inspection.Kapi, []step{
			{0, 0, 100, 0, 0, 0},
			{1, 1, 200, 1, 100, 3},
			{2, 1.5, 250, 1, 100, 0},
			{3, 3, 400, 1, 100, 0},
			{4, 3, 400, 1, 0, 0},     // no news: it is idle
			{60, 3, 400, 1, 0, 0},    // for long
			{61, 60, 450, 1, 100, 0}, // what has come was in the last half second
			{62, 61.5, 7, 0, 0, 0},   // started anew
			{63, 62.5, 17, 0, 10, 0},
		}},
		{"polled", inspection.Foreign, []step{
			{0, 0, 100, 0, 0, 0},
			{1, 0, 100, 0, 0, 0},
			{2, 0, 100, 0, 0, 0},
			{5, 4, 500, 4, 100, 3},
			{6, 4, 500, 4, 100, 3}, // the next ones are still to come
			{9, 8, 900, 4, 100, 0},
			{15, 8, 900, 4, 0, 0},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s sampler
			for _, step := range test.steps {
				s.take(counters(after(step.at), after(step.came), test.of, step.requests, step.failed))
				got := s.samples[len(s.samples)-1]
				if got.Requests != step.want || got.Failed != step.bad || got.InFlight != 3 {
					t.Errorf("after %v s %+v, want %v and %v", step.at, got, step.want, step.bad)
				}
			}
		})
	}
}

// Samples that were handed out never change, and there are at most ten minutes of them.
func TestSeries(t *testing.T) {
	var s sampler
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var handed [][]Sample
	for i := range 3000 {
		at := begun.Add(time.Duration(i) * time.Second)
		s.take(counters(at, at, inspection.Kapi, int64(i), 0))
		handed = append(handed, s.series())
	}
	for i, series := range handed {
		if want := min(i+1, samplesKept); len(series) != want {
			t.Fatalf("%d samples after %d seconds", len(series), i)
		}
		if last := series[len(series)-1].At; !last.Equal(begun.Add(time.Duration(i) * time.Second)) {
			t.Fatalf("the last of %d is of %s", i, last)
		}
	}
	if s.take(Frame{State: Stale}); len(s.samples) == 0 || s.samples[len(s.samples)-1].At.IsZero() {
		t.Error("a sample of a server that is away")
	}
}

func TestP99(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var s sampler
	traces := []*v1alpha1.RequestTrace{trace(0, begun.Add(-2*time.Minute), time.Hour)} // it ends now
	traces[0].Spec.LongRunning = true
	for i := range 200 {
		traces = append(traces, trace(i+1, begun.Add(-30*time.Second), time.Duration(i+1)*time.Millisecond))
	}
	frame := func(after time.Duration) Frame {
		return Frame{Now: begun.Add(after), State: Live}.With(View{Key: filtersKey, State: Live}).With(View{Key: tracesKey, Objects: objectsOf(traces...), Revision: uint64(len(traces))})
	}
	for _, step := range []struct {
		after time.Duration
		want  time.Duration
	}{
		{0, 198 * time.Millisecond},
		{29 * time.Second, 198 * time.Millisecond},
		{30*time.Second + 100*time.Millisecond, 199 * time.Millisecond}, // 100 have left
		{31 * time.Second, 0},
	} {
		s.take(frame(step.after))
		if got := s.samples[len(s.samples)-1].P99; got != step.want {
			t.Errorf("after %s it is %s, want %s", step.after, got, step.want)
		}
	}
}

// Frames of the past have what there was then, and are marked against those before.
func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		hub := NewHub(HubOptions{Source: server, Base: []Key{checksKey, tracesKey, filtersKey, Logs}, History: time.Minute})
		defer hub.Close()
		if got := hub.At(time.Now()); got.Past {
			t.Error("a past before anything has come")
		}
		begun := time.Now()
		go func() {
			for i := range 180 {
				server.send(checksKey, watch.Added, check(time.Duration(i).String()))
				server.send(tracesKey, watch.Added, trace(i, time.Now(), time.Millisecond))
				time.Sleep(time.Second)
			}
		}()
		for time.Since(begun) < 3*time.Minute {
			if _, ok := hub.Next(t.Context()); !ok {
				t.Fatal("no frame")
			}
		}
		times := hub.Times()
		if len(times) < 12 || len(times) > 13 || !slices.IsSortedFunc(times, time.Time.Compare) {
			t.Fatalf("%d times: %v", len(times), times)
		}
		for i, at := range times {
			frame := hub.At(at.Add(time.Second)) // between two
			if !frame.Past || !frame.Now.Equal(at) {
				t.Errorf("at %s it shows %s", at, frame.Now)
			}
			n := len(frame.View(checksKey).Objects)
			if want := int(at.Sub(begun).Seconds()); n < want || n > want+1 {
				t.Errorf("%d objects after %s", n, at.Sub(begun))
			}
			traces := Objects[*v1alpha1.RequestTrace](frame, tracesKey)
			if last := traces[len(traces)-1]; len(traces) < n-1 || last.Status.ReceivedAt.After(at) {
				t.Errorf("%d requests until %s at %s", len(traces), last.Status.ReceivedAt, at)
			}
			if frame.View(tracesKey).Revision == hub.Frame().View(tracesKey).Revision {
				t.Error("requests of the past and of now have one revision")
			}
			if samples := frame.Series; len(samples) == 0 || samples[len(samples)-1].At.After(at) {
				t.Errorf("samples until %v at %s", samples, at)
			}
			if (frame.Against == nil) != (i == 0) || frame.Against != nil && (!frame.Against.Now.Equal(times[i-1]) || frame.Before == nil) {
				t.Errorf("against %+v", frame.Against)
			}
		}
		if first := hub.At(begun.Add(-time.Hour)); !first.Now.Equal(times[0]) {
			t.Errorf("before everything it shows %s", first.Now)
		}
		if last := hub.At(time.Now().Add(time.Hour)); !last.Now.Equal(times[len(times)-1]) {
			t.Errorf("in the future it shows %s", last.Now)
		}
	})
}
