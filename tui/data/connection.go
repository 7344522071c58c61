package data

import (
	"context"
	"time"
)

// connection is how the server as a whole can be reached. It also asks the server
// what it is, in a goroutine of its own. Its fields are guarded by the hub's lock.
type connection struct {
	// again makes it ask at once.
	again chan struct{}

	// state is Loading until something has come, err why it is not Live.
	state State
	err   error
	// broken says that the question what the server is waits for it, until retry.
	broken bool
	retry  time.Time
}

// run asks at first, and whenever the server was away.
func (c *connection) run(ctx context.Context, h *Hub) {
	pause := retry()
	for ctx.Err() == nil {
		source, generation := h.source()
		about, err := source.About(ctx)
		h.lock.Lock()
		if ctx.Err() != nil {
			h.lock.Unlock()
			return
		}
		back := (<-chan struct{})(h.returned)
		if err == nil {
			h.alive()
			h.back()
			back = h.returned
			h.about = about
			h.options.Recorder.about(h.now(), about)
			h.changed()
			h.lock.Unlock()
			pause = retry()
			c.wait(ctx, nil, back, ended(source))
			continue
		}
		how := failureOf(Key{}, err)
		after := pause.Step()
		if how.connection {
			c.broken, c.retry = true, h.now().Add(after)
			h.losing(how.state, h.explained(err))
		}
		h.lock.Unlock()
		c.wait(ctx, time.After(after), back, nil)
		if how.redial {
			h.redial(ctx, generation)
		}
	}
}

func (c *connection) wait(ctx context.Context, due <-chan time.Time, back, ended <-chan struct{}) {
	select {
	case <-due:
	case <-back:
	case <-ended:
	case <-c.again:
	case <-ctx.Done():
	}
}

// ended is closed when a source comes to its end; nil where it has none, or that
// is over.
func ended(source Source) <-chan struct{} {
	ending, ok := source.(Ended)
	if !ok {
		return nil
	}
	select {
	case <-ending.Ended():
		return nil
	default:
		return ending.Ended()
	}
}

// alive notes that the server has answered. The lock is held.
func (h *Hub) alive() {
	if h.connection.state != Live {
		h.connection.state, h.connection.err = Live, nil
		h.changed()
	}
}

// lost notes that a feed can't reach the server. The lock is held.
func (h *Hub) lost(f *feed) { h.losing(f.state, f.err) }

// losing is news where it was not known, or the try that was announced is over.
func (h *Hub) losing(state State, err error) {
	news := h.connection.state != state || !h.frames.last.Retry.After(h.now())
	h.connection.state, h.connection.err = state, err
	if news {
		h.changed()
	}
}

// back makes everything that waits for the server go on. The lock is held.
func (h *Hub) back() {
	waiting := h.connection.broken
	h.connection.broken, h.connection.retry = false, time.Time{}
	for _, f := range h.feeds {
		waiting = waiting || f.broken
		f.broken = false // it tries at once, and will say if that fails
	}
	if waiting {
		close(h.returned)
		h.returned = make(chan struct{})
	}
}

// retryAt is when the server is tried next; zero where it is there.
func (h *Hub) retryAt() time.Time {
	if h.connection.state == Live {
		return time.Time{}
	}
	next := h.connection.retry
	for _, f := range h.feeds {
		if f.broken && !f.retry.IsZero() && (next.IsZero() || f.retry.Before(next)) {
			next = f.retry
		}
	}
	return next
}
