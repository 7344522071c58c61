package store

import (
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// WatchOptions say what a watch wants.
type WatchOptions struct {
	// From is the revision to resume after; 0 begins with all objects as they are now.
	From uint64
	// Initial asks for all objects as they are now, whatever From is.
	Initial bool
	// Match chooses the objects; nil takes all.
	Match func(Object) bool
	// Limit chooses among events when there are too many; nil delivers all. It is
	// asked for each event that matches, in order, while the table is locked.
	Limit func() bool
}

// feed is the part that both kinds of tables have: a ring of events and the
// watchers. The table's lock guards it.
type feed struct {
	revision *Revision
	// ring holds the last events, the oldest at next once it is full.
	ring []Event
	next int
	// floor is the revision of the newest event that has been forgotten.
	floor    uint64
	buffer   int
	watchers map[*Watcher]struct{}
}

func newFeed(revision *Revision, history, buffer int) feed {
	return feed{
		revision: revision, floor: revision.Current(), buffer: buffer,
		ring: make([]Event, 0, history), watchers: map[*Watcher]struct{}{},
	}
}

func (f *feed) publish(event Event) {
	switch {
	case cap(f.ring) == 0:
		f.floor = event.Revision
	case len(f.ring) < cap(f.ring):
		f.ring = append(f.ring, event)
	default:
		f.floor = f.ring[f.next].Revision
		f.ring[f.next] = event
		f.next = (f.next + 1) % len(f.ring)
	}
	for w := range f.watchers {
		w.offer(event)
	}
}

// since calls each with the events after a revision, oldest first.
func (f *feed) since(revision uint64, each func(Event)) {
	for i := range f.ring {
		if event := f.ring[(f.next+i)%len(f.ring)]; event.Revision > revision {
			each(event)
		}
	}
}

// subscribe adds a watcher that begins with the objects of now, or after a
// revision. What it begins with does not count for its buffer.
func (f *feed) subscribe(lock *sync.Mutex, options WatchOptions, now []Object) (*Watcher, error) {
	w := &Watcher{feed: f, lock: lock, options: options, limit: f.buffer, wake: make(chan struct{}, 1)}
	current := f.revision.Current()
	switch {
	case options.Initial || options.From == 0:
		for _, object := range now {
			w.take(Event{Type: watch.Added, Object: object, Revision: current})
		}
	case options.From < f.floor || options.From > current:
		return nil, ErrGone
	default:
		f.since(options.From, w.take)
	}
	w.limit += len(w.queue)
	w.start = current
	f.watchers[w] = struct{}{}
	return w, nil
}

// Watcher receives the events of one watch.
type Watcher struct {
	feed    *feed
	lock    *sync.Mutex // the table's, which guards all that follows
	options WatchOptions
	start   uint64
	queue   []Event
	limit   int
	leftOut int64
	stopped bool
	dropped bool
	wake    chan struct{}
}

// Start is the revision at which the watch began: all that it begins with is as
// of then.
func (w *Watcher) Start() uint64 { return w.start }

// offer queues an event, or drops a watcher that has not kept up.
func (w *Watcher) offer(event Event) {
	w.take(event)
	if len(w.queue) > w.limit {
		w.dropped = true
		w.end()
	}
	w.signal()
}

// take queues an event if it matches, as what it is to somebody who sees only
// matching objects.
func (w *Watcher) take(event Event) {
	match := w.options.Match
	now := event.Type != watch.Deleted && (match == nil || match(event.Object))
	before := event.Previous != nil && (match == nil || match(event.Previous))
	switch {
	case now && before:
		event.Type = watch.Modified
	case now:
		event.Type = watch.Added
	case before:
		event.Type = watch.Deleted
	default:
		return
	}
	if w.options.Limit != nil && !w.options.Limit() {
		w.leftOut++
		return
	}
	w.queue = append(w.queue, event)
}

func (w *Watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// end takes the watcher out; it may be called more than once.
func (w *Watcher) end() {
	w.stopped, w.queue = true, nil
	delete(w.feed.watchers, w)
	w.signal()
}

// Wake is signalled when Next may have something new to say.
func (w *Watcher) Wake() <-chan struct{} { return w.wake }

// Batch is what has happened since Next was last called.
type Batch struct {
	Events []Event
	// Revision is the revision up to which nothing is missing, but for what was left out.
	Revision uint64
	// LeftOut counts all events that Limit has refused so far.
	LeftOut int64
	// Ended says that there will be no more events: Stop was called, or the
	// watcher was dropped since too many were waiting.
	Ended, Dropped bool
}

// Next takes all events that wait.
func (w *Watcher) Next() Batch {
	w.lock.Lock()
	defer w.lock.Unlock()
	batch := Batch{
		Events: w.queue, Revision: w.feed.revision.Current(), LeftOut: w.leftOut,
		Ended: w.stopped, Dropped: w.dropped,
	}
	w.queue, w.limit = nil, w.feed.buffer
	return batch
}

// Stop ends the watch.
func (w *Watcher) Stop() {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.end()
}

// Dropped says whether the watcher was dropped since too many events waited.
func (w *Watcher) Dropped() bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.dropped
}
