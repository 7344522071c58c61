package store

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// Entry is something that happened, and can be made into an object when somebody
// wants to see it.
type Entry interface {
	// Name is the object's name; it must be unique among all that is kept.
	Name() string
	// Object makes the object. It may be called at any time, by several goroutines,
	// and must always give an equal, new one.
	Object() Object
}

// LogOptions are the sizes of a Log.
type LogOptions struct {
	Revision *Revision
	// Capacity is how many entries are kept.
	Capacity int
	// Buffer is how many events a watcher may be behind before it is dropped.
	Buffer int
}

// Log is a table of the entries that were appended last. An entry that falls out
// is not announced to watchers: a history forgets, nothing was deleted.
type Log struct {
	lock    sync.Mutex
	feed    feed
	entries []logged // a ring, the oldest at next once it is full
	next    int
	floor   uint64 // the revision of the newest entry that has fallen out
}

type logged struct {
	entry    Entry
	revision uint64
}

func (l logged) object() Object {
	object := l.entry.Object()
	object.SetResourceVersion(Format(l.revision))
	return object
}

// NewLog returns an empty log.
func NewLog(options LogOptions) *Log {
	return &Log{
		// The entries themselves are the history.
		feed: newFeed(options.Revision, 0, options.Buffer), floor: options.Revision.Current(),
		entries: make([]logged, 0, options.Capacity),
	}
}

// Append adds an entry. It is quick, and makes the object only if somebody watches.
func (l *Log) Append(entry Entry) {
	l.lock.Lock()
	defer l.lock.Unlock()
	added := logged{entry, l.feed.revision.next()}
	if len(l.entries) < cap(l.entries) {
		l.entries = append(l.entries, added)
	} else {
		l.floor = l.entries[l.next].revision
		l.entries[l.next] = added
		l.next = (l.next + 1) % len(l.entries)
	}
	if len(l.feed.watchers) > 0 {
		l.feed.publish(Event{Type: watch.Added, Object: added.object(), Revision: added.revision})
	}
}

// Len returns how many entries are kept.
func (l *Log) Len() int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return len(l.entries)
}

// List returns the objects of all entries, oldest first, and the revision that
// they are of.
func (l *Log) List(context.Context) ([]Object, uint64, error) {
	kept, revision := l.kept()
	objects := make([]Object, 0, len(kept))
	for _, one := range kept {
		objects = append(objects, one.object())
	}
	return objects, revision, nil
}

func (l *Log) kept() ([]logged, uint64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	kept := make([]logged, 0, len(l.entries))
	for i := range l.entries {
		kept = append(kept, l.entries[(l.next+i)%len(l.entries)])
	}
	return kept, l.feed.revision.Current()
}

// Get returns one object, or nil if no entry of that name is kept.
func (l *Log) Get(_ context.Context, name string) (Object, error) {
	kept, _ := l.kept()
	for _, one := range kept {
		if one.entry.Name() == name {
			return one.object(), nil
		}
	}
	return nil, nil
}

// Entries returns what is kept, oldest first.
func (l *Log) Entries() []Entry {
	kept, _ := l.kept()
	entries := make([]Entry, 0, len(kept))
	for _, one := range kept {
		entries = append(entries, one.entry)
	}
	return entries
}

// Watch begins a watch, which must be stopped. It returns ErrGone if it can't
// begin where it is asked to.
func (l *Log) Watch(_ context.Context, options WatchOptions) (*Watcher, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if !options.Initial && options.From != 0 && options.From < l.floor {
		return nil, ErrGone
	}
	var begin []Object
	for i := range l.entries {
		one := l.entries[(l.next+i)%len(l.entries)]
		if options.Initial || one.revision > options.From {
			begin = append(begin, one.object())
		}
	}
	limit := options.Limit
	options.Limit = nil // what the watch begins with is delivered whole
	current := l.feed.revision.Current()
	if options.From > current {
		return nil, ErrGone
	}
	options.Initial = true
	w, err := l.feed.subscribe(&l.lock, options, begin)
	if err == nil {
		w.options.Limit = limit
	}
	return w, err
}

// Close ends all watches.
func (l *Log) Close() {
	l.lock.Lock()
	defer l.lock.Unlock()
	for w := range l.feed.watchers {
		w.end()
	}
}
