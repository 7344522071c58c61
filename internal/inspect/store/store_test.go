package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// thing is an object with one field.
type thing struct {
	metav1.PartialObjectMetadata
}

func newThing(name, value string) Object {
	t := &thing{}
	t.Name, t.Labels = name, map[string]string{"value": value}
	return t
}

func value(o Object) string { return o.GetLabels()["value"] }

// source is what a snapshot collects.
type source struct {
	mu      sync.Mutex
	things  [][2]string
	err     error
	collect atomic.Int64
}

func (s *source) set(things ...[2]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.things = things
}

func (s *source) Collect(context.Context) ([]Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collect.Add(1)
	var all []Object
	for _, t := range s.things {
		all = append(all, newThing(t[0], t[1]))
	}
	return all, s.err
}

func newSnapshot(t *testing.T, s *source, history, buffer int) *Snapshot {
	t.Helper()
	table := NewSnapshot(SnapshotOptions{
		Revision: NewRevision(time.Now()), History: history, Buffer: buffer, Period: time.Millisecond,
	}, s.Collect)
	t.Cleanup(table.Close)
	return table
}

// next waits for the watch to say something.
func next(t *testing.T, w *Watcher) Batch {
	t.Helper()
	for {
		if batch := w.Next(); len(batch.Events) > 0 || batch.Ended {
			return batch
		}
		select {
		case <-w.Wake():
		case <-t.Context().Done():
			t.Fatal("nothing came")
		}
	}
}

func texts(events []Event) string {
	text := ""
	for _, e := range events {
		text += fmt.Sprintf("%s %s=%s; ", e.Type, e.Object.GetName(), value(e.Object))
	}
	return text
}

// collected reads a watch until it has said what is wanted.
func mustSee(t *testing.T, w *Watcher, want string) {
	t.Helper()
	got := ""
	for got != want {
		batch := next(t, w)
		got += texts(batch.Events)
		if batch.Ended || len(got) > len(want) {
			t.Fatalf("the watch said %q, want %q", got, want)
		}
	}
}

func TestSnapshotListAndWatch(t *testing.T) {
	s := &source{}
	s.set([2]string{"b", "1"}, [2]string{"a", "1"})
	table := newSnapshot(t, s, 10, 10)
	objects, revision, err := table.List(t.Context())
	if err != nil || len(objects) != 2 || objects[0].GetName() != "b" || objects[1].GetName() != "a" {
		t.Fatalf("list is %v, %v; want b and a, in the order in which they were collected", objects, err)
	}
	if objects[0].GetUID() == "" || objects[0].GetCreationTimestamp().Time.IsZero() {
		t.Error("an object has no UID, or no creation time")
	}
	w, err := table.Watch(t.Context(), WatchOptions{From: revision})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	s.set([2]string{"a", "2"}, [2]string{"c", "1"})
	table.Changed()
	mustSee(t, w, "MODIFIED a=2; ADDED c=1; DELETED b=1; ")
}

// What did not change keeps its resourceVersion, and nobody is told of it.
func TestSnapshotUnchanged(t *testing.T) {
	s := &source{}
	s.set([2]string{"a", "1"})
	table := newSnapshot(t, s, 10, 10)
	first, revision, err := table.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, again, err := table.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if first[0].GetResourceVersion() != second[0].GetResourceVersion() || revision != again {
		t.Error("an object that did not change has another resourceVersion")
	}
}

