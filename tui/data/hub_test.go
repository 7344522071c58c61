package data

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

// A feed is watched, and a change is another frame; the one before stays as it was.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		server.send(checksKey, watch.Added, check("etcd"))
		server.send(checksKey, watch.Added, check("ping"))
		hub := NewHub(HubOptions{Source: server})
		defer hub.Close()
		if view := hub.Frame().View(checksKey); view.State != Loading || view.Key != checksKey {
			t.Errorf("got %+v, want Loading", view)
		}
		hub.Need(checksKey)
		first := until(t, hub, "it is live", func(f Frame) bool { return f.View(checksKey).State == Live })
		if got := names(first.View(checksKey)); !slices.Equal(got, []string{"etcd", "ping"}) {
			t.Errorf("got %q", got)
		}
		if first.State != Live || first.Err != nil {
			t.Errorf("the connection is %v (%v), want Live", first.State, first.Err)
		}
		server.send(checksKey, watch.Added, check("log"))
		server.send(checksKey, watch.Deleted, check("ping"))
		second := until(t, hub, "it has changed", func(f Frame) bool {
			return f.View(checksKey).Revision != first.View(checksKey).Revision
		})
		if got := names(second.View(checksKey)); !slices.Equal(got, []string{"etcd", "log"}) {
			t.Errorf("got %q: what is new belongs where its name is", got)
		}
		if got := names(first.View(checksKey)); !slices.Equal(got, []string{"etcd", "ping"}) {
			t.Errorf("the frame before has become %q", got)
		}
		if second.About.Type != inspection.Kapi {
			t.Errorf("about %+v", second.About)
		}
	})
}

// Objects stay while the server is away, and what has changed is seen afterwards.
func TestConnectionLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		server.send(checksKey, watch.Added, check("etcd"))
		hub := NewHub(HubOptions{Source: server, Base: []Key{checksKey}, Explain: func(err error) error { return fault.WithHint(err, "start it") }})
		defer hub.Close()
		until(t, hub, "it is live", func(f Frame) bool { return f.View(checksKey).State == Live && f.State == Live })
		server.fail(errRefused)
		away := until(t, hub, "it is stale", func(f Frame) bool { return f.State == Stale && f.View(checksKey).State == Stale })
		view := away.View(checksKey)
		if view.State != Stale || !slices.Equal(names(view), []string{"etcd"}) || fault.Hint(view.Err) != "start it" {
			t.Errorf("got %+v, want what was there, stale and explained", view)
		}
		if fault.Hint(away.Err) != "start it" || !away.Retry.After(away.Now) {
			t.Errorf("error %v, retry %s at %s", away.Err, away.Retry, away.Now)
		}
		time.Sleep(10 * time.Minute)
		server.lock.Lock()
		tries := server.tries
		server.lock.Unlock()
		if last := tries[len(tries)-1]; time.Since(last) > 7*time.Second {
			t.Errorf("the last try was %s ago: it must go on for ever", time.Since(last))
		}
		if len(tries) > 160 {
			t.Errorf("%d tries in ten minutes", len(tries))
		}
		server.fail(nil)
		server.send(checksKey, watch.Deleted, check("etcd"))
		server.send(checksKey, watch.Added, check("ping"))
		back := until(t, hub, "it is back", func(f Frame) bool { return f.State == Live && f.View(checksKey).State == Live })
		if view := back.View(checksKey); !slices.Equal(names(view), []string{"ping"}) || view.Err != nil {
			t.Errorf("got %q, %v", names(view), view.Err)
		}
		if back.Err != nil || !back.Retry.IsZero() {
			t.Errorf("error %v, retry %s", back.Err, back.Retry)
		}
	})
}

// Refresh does not wait for the back-off.
func TestRefreshReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		server.fail(errRefused)
		hub := NewHub(HubOptions{Source: server, Base: []Key{checksKey}})
		defer hub.Close()
		time.Sleep(time.Minute)
		server.fail(nil)
		synctest.Wait()
		hub.Refresh()
		synctest.Wait()
		if view := hub.Frame().View(checksKey); view.State != Live {
			t.Errorf("it is %v: no time has passed, and it should be back", view.State)
		}
		lists := server.listed(checksKey)
		hub.Refresh()
		synctest.Wait()
		if got := server.listed(checksKey); got != lists+1 {
			t.Errorf("listed %d times more, want once", got-lists)
		}
	})
}

