package data

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// retained are all objects that a hub holds on to.
func retained(h *Hub) (traces, all int) {
	h.lock.Lock()
	defer h.lock.Unlock()
	seen := map[kinds.Object]bool{}
	look := func(frame *Frame) {
		if frame == nil {
			return
		}
		for _, view := range frame.views {
			for _, object := range view.Objects {
				seen[object] = true
			}
		}
	}
	look(&h.frames.last)
	look(h.frames.last.Before)
	for _, frame := range h.frames.recent.frames {
		look(frame)
	}
	for i := range h.frames.history.frames {
		look(&h.frames.history.frames[i])
		look(h.frames.history.frames[i].Before)
	}
	for _, f := range h.feeds {
		for _, object := range f.store.objects {
			seen[object] = true
		}
		for _, object := range f.store.pending {
			seen[object] = true
		}
	}
	for object := range seen {
		if _, ok := object.(*v1alpha1.RequestTrace); ok {
			traces++
		}
	}
	return traces, len(seen)
}

// After an hour of 500 requests a second no more is kept than is shown. While nobody
// looks, it is no more either.
func TestMemoryIsBounded(t *testing.T) {
	for name, test := range map[string]struct {
		looking bool
		seconds int
	}{
		"looking":     {true, 3600},
		"not looking": {false, 60},
	} {
		t.Run(name, func(t *testing.T) {
			if test.seconds == 3600 && testing.Short() {
				t.Skip("it plays an hour")
			}
			synctest.Test(t, func(t *testing.T) {
				server := newFake()
				// Fewer frames than usual, so that an hour is a matter of seconds.
				hub := NewHub(HubOptions{Source: server, Base: []Key{tracesKey, filtersKey}, Interval: 2 * time.Second})
				defer hub.Close()
				synctest.Wait()
				if test.looking {
					go func() {
						for ok := true; ok; {
							_, ok = hub.Next(t.Context())
						}
					}()
				}
				hub.lock.Lock()
				traces := hub.feeds[tracesKey]
				hub.lock.Unlock()
				n := 0
				for range test.seconds {
					for range 500 {
						n++
						one := &v1alpha1.RequestTrace{}
						one.Name, one.Status.ReceivedAt.Time = strconv.Itoa(n), time.Now()
						if _, err := traces.event(t.Context(), watch.Event{Type: watch.Added, Object: one}); err != nil {
							t.Fatal(err)
						}
					}
					server.send(filtersKey, watch.Modified, filter("outer", 0, int64(n)))
					time.Sleep(time.Second)
				}
				synctest.Wait()
				kept, all := retained(hub)
				t.Logf("%d requests and %d others are kept of %d", kept, all-kept, n)
				if kept > 2*TracesKept || all-kept > 200 {
					t.Errorf("%d requests and %d others are kept", kept, all-kept)
				}
				if got := hub.Frame().View(tracesKey).Objects; len(got) != TracesKept || got[len(got)-1].GetName() != strconv.Itoa(n) {
					t.Errorf("%d requests, and not the last ones", len(got))
				}
				hub.Close()
			})
		})
	}
}
