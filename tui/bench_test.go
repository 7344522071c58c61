package tui

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
)

// crowd is a frame with many definitions.
func crowd(t testing.TB, count int) data.Frame {
	t.Helper()
	frame := troubledFrame(t)
	view := frame.View(data.Definitions)
	model := view.Objects[len(view.Objects)-1].(*apiextensionsv1.CustomResourceDefinition)
	view.Objects = make([]kinds.Object, count)
	for i := range view.Objects {
		each := *model // what is below is shared: nobody changes it
		each.Name, each.UID = fmt.Sprintf("things%05d.g%02d.example", i, i%97), ""
		view.Objects[i] = &each
	}
	view.Revision++
	frame = frame.With(view)
	frame.Revision++
	return frame
}

// A frame of 10,000 definitions comes, and is drawn.
func BenchmarkUpdateOf10000Rows(b *testing.B) {
	r := stage(b, scene{at: "crds"})
	r.checks = false
	r.resize(120, 40)
	frames := []data.Frame{crowd(b, 10_000), crowd(b, 10_000)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.frame(frames[i%2])
		_ = r.app.View()
	}
}

// One key among 10,000 rows: what a person who scrolls feels.
func BenchmarkScrollIn10000Rows(b *testing.B) {
	r := stage(b, scene{at: "crds"})
	r.checks = false
	r.resize(120, 40)
	r.frame(crowd(b, 10_000))
	keys := []string{"j", "j", "j", "k"}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.press(keys[i%len(keys)])
		_ = r.app.View()
	}
}

// A rune of a filter over 10,000 rows.
func BenchmarkFilterOf10000Rows(b *testing.B) {
	r := stage(b, scene{at: "crds"})
	r.checks = false
	r.resize(120, 40)
	r.frame(crowd(b, 10_000))
	r.press("/")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.press([]string{"7", "backspace"}[i%2])
		_ = r.app.View()
	}
}

// The screen of each page at 80x24, drawn anew.
func BenchmarkView(b *testing.B) {
	for _, at := range []string{"dashboard", "chain", "requests", "hooks", "etcd", "apiservices"} {
		b.Run(at, func(b *testing.B) {
			r := stage(b, scene{at: at})
			r.checks = false
			b.ReportAllocs()
			for b.Loop() {
				r.app.revision++
				_ = r.app.View()
			}
		})
	}
}

// The screen of an application to which nothing happens, as it is asked for after
// every message and twenty times a second.
func BenchmarkIdle(b *testing.B) {
	r := stage(b, scene{at: "dashboard"})
	b.ReportAllocs()
	for b.Loop() {
		_ = r.app.View()
	}
}

// A screen that has not changed costs nothing.
func TestIdleAllocatesNothing(t *testing.T) {
	r := stage(t, scene{at: "dashboard"})
	_ = r.app.View()
	if allocs := testing.AllocsPerRun(100, func() { _ = r.app.View() }); allocs != 0 {
		t.Errorf("%v allocations for a screen that is there already", allocs)
	}
}

// A second of a server with 2,000 requests in it, through the feeds: the hub makes at
// most five frames of them, each of which is drawn.
func BenchmarkSecondOf2000Requests(b *testing.B) {
	source := &busy{quiet: newQuiet(inspection.About{Type: inspection.Kapi}), events: make(chan watch.Event, 2000)}
	hub := data.NewHub(data.HubOptions{Source: source})
	defer hub.Close()
	hub.Need(data.Of(v1alpha1.ResourceRequestTraces))
	r := stage(b, scene{at: "requests"})
	r.checks = false
	r.resize(120, 40)
	hub.Next(b.Context())
	var frame data.Frame
	frames, at := 0, time.Now()
	b.ReportAllocs()
	for b.Loop() {
		for i := range 2000 {
			trace := &v1alpha1.RequestTrace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%d-%d", frames, i), ResourceVersion: "1"}}
			trace.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("RequestTrace"))
			trace.Spec.Verb, trace.Spec.Path, trace.Status.Code = "get", "/api/v1/namespaces/default/pods", 200
			trace.Status.ReceivedAt = metav1.NewMicroTime(at.Add(time.Duration(i) * time.Millisecond / 2))
			source.events <- watch.Event{Type: watch.Added, Object: trace}
		}
		for len(source.events) > 0 {
			frame, _ = hub.Next(b.Context())
			frames++
			r.frame(frame)
			_ = r.app.View()
		}
	}
	b.ReportMetric(float64(frames)/float64(b.N), "frames/op")
}

// busy is a source with a stream of requests.
type busy struct {
	quiet
	events chan watch.Event
}

func (s *busy) List(ctx context.Context, key data.Key) (data.Listed, error) {
	if key != data.Of(v1alpha1.ResourceRequestTraces) {
		return s.quiet.List(ctx, key)
	}
	return data.Listed{ResourceVersion: "1"}, nil
}

func (s *busy) Watch(_ context.Context, key data.Key, _ string) (watch.Interface, error) {
	if key != data.Of(v1alpha1.ResourceRequestTraces) {
		return nil, fault.Usagef("nothing to watch")
	}
	return stream(s.events), nil
}

type stream chan watch.Event

func (s stream) ResultChan() <-chan watch.Event { return s }
func (s stream) Stop()                          {}