// A table that nobody watches costs nothing.
func TestSnapshotUnwatchedIsIdle(t *testing.T) {
	s := &source{}
	table := newSnapshot(t, s, 10, 10)
	w, err := table.Watch(t.Context(), WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for s.collect.Load() < 3 { // it is collected regularly while it is watched
		<-time.After(time.Millisecond)
	}
	w.Stop()
	table.Changed()
	table.running.Wait()
	idle := s.collect.Load()
	table.Changed()
	table.Changed()
	if got := s.collect.Load(); got != idle {
		t.Errorf("it was collected %d times while nobody watched", got-idle)
	}
	// And it begins again.
	w, err = table.Watch(t.Context(), WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	s.set([2]string{"a", "1"})
	mustSee(t, w, "ADDED a=1; ")
}

func TestWatchResumes(t *testing.T) {
	s := &source{}
	table := newSnapshot(t, s, 2, 10)
	revisions := []uint64{}
	for i := range 5 {
		s.set([2]string{"a", fmt.Sprint(i)})
		_, revision, err := table.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		revisions = append(revisions, revision)
	}
	w, err := table.Watch(t.Context(), WatchOptions{From: revisions[2]})
	if err != nil {
		t.Fatalf("resuming within the history: %v", err)
	}
	mustSee(t, w, "MODIFIED a=3; MODIFIED a=4; ")
	w.Stop()
	for name, from := range map[string]uint64{"too old": revisions[1], "of an earlier server": 17, "of the future": revisions[4] + 1} {
		if _, err := table.Watch(t.Context(), WatchOptions{From: from}); !errors.Is(err, ErrGone) {
			t.Errorf("resuming at a revision %s: error is %v, want ErrGone", name, err)
		}
	}
	w, err = table.Watch(t.Context(), WatchOptions{From: revisions[1], Initial: true})
	if err != nil {
		t.Fatalf("beginning with all objects: %v", err)
	}
	mustSee(t, w, "ADDED a=4; ")
	w.Stop()
}

// To somebody who sees only some objects, one that begins to match is new, and
// one that no longer does is gone.
func TestWatchSelects(t *testing.T) {
	s := &source{}
	s.set([2]string{"a", "no"})
	table := newSnapshot(t, s, 10, 100)
	w, err := table.Watch(t.Context(), WatchOptions{Match: func(o Object) bool { return value(o) != "no" }})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for _, step := range []struct{ value, want string }{
		{"1", "ADDED a=1; "}, {"2", "MODIFIED a=2; "}, {"no", "DELETED a=no; "}, {"3", "ADDED a=3; "},
	} {
		s.set([2]string{"a", step.value})
		table.Changed()
		mustSee(t, w, step.want)
	}
}

// A watcher that is too slow is dropped, and the others are not kept waiting.
func TestSlowWatcherIsDropped(t *testing.T) {
	log := NewLog(LogOptions{Revision: NewRevision(time.Now()), Capacity: 5, Buffer: 3})
	slow, err := log.Watch(t.Context(), WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	quick, err := log.Watch(t.Context(), WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer quick.Stop()
	for i := range 100 {
		log.Append(entry(fmt.Sprint(i)))
		if batch := quick.Next(); len(batch.Events) != 1 {
			t.Fatalf("the quick watcher has got %q", texts(batch.Events))
		}
	}
	if batch := slow.Next(); !batch.Ended || !batch.Dropped || len(batch.Events) > 0 {
		t.Errorf("the slow watcher has %d events waiting, ended is %t", len(batch.Events), batch.Ended)
	}
	if len(log.feed.watchers) != 1 {
		t.Errorf("%d watchers are left, want 1", len(log.feed.watchers))
	}
}

type entry string

func (e entry) Name() string   { return string(e) }
func (e entry) Object() Object { return newThing(string(e), "") }

func TestLogKeepsTheLast(t *testing.T) {
	log := NewLog(LogOptions{Revision: NewRevision(time.Now()), Capacity: 3, Buffer: 10})
	before := log.feed.revision.Current()
	for i := range 5 {
		log.Append(entry(fmt.Sprint(i)))
	}
	objects, revision, err := log.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, o := range objects {
		text += o.GetName() + " "
	}
	if text != "2 3 4 " || revision != before+5 {
		t.Errorf("the log is %q at %d, want 2 3 4 at %d", text, revision, before+5)
	}
	if one, err := log.Get(t.Context(), "3"); err != nil || one == nil || one.GetResourceVersion() != Format(before+4) {
		t.Errorf("entry 3 is %v, %v", one, err)
	}
	if one, err := log.Get(t.Context(), "1"); err != nil || one != nil {
		t.Errorf("entry 1 is still there: %v, %v", one, err)
	}
	w, err := log.Watch(t.Context(), WatchOptions{From: before + 3})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	mustSee(t, w, "ADDED 3=; ADDED 4=; ")
	if _, err := log.Watch(t.Context(), WatchOptions{From: before + 1}); !errors.Is(err, ErrGone) {
		t.Errorf("resuming at what has fallen out: error is %v, want ErrGone", err)
	}
}

// A limit leaves events out and says how many; what the watch begins with is whole.
func TestLimit(t *testing.T) {
	log := NewLog(LogOptions{Revision: NewRevision(time.Now()), Capacity: 10, Buffer: 100})
	log.Append(entry("a"))
	log.Append(entry("b"))
	n := 0
	w, err := log.Watch(t.Context(), WatchOptions{Limit: func() bool { n++; return n%2 == 0 }})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for i := range 4 {
		log.Append(entry(fmt.Sprint(i)))
	}
	batch := w.Next()
	if got := texts(batch.Events); got != "ADDED a=; ADDED b=; ADDED 1=; ADDED 3=; " || batch.LeftOut != 2 {
		t.Errorf("the watch said %q and left out %d", got, batch.LeftOut)
	}
}

// Many write, many watch, some come and go: nobody who keeps up misses anything.
func TestLogConcurrently(t *testing.T) {
	const writers, each = 8, 500
	log := NewLog(LogOptions{Revision: NewRevision(time.Now()), Capacity: 100, Buffer: writers * each})
	var watchers, all sync.WaitGroup
	for range 4 {
		w, err := log.Watch(t.Context(), WatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		watchers.Go(func() {
			defer w.Stop()
			var last uint64
			for seen := 0; seen < writers*each; {
				batch := next(t, w)
				if batch.Ended {
					t.Error("a watcher was dropped")
					return
				}
				for _, e := range batch.Events {
					if e.Type != watch.Added || e.Revision <= last {
						t.Errorf("event %s at %d after %d", e.Type, e.Revision, last)
					}
					last = e.Revision
				}
				seen += len(batch.Events)
			}
		})
	}
	for i := range writers {
		all.Go(func() {
			for j := range each {
				log.Append(entry(fmt.Sprintf("%d-%d", i, j)))
				if _, _, err := log.List(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	watchers.Wait()
}

func TestCloseEndsWatches(t *testing.T) {
	table := newSnapshot(t, &source{}, 1, 1)
	w, err := table.Watch(t.Context(), WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	table.Close()
	if batch := next(t, w); !batch.Ended || batch.Dropped {
		t.Errorf("the watch goes on: %+v", batch)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]uint64{"": 0, "0": 0, "17": 17} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) is %d, %v", text, got, err)
		}
	}
	if _, err := Parse("many"); err == nil {
		t.Error("a resourceVersion that is no number was taken")
	}
}

// TestSnapshotRests: what costs much is collected seldom, and yet not too seldom.
func TestSnapshotRests(t *testing.T) {
	s := NewSnapshot(SnapshotOptions{Revision: &Revision{}, Period: 500 * time.Millisecond}, nil)
	for took, want := range map[time.Duration]time.Duration{
		0: 500 * time.Millisecond, 5 * time.Millisecond: 500 * time.Millisecond,
		40 * time.Millisecond: 4 * time.Second, time.Minute: longestRest,
	} {
		if got := s.rest(took); got != want {
			t.Errorf("after %s it rests for %s, want %s", took, got, want)
		}
	}
}
