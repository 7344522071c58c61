package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
)

func podKey(name string) string { return "/pods/ns/" + name }

func mustCreate(t testing.TB, s storage.Interface, name string, ttl uint64) *example.Pod {
	t.Helper()
	out := &example.Pod{}
	pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	if err := s.Create(t.Context(), podKey(name), pod, out, ttl); err != nil {
		t.Fatalf("creating %s: %v", name, err)
	}
	return out
}

func mustWatch(ctx context.Context, t testing.TB, s storage.Interface, rv string) watch.Interface {
	t.Helper()
	w, err := s.Watch(ctx, "/pods/", storage.ListOptions{ResourceVersion: rv, Recursive: true, Predicate: storage.Everything})
	if err != nil {
		t.Fatalf("watching from %q: %v", rv, err)
	}
	t.Cleanup(w.Stop)
	return w
}

// mustReceive returns the next event.
func mustReceive(t testing.TB, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case ev, ok := <-w.ResultChan():
		if !ok {
			t.Fatal("the watch has ended, want an event")
		}
		return ev
	case <-time.After(patience):
		t.Fatal("no event arrives")
	}
	panic("unreachable")
}

// TestManyWatchesEndTogether: watches that end under a stream of events must not
// stop those that stay, nor new ones.
func TestManyWatchesEndTogether(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{own: true})
	start := mustCreate(t, f, "first", 0).ResourceVersion
	stays := mustWatch(t.Context(), t, f, start)

	const watches, writes = 200, 100
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var started, wg sync.WaitGroup
	started.Add(watches)
	for range watches {
		wg.Go(func() {
			w, err := f.Watch(ctx, "/pods/", storage.ListOptions{ResourceVersion: start, Recursive: true, Predicate: storage.Everything})
			if err != nil {
				t.Error(err)
				started.Done()
				return
			}
			defer w.Stop()
			<-w.ResultChan()
			started.Done()
			<-ctx.Done()
		})
	}
	for i := range writes {
		mustCreate(t, f, fmt.Sprintf("pod-%d", i), 0)
		if i == writes/2 {
			started.Wait()
			cancel()
		}
	}
	wg.Wait()
	for i := range writes {
		if ev := mustReceive(t, stays); ev.Type != watch.Added || ev.Object.(*example.Pod).Name != fmt.Sprintf("pod-%d", i) {
			t.Fatalf("event %d is %v", i, ev)
		}
	}
	if ev := mustReceive(t, mustWatch(t.Context(), t, f, start)); ev.Type != watch.Added {
		t.Errorf("a new watch begins with %v", ev)
	}
}

// TestWatchOfOtherResourceIsNoBurden: a watch from now on waits for a revision
// that does not exist yet, and etcd notifies no watch of the same stream of any
// progress until it does. A cache that shares it could not answer by itself.
func TestWatchOfOtherResourceIsNoBurden(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{own: true, cached: true, prefix: "/registry"})
	other := newFixtureOn(t, f, setup{prefix: "/other"})
	latest := mustCreate(t, other, "other", 0).ResourceVersion
	w := mustWatch(t.Context(), t, other, latest)

	ctx := context.WithValue(t.Context(), storagetesting.RecorderContextKey, t.Name())
	list := &example.PodList{}
	if err := f.GetList(ctx, "/pods/", storage.ListOptions{Recursive: true, Predicate: storage.Everything}, list); err != nil {
		t.Fatal(err)
	}
	if list.ResourceVersion != latest {
		t.Errorf("a consistent list is of %s, want %s", list.ResourceVersion, latest)
	}
	if asked := f.lists.ListRequestForKey(t.Name()); len(asked) > 0 {
		t.Errorf("the cache could not answer, and asked etcd: %v", asked)
	}
	// The watch was there all the time.
	mustCreate(t, other, "later", 0)
	if ev := mustReceive(t, w); ev.Type != watch.Added {
		t.Errorf("the other watch got %v", ev)
	}
}

// TestStoresHaveStreamsOfTheirOwn: one for a cache, and one for each watch elsewhere.
func TestStoresHaveStreamsOfTheirOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{})
	cache := f.backend.streamPerStore().Watcher.(ownStreams)
	if a, b := cache.next(), cache.next(); a != b {
		t.Errorf("a cache has the streams %s and %s, want one for its watch and what it asks", a, b)
	}
	each := f.backend.streamPerWatch().Watcher.(ownStreams)
	if a, b := each.next(), each.next(); a == b || a == cache.next() {
		t.Errorf("two watches have the streams %s and %s, and a cache has %s; want three", a, b, cache.next())
	}
}

// podOf returns the object of an event, of a store or of a cache.
func podOf(t testing.TB, ev watch.Event) *example.Pod {
	t.Helper()
	obj := ev.Object
	if c, ok := obj.(runtime.CacheableObject); ok {
		obj = c.GetObject()
	}
	pod, ok := obj.(*example.Pod)
	if !ok {
		t.Fatalf("event with %T", ev.Object)
	}
	return pod
}

// isExpired tells whether an event says that the client must list again.
func isExpired(ev watch.Event) error {
	status, ok := ev.Object.(*metav1.Status)
	if ev.Type != watch.Error || !ok || status.Code != 410 || status.Reason != metav1.StatusReasonExpired || !strings.Contains(status.Message, "too old") {
		return errors.New("want an error event with status 410, reason Expired and a message with too old")
	}
	return nil
}