func TestStates(t *testing.T) {
	tests := []struct {
		name  string
		key   Key
		err   error
		state State
		// whole is the state of the connection, again when it is tried once more; 0 is
		// with a back-off, less never.
		whole State
		again time.Duration
	}{
		{"forbidden", checksKey, errForbidden, Forbidden, Live, 30 * time.Second},
		{"no such resource", checksKey, apierrors.NewNotFound(healthResource, ""), Absent, Live, 30 * time.Second},
		{"no such object", Key{Resource: podsKey.Resource, Namespace: "default", Name: "a"}, apierrors.NewNotFound(healthResource, "a"), Absent, Live, 5 * time.Second},
		{"bad input", checksKey, fault.Usagef("x.json has no healthchecks"), Absent, Live, -1},
		{"internal error", checksKey, apierrors.NewInternalError(errors.New("no")), Failed, Live, 0},
		{"unavailable", checksKey, apierrors.NewServiceUnavailable("starting"), Failed, Live, 0},
		{"refused", checksKey, errRefused, Stale, Stale, 0},
		{"timeout", checksKey, context.DeadlineExceeded, Stale, Stale, 0},
		{"unauthorized", checksKey, apierrors.NewUnauthorized("no"), Failed, Failed, 0},
		{"certificate", checksKey, fmt.Errorf("asking: %w", x509.UnknownAuthorityError{}), Failed, Failed, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFake()
				server.set(test.key, test.err)
				hub := NewHub(HubOptions{Source: server})
				defer hub.Close()
				synctest.Wait() // it knows what the server is
				hub.Need(test.key)
				synctest.Wait()
				frame := hub.Frame()
				view := frame.View(test.key)
				if view.State != test.state || !errors.Is(view.Err, test.err) {
					t.Errorf("got %v (%v), want %v", view.State, view.Err, test.state)
				}
				if frame.State != test.whole || (frame.Err != nil) != (test.whole != Live) {
					t.Errorf("the connection is %v (%v), want %v", frame.State, frame.Err, test.whole)
				}
				time.Sleep(25*time.Minute + time.Second)
				got := server.listed(test.key)
				switch {
				case test.again < 0 && got != 1, test.again == 0 && got < 200, test.again > 0 && got != 1+int(25*time.Minute/test.again):
					t.Errorf("listed %d times", got)
				}
				server.set(test.key, nil)
				hub.Refresh()
				synctest.Wait()
				if frame := hub.Frame(); frame.View(test.key).State != Live || frame.State != Live {
					t.Errorf("after a refresh it is %v, the connection %v", frame.View(test.key).State, frame.State)
				}
			})
		})
	}
}

// What can't be watched is listed again and again, without news where there are none.
func TestPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		server.watchErr = apierrors.NewMethodNotSupported(healthResource, "watch")
		server.send(checksKey, watch.Added, check("etcd"))
		hub := NewHub(HubOptions{Source: server, Base: []Key{checksKey}})
		defer hub.Close()
		synctest.Wait()
		first := hub.Frame().View(checksKey)
		time.Sleep(time.Minute)
		if got := server.listed(checksKey); got < 29 || got > 31 {
			t.Errorf("listed %d times in a minute", got)
		}
		if view := hub.Frame().View(checksKey); view.Revision != first.Revision || view.State != Live {
			t.Errorf("got %v, revision %d, want %d", view.State, view.Revision, first.Revision)
		}
		server.send(checksKey, watch.Added, check("ping"))
		time.Sleep(3 * time.Second)
		if got := names(hub.Frame().View(checksKey)); !slices.Equal(got, []string{"etcd", "ping"}) {
			t.Errorf("got %q", got)
		}
	})
}

