package data

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// quietTime is how long the server may say nothing until it is asked whether it is
	// there: the connections to one that hangs stay open for most of a minute. A kapi
	// says something more often (bookmarks of its watches).
	quietTime = 10 * time.Second
	// pingTime is how long the answer may take.
	pingTime = 5 * time.Second
)

// connection is how the server as a whole can be reached. It also asks the server
// what it is, in a goroutine of its own. Its fields are guarded by the hub's lock.
type connection struct {
	// again makes it ask at once.
	again chan struct{}

	// state is Loading until something has come, err why it is not Live.
	state State
	err   error
	// heard is when something has come last, by the clock of this machine.
	heard time.Time
	// broken says that the question what the server is waits for it, until retry;
	// forbidden that it was refused.
	broken, forbidden bool
	retry             time.Time
}

// pinger is a Source with a smaller question than what the server is, to find out
// whether it answers.
type pinger interface {
	Ping(ctx context.Context) error
}

// run asks at first, and whenever the server was away.
func (c *connection) run(ctx context.Context, h *Hub) {
	pause := retry()
	hangs := false // it may do so again: what takes longer than a ping is asked after one
	for ctx.Err() == nil {
		source, generation := h.source()
		var err error
		if hangs {
			err = c.ping(ctx, h, source)
		}
		if err == nil {
			var back <-chan struct{}
			if back, err = c.ask(ctx, h, source); err == nil {
				pause, hangs = retry(), false
				if err = c.listen(ctx, h, source, back); err == nil {
					continue
				}
				hangs = true
			}
		}
		c.missed(ctx, h, generation, err, pause.Step())
	}
}

// ask notes what the server is, and that it is there. What it returns is closed when
// it is so once more.
func (c *connection) ask(ctx context.Context, h *Hub, source Source) (back <-chan struct{}, err error) {
	about, err := source.About(ctx)
	h.lock.Lock()
	defer h.lock.Unlock()
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	h.alive()
	h.back()
	if c.forbidden {
		c.forbidden = false
		h.allow()
	}
	h.about = about
	h.options.Recorder.about(h.now(), about)
	h.changed()
	return h.returned, nil
}

// listen returns when there is a reason to ask what the server is. An error is that
// nothing came from it, not even an answer whether it is there.
func (c *connection) listen(ctx context.Context, h *Hub, source Source, back <-chan struct{}) error {
	over := ended(source)
	for ctx.Err() == nil {
		h.lock.Lock()
		recorded, quiet := h.about.RecordedFrom != "", time.Since(c.heard)
		h.lock.Unlock()
		switch {
		case recorded: // it is what it is
			c.wait(ctx, nil, back, over)
			return nil
		case quiet < quietTime:
			if c.wait(ctx, time.After(quietTime-quiet), back, over) {
				return nil
			}
		default:
			if err := c.ping(ctx, h, source); err != nil {
				return err
			}
		}
	}
	return nil
}

// ping asks the server whether it is there. A refusal is an answer, and so is
// whatever a feed hears meanwhile.
func (c *connection) ping(ctx context.Context, h *Hub, source Source) error {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	var err error
	if small, ok := source.(pinger); ok {
		err = small.Ping(limited)
	} else {
		_, err = source.About(limited)
	}
	h.lock.Lock()
	defer h.lock.Unlock()
	switch {
	case ctx.Err() != nil, c.heard.After(began):
		return nil
	case err == nil, !failureOf(Key{}, err).connection:
		h.alive()
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the server says nothing any more: %w", err)
	}
	return err
}

// missed notes that the server could not be asked, and waits until that is tried again.
func (c *connection) missed(ctx context.Context, h *Hub, generation int, err error, after time.Duration) {
	how := failureOf(Key{}, err)
	h.lock.Lock()
	if ctx.Err() != nil {
		h.lock.Unlock()
		return
	}
	c.forbidden = how.state == Forbidden
	back := (<-chan struct{})(h.returned)
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

// wait returns false where nothing but the time has come.
func (c *connection) wait(ctx context.Context, due <-chan time.Time, back, ended <-chan struct{}) bool {
	select {
	case <-due:
		return false
	case <-back:
	case <-ended:
	case <-c.again:
	case <-ctx.Done():
	}
	return true
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
	h.connection.heard = time.Now()
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

// allow makes what was forbidden be tried soon: something that was is allowed. The
// lock is held.
func (h *Hub) allow() {
	close(h.allowed)
	h.allowed = make(chan struct{})
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
