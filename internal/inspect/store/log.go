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
	// Keep chooses entries that are to be kept after Capacity newer ones have come;
	// nil chooses none. It is asked when an entry is to fall out.
	Keep func(Entry) bool
	// Kept is how many of those are kept; without Keep it means nothing.
	Kept int
}

// Log is a table of the entries that were appended last, and of some that were
// chosen to be kept for longer. An entry that falls out is not announced to
// watchers: a history forgets, nothing was deleted.
type Log struct {
	lock    sync.Mutex
	feed    feed
	keep    func(Entry) bool
	kept    ring // what was chosen of those that fell out of entries: all are older
	entries ring
	floor   uint64 // the revision of the newest entry that has fallen out
}

// ring holds what was put in last, in the order of revisions.
type ring struct {
	held []logged // the oldest is at next once it is full
	next int
}

// put adds an entry, and returns the one that has to go for it.
func (r *ring) put(added logged) (out logged, full bool) {
	switch {
	case cap(r.held) == 0:
		return added, true
	case len(r.held) < cap(r.held):
		r.held = append(r.held, added)
		return logged{}, false
	default:
		out, r.held[r.next] = r.held[r.next], added
		r.next = (r.next + 1) % len(r.held)
		return out, true
	}
}

func (r *ring) appendTo(all []logged) []logged {
	return append(append(all, r.held[r.next:]...), r.held[:r.next]...)
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
	l := &Log{
		// The entries themselves are the history.
		feed: newFeed(options.Revision, 0, options.Buffer), floor: options.Revision.Current(),
		keep: options.Keep, entries: ring{held: make([]logged, 0, options.Capacity)},
	}
	if l.keep != nil {
		l.kept.held = make([]logged, 0, options.Kept)
	}
	return l
}

// Append adds an entry. It is quick, and makes the object only if somebody watches.
func (l *Log) Append(entry Entry) {
	l.lock.Lock()
	defer l.lock.Unlock()
	added := logged{entry, l.feed.revision.next()}
	out, full := l.entries.put(added)
	if full && l.keep != nil && l.keep(out.entry) {
		out, full = l.kept.put(out)
	}
	if full {
		l.floor = max(l.floor, out.revision)
	}
	if len(l.feed.watchers) > 0 {
		l.feed.publish(Event{Type: watch.Added, Object: added.object(), Revision: added.revision})
	}
}

// Len returns how many entries are kept.
func (l *Log) Len() int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return len(l.kept.held) + len(l.entries.held)
}

// List returns the objects of all entries, oldest first, and the revision that
// they are of.
func (l *Log) List(context.Context) ([]Object, uint64, error) {
	kept, revision := l.all()
	objects := make([]Object, 0, len(kept))
	for _, one := range kept {
		objects = append(objects, one.object())
	}
	return objects, revision, nil
}

func (l *Log) all() ([]logged, uint64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.locked(), l.feed.revision.Current()
}

// locked returns all that is kept, oldest first.
func (l *Log) locked() []logged {
	all := make([]logged, 0, len(l.kept.held)+len(l.entries.held))
	return l.entries.appendTo(l.kept.appendTo(all))
}

// Get returns one object, or nil if no entry of that name is kept.
func (l *Log) Get(_ context.Context, name string) (Object, error) {
	kept, _ := l.all()
	for _, one := range kept {
		if one.entry.Name() == name {
			return one.object(), nil
		}
	}
	return nil, nil
}

// Entries returns what is kept, oldest first.
func (l *Log) Entries() []Entry {
	kept, _ := l.all()
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
	for _, one := range l.locked() {
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