// What never changes is live, and is not asked for again.
func TestRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		server.about.RecordedFrom, server.about.At = "x.json", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		server.watchErr = fault.Usagef("there is nothing to watch")
		server.send(checksKey, watch.Added, check("etcd"))
		hub := NewHub(HubOptions{Source: server, Base: []Key{checksKey}})
		defer hub.Close()
		time.Sleep(time.Hour)
		frame := hub.Frame()
		if view := frame.View(checksKey); view.State != Live || view.Err != nil {
			t.Errorf("got %v, %v", view.State, view.Err)
		}
		if !frame.Now.Equal(server.about.At) {
			t.Errorf("it shows %s, want when it was recorded", frame.Now)
		}
		if got := server.listed(checksKey); got != 1 {
			t.Errorf("listed %d times", got)
		}
	})
}

// Feeds that nobody wants go on for a while, and are of then afterwards.
func TestLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		server.send(checksKey, watch.Added, check("etcd"))
		hub := NewHub(HubOptions{Source: server, Base: []Key{filtersKey}})
		defer hub.Close()
		hub.Need(checksKey)
		synctest.Wait()
		hub.Need()
		time.Sleep(29 * time.Second)
		if !server.watching(checksKey) {
			t.Error("it has stopped at once")
		}
		hub.Need(checksKey)
		time.Sleep(time.Minute)
		if !server.watching(checksKey) {
			t.Error("it has stopped, although it is wanted again")
		}
		hub.Need()
		left := time.Now()
		time.Sleep(31 * time.Second)
		if server.watching(checksKey) {
			t.Error("it goes on, although nobody wants it")
		}
		if !server.watching(filtersKey) {
			t.Error("what is always wanted has stopped")
		}
		time.Sleep(time.Hour)
		view := hub.Frame().View(checksKey)
		if view.State != Stale || view.At != left.Add(linger) || !slices.Equal(names(view), []string{"etcd"}) {
			t.Errorf("got %v of %s with %q", view.State, view.At, names(view))
		}
		hub.Need(checksKey)
		synctest.Wait()
		if view := hub.Frame().View(checksKey); view.State != Live {
			t.Errorf("got %v, want Live again", view.State)
		}
	})
}

// However much is opened one after the other, it is forgotten at some time.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := NewHub(HubOptions{Source: newFake()})
		defer hub.Close()
		for i := range 200 {
			hub.Need(Key{Resource: podsKey.Resource, Namespace: "default", Name: fmt.Sprint(i)})
			time.Sleep(time.Second)
		}
		hub.Need()
		time.Sleep(time.Minute)
		if got := len(hub.Frame().views); got != idleFeeds {
			t.Errorf("%d views are kept, want %d", got, idleFeeds)
		}
	})
}

// 2,000 changes a second make at most five frames, and the last has them all.
func TestCoalescing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		hub := NewHub(HubOptions{Source: server, Base: []Key{tracesKey, filtersKey}})
		defer hub.Close()
		synctest.Wait()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 10_000 {
				if i%2 == 0 {
					server.send(tracesKey, watch.Added, trace(i, time.Now(), time.Millisecond))
				} else {
					server.send(filtersKey, watch.Modified, filter("authorization", 0, int64(i)))
				}
				time.Sleep(time.Second / 2000)
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		got := 0
		for last := uint64(0); ; got++ {
			frame, ok := hub.Next(ctx)
			if !ok {
				break
			}
			if frame.Revision <= last {
				t.Errorf("frame %d follows %d", frame.Revision, last)
			}
			last = frame.Revision
		}
		if got < 20 || got > 26 {
			t.Errorf("%d frames in 5 s", got)
		}
		<-done
		time.Sleep(time.Second)
		frame, _ := hub.Next(t.Context())
		if one, ok := Find[kinds.Object](frame, filtersKey, "authorization"); !ok || one.GetResourceVersion() != "10001" {
			t.Errorf("got %+v, want the latest", one)
		}
		if got := len(frame.View(tracesKey).Objects); got != 5000 {
			t.Errorf("%d requests", got)
		}
	})
}

