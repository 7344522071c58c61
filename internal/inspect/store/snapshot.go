package store

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/watch"
)

// Collect returns all objects of a table as they are now, in the order in which
// they are listed. Names must be unique; resourceVersion is the table's to set,
// and creationTimestamp is set to when a name was first seen unless it is given.
// It must be quick, and must not change what it has returned before.
type Collect func(ctx context.Context) ([]Object, error)

// SnapshotOptions are the sizes and times of a Snapshot.
type SnapshotOptions struct {
	Revision *Revision
	// History is how many events are remembered for watches that resume.
	History int
	// Buffer is how many events a watcher may be behind before it is dropped.
	Buffer int
	// Period is how often the table is collected while somebody watches.
	Period time.Duration
}

// Snapshot is a table of what a function collects: when it is read, and
// regularly while it is watched.
type Snapshot struct {
	collect Collect
	period  time.Duration
	poke    chan struct{}

	// collecting makes collections come one after the other.
	collecting sync.Mutex

	lock    sync.Mutex
	feed    feed
	objects map[string]Object
	order   []string
	// watching ends the regular collection; nil while nobody watches.
	watching context.CancelFunc
	running  sync.WaitGroup
}

// NewSnapshot returns an empty table.
func NewSnapshot(options SnapshotOptions, collect Collect) *Snapshot {
	return &Snapshot{
		collect: collect, period: options.Period, poke: make(chan struct{}, 1),
		feed: newFeed(options.Revision, options.History, options.Buffer), objects: map[string]Object{},
	}
}

// Changed says that a state has changed which watchers should see at once. It
// does nothing while nobody watches, and never blocks.
func (s *Snapshot) Changed() {
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

// List returns all objects, and the revision that they are of.
func (s *Snapshot) List(ctx context.Context) ([]Object, uint64, error) {
	if err := s.refresh(ctx); err != nil {
		return nil, 0, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.all(), s.feed.revision.Current(), nil
}

// Get returns one object, or nil if there is none of that name.
func (s *Snapshot) Get(ctx context.Context, name string) (Object, error) {
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.objects[name], nil
}

// Watch begins a watch, which must be stopped. It returns ErrGone if it can't
// begin where it is asked to.
func (s *Snapshot) Watch(ctx context.Context, options WatchOptions) (*Watcher, error) {
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	w, err := s.feed.subscribe(&s.lock, options, s.all())
	if err == nil && s.watching == nil {
		ctx, cancel := context.WithCancel(context.Background())
		s.watching = cancel
		s.running.Go(func() { s.keepCollecting(ctx) })
	}
	return w, err
}

// Close ends all watches and waits for the regular collection to end.
func (s *Snapshot) Close() {
	s.lock.Lock()
	for w := range s.feed.watchers {
		w.end()
	}
	if s.watching != nil {
		s.watching()
	}
	s.lock.Unlock()
	s.running.Wait()
}

// A watched table takes a small share of one core at most: after a collection it
// rests for restShare times as long as that took, but not longer than longestRest.
// A server with a thousand resources is not slowed down by somebody who looks at it.
const (
	restShare   = 100
	longestRest = 10 * time.Second
)

// rest is how long a table waits after a collection that took this long.
func (s *Snapshot) rest(took time.Duration) time.Duration {
	return max(s.period, min(restShare*took, longestRest))
}

// keepCollecting runs as long as there are watchers.
func (s *Snapshot) keepCollecting(ctx context.Context) {
	timer := time.NewTimer(s.period)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.poke:
		case <-timer.C:
		}
		if s.unwatched() {
			return
		}
		began := time.Now()
		_ = s.refresh(ctx) // the next reader is told of an error
		timer.Reset(s.rest(time.Since(began)))
	}
}

// unwatched says that nobody watches any more, and that collecting may end.
func (s *Snapshot) unwatched() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.feed.watchers) > 0 {
		return false
	}
	s.watching()
	s.watching = nil
	return true
}

func (s *Snapshot) all() []Object {
	all := make([]Object, 0, len(s.order))
	for _, name := range s.order {
		all = append(all, s.objects[name])
	}
	return all
}

// refresh collects, and publishes what has changed.
func (s *Snapshot) refresh(ctx context.Context) error {
	s.collecting.Lock()
	defer s.collecting.Unlock()
	collected, err := s.collect(ctx)
	if err != nil {
		return err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	names := make(map[string]bool, len(collected))
	s.order = s.order[:0]
	for _, object := range collected {
		name := object.GetName()
		names[name] = true
		s.order = append(s.order, name)
		s.put(name, object)
	}
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		if !names[name] {
			s.remove(name)
		}
	}
	return nil
}

func (s *Snapshot) put(name string, object Object) {
	before := s.objects[name]
	if before != nil {
		object.SetUID(before.GetUID())
		object.SetCreationTimestamp(before.GetCreationTimestamp())
		object.SetResourceVersion(before.GetResourceVersion())
		if equality.Semantic.DeepEqual(before, object) {
			return
		}
	} else {
		if stamp := object.GetCreationTimestamp(); stamp.IsZero() {
			object.SetCreationTimestamp(metav1.Now().Rfc3339Copy())
		}
		if object.GetUID() == "" {
			object.SetUID(uuid.NewUUID())
		}
	}
	revision := s.feed.revision.next()
	object.SetResourceVersion(Format(revision))
	s.objects[name] = object
	kind := watch.Added
	if before != nil {
		kind = watch.Modified
	}
	s.feed.publish(Event{Type: kind, Object: object, Previous: before, Revision: revision})
}

func (s *Snapshot) remove(name string) {
	before := s.objects[name]
	delete(s.objects, name)
	revision := s.feed.revision.next()
	last := Copy(before)
	last.SetResourceVersion(Format(revision))
	s.feed.publish(Event{Type: watch.Deleted, Object: last, Previous: before, Revision: revision})
}
