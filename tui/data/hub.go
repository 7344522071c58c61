package data

import (
	"context"
	"sync"
	"time"

	"github.com/kapi-dev/kapi/internal/client/inspection"
)

const (
	defaultInterval = 200 * time.Millisecond
	defaultHistory  = 15 * time.Minute
	// linger is how long a feed goes on when nobody wants it any more: one may come back.
	linger = 30 * time.Second
	// idleFeeds is how many feeds that have stopped are remembered with what they had.
	idleFeeds = 64
	// redialGap is the least time between two tries to find another way to the server.
	redialGap = time.Second
)

// HubOptions say what a hub shows. Source must be set, all others may be zero.
type HubOptions struct {
	// Source is the server, or a recording.
	Source Source
	// Redial makes another source, of credentials that were renewed or an address that
	// is another one. It is called before a try that follows a refused connection,
	// credentials that were not accepted, or a certificate that is not trusted.
	Redial func(ctx context.Context) (Source, error)
	// Base are feeds that are always wanted.
	Base []Key
	// Explain says what an error means to a person.
	Explain func(error) error
	// Now is the time that frames show: the clock of a recording, where Source has one
	// (Clock), else time.Now.
	Now func() time.Time
	// Interval is the least time between two frames; 200 ms.
	Interval time.Duration
	// History is how far back frames are kept; 15 min.
	History time.Duration
	// Logs is the server's log, where it runs in this process.
	Logs LogSource
	// Recorder writes down what comes; nil does not.
	Recorder *Recorder
}

// Clock is a Source that has a time of its own, as a recording has.
type Clock interface{ Clock() time.Time }

// Ended is a Source that comes to an end. The channel is closed then; what it is
// (About) may be told differently afterwards.
type Ended interface{ Ended() <-chan struct{} }

// Hub runs the feeds that are wanted, and makes frames of what they have. All
// methods are safe for concurrent use; one at a time waits in Next.
type Hub struct {
	options HubOptions
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup
	// dialing is held while another source is made.
	dialing sync.Mutex

	lock sync.Mutex
	// from is the source, generation counts them, dialed is when the last was made.
	from       Source
	generation int
	dialed     time.Time
	feeds      map[Key]*feed
	wanted     map[Key]bool
	about      inspection.About
	connection connection
	// returned is closed when the server is there again.
	returned chan struct{}
	// allowed is closed when something that was forbidden is so no more.
	allowed chan struct{}
	// revision counts changes of anything; news has an element when it has changed.
	revision uint64
	news     chan struct{}
	frames   frames
}

// NewHub begins to ask the server what it is, and for what is always wanted.
func NewHub(options HubOptions) *Hub {
	if options.Interval <= 0 {
		options.Interval = defaultInterval
	}
	if options.History <= 0 {
		options.History = defaultHistory
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &Hub{
		options: options, ctx: ctx, cancel: cancel, from: options.Source,
		feeds: map[Key]*feed{}, wanted: map[Key]bool{},
		returned: make(chan struct{}), allowed: make(chan struct{}), news: make(chan struct{}, 1),
	}
	h.connection.again = make(chan struct{}, 1)
	h.work.Go(func() { h.connection.run(ctx, h) })
	h.Need()
	return h
}

// Need says which feeds are wanted now, besides those that always are. Others go on
// for half a minute, then they stop; what they had stays in frames, as of then.
func (h *Hub) Need(keys ...Key) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if h.ctx.Err() != nil {
		return
	}
	h.wanted = make(map[Key]bool, len(keys)+len(h.options.Base))
	for _, some := range [][]Key{h.options.Base, keys} {
		for _, key := range some {
			h.wanted[key] = true
		}
	}
	for key := range h.wanted {
		h.start(key)
	}
	for key, f := range h.feeds {
		if !h.wanted[key] && f.cancel != nil && f.unwanted == nil {
			f.unwanted = time.AfterFunc(linger, func() { h.stop(f) })
		}
	}
}

// start runs a feed, unless it runs. The lock is held.
func (h *Hub) start(key Key) {
	f := h.feeds[key]
	if f == nil {
		f = newFeed(h, key)
		h.feeds[key] = f
	}
	if f.unwanted != nil {
		f.unwanted.Stop()
		f.unwanted = nil
	}
	if f.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(h.ctx)
	f.cancel = cancel
	if key.Logs && h.options.Logs != nil {
		h.work.Go(func() { f.runLogs(ctx, h.options.Logs) })
		return
	}
	h.work.Go(func() { f.run(ctx) })
}

// stop ends a feed that is still not wanted. What it has is from now on of this time.
func (h *Hub) stop(f *feed) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if h.wanted[f.key] || f.cancel == nil || h.ctx.Err() != nil {
		return
	}
	f.cancel()
	f.cancel, f.unwanted, f.stopped, f.broken = nil, nil, h.now(), false
	if f.state == Live {
		f.state, f.at = Stale, f.stopped
	}
	h.options.Recorder.state(f.stopped, f.key, f.state, f.err, false)
	h.forget()
	h.changed()
}

// forget drops what has stopped the longest, where there is too much of it. The
// lock is held.
func (h *Hub) forget() {
	var oldest *feed
	idle := 0
	for _, f := range h.feeds {
		if f.cancel != nil {
			continue
		}
		if idle++; oldest == nil || f.stopped.Before(oldest.stopped) {
			oldest = f
		}
	}
	if idle > idleFeeds {
		delete(h.feeds, oldest.key)
	}
}

// Refresh lists everything that is wanted once more, and tries at once to reach a
// server that is waited for.
func (h *Hub) Refresh() {
	h.lock.Lock()
	defer h.lock.Unlock()
	poke(h.connection.again)
	for _, f := range h.feeds {
		if f.cancel != nil {
			poke(f.again)
		}
	}
}

// Close stops the feeds and waits for them. Next returns false from then on.
func (h *Hub) Close() {
	h.lock.Lock()
	h.cancel()
	for _, f := range h.feeds {
		if f.unwanted != nil {
			f.unwanted.Stop()
		}
	}
	h.lock.Unlock()
	h.work.Wait()
}

// now is the time that frames show.
func (h *Hub) now() time.Time {
	if h.options.Now != nil {
		return h.options.Now()
	}
	if clock, ok := h.options.Source.(Clock); ok {
		return clock.Clock()
	}
	return time.Now()
}

func (h *Hub) explained(err error) error {
	if err == nil || h.options.Explain == nil {
		return err
	}
	return h.options.Explain(err)
}

// changed notes that there is something new. The lock is held.
func (h *Hub) changed() {
	h.revision++
	poke(h.news)
}

// source is the source to ask, and its number.
func (h *Hub) source() (Source, int) {
	h.lock.Lock()
	defer h.lock.Unlock()
	return h.from, h.generation
}

// redial makes another source in place of the one of a number, unless somebody else
// has done so, or has just tried.
func (h *Hub) redial(ctx context.Context, generation int) {
	if h.options.Redial == nil {
		return
	}
	h.dialing.Lock()
	defer h.dialing.Unlock()
	h.lock.Lock()
	late := h.generation != generation || time.Since(h.dialed) < redialGap
	h.dialed = time.Now()
	h.lock.Unlock()
	if late {
		return
	}
	source, err := h.options.Redial(ctx)
	if err != nil || source == nil {
		return // the one there is will say what is wrong
	}
	h.lock.Lock()
	h.from = source
	h.generation++
	h.lock.Unlock()
}

// poke puts an element into a channel of one, unless there is one.
func poke(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}