// An idle server makes no frames.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		server.send(filtersKey, watch.Added, filter("panic-recovery", 0, 10))
		hub := NewHub(HubOptions{Source: server, Base: []Key{filtersKey}})
		defer hub.Close()
		first := until(t, hub, "rates are known", func(f Frame) bool { return f.Before != nil })
		if rate, ok := first.PerSecond(func(Frame) (int64, bool) { return 10, true }); !ok || rate != 0 {
			t.Errorf("rate %v, %v", rate, ok)
		}
		settled, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for ok := true; ok; { // until all that rates are of is the same
			_, ok = hub.Next(settled)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if frame, ok := hub.Next(ctx); ok {
			t.Errorf("a frame although nothing has changed: %+v", frame)
		}
		server.send(filtersKey, watch.Modified, filter("panic-recovery", 0, 20))
		frame, ok := hub.Next(t.Context())
		if !ok || len(frame.Series) < 599 {
			t.Errorf("%d samples, want those of the idle time, too", len(frame.Series))
		}
	})
}

// Whoever stops waiting gets no frame, and misses none.
func TestNextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := NewHub(HubOptions{Source: newFake(), Base: []Key{checksKey}})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, ok := hub.Next(ctx); ok {
			t.Error("a frame for nobody")
		}
		if frame, ok := hub.Next(t.Context()); !ok || frame.Revision == 0 {
			t.Error("no frame afterwards")
		}
		ended := make(chan bool)
		go func() {
			for {
				if _, ok := hub.Next(t.Context()); !ok {
					ended <- true
					return
				}
			}
		}()
		time.Sleep(time.Minute)
		hub.Close()
		<-ended
		hub.Close()
		hub.Need(podsKey)
		hub.Refresh()
		synctest.Wait() // synctest fails if a goroutine is left
	})
}

// Close waits for what is under way, also while the server is away.
func TestCloseWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		server.fail(errRefused)
		hub := NewHub(HubOptions{Source: server, Base: []Key{checksKey, filtersKey, podsKey}})
		time.Sleep(time.Minute)
		hub.Need()
		hub.Close()
	})
}

// A connection that is refused is made anew: the address may be another one.
func TestRedial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone, next := newFake(), newFake()
		gone.fail(errRefused)
		next.send(checksKey, watch.Added, check("new"))
		calls := 0
		hub := NewHub(HubOptions{Source: gone, Base: []Key{checksKey, filtersKey}, Redial: func(context.Context) (Source, error) {
			if calls++; calls < 3 {
				return nil, errors.New("the kubeconfig is being written")
			}
			return next, nil
		}})
		defer hub.Close()
		frame := until(t, hub, "the other server is shown", func(f Frame) bool { return len(f.View(checksKey).Objects) == 1 && f.View(filtersKey).State == Live })
		if frame.State != Live {
			t.Errorf("the connection is %v", frame.State)
		}
		time.Sleep(time.Minute)
		if calls != 3 {
			t.Errorf("dialed %d times, want once it worked no more", calls)
		}
	})
}

// Partial answers are shown, with why they are.
func TestPartialList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := NewHub(HubOptions{Source: partial{newFake()}, Base: []Key{Definitions}})
		defer hub.Close()
		synctest.Wait()
		view := hub.Frame().View(Definitions)
		if view.State != Forbidden || !slices.Equal(names(view), []string{"a"}) {
			t.Errorf("got %v with %q", view.State, names(view))
		}
	})
}

type partial struct{ *fake }

func (partial) List(context.Context, Key) (Listed, error) {
	return Listed{Objects: []kinds.Object{check("a")}}, errForbidden
}

// Rows of another table than that of the columns make everything be read again.
func TestColumnsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		server.columns = []Column{{Name: "Name"}}
		server.send(podsKey, watch.Added, &Row{PartialObjectMetadata: *named("a"), Cells: []any{"a"}})
		hub := NewHub(HubOptions{Source: server, Base: []Key{podsKey}})
		defer hub.Close()
		synctest.Wait()
		server.lock.Lock()
		server.columns = []Column{{Name: "Name"}, {Name: "Age"}}
		server.lock.Unlock()
		server.send(podsKey, watch.Modified, &Row{PartialObjectMetadata: *named("a"), Cells: []any{"a", "1m"}})
		time.Sleep(time.Second)
		view := hub.Frame().View(podsKey)
		if len(view.Columns) != 2 || len(view.Objects) != 1 || len(view.Objects[0].(*Row).Cells) != 2 {
			t.Errorf("got %+v", view)
		}
	})
}

func named(name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
