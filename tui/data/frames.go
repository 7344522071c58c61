package data

import (
	"context"
	"time"
)

// frames is what the hub has made of its feeds so far. It is guarded by the hub's
// lock, and belongs to whoever waits for a frame: nothing is made while nobody does.
type frames struct {
	// last is the newest frame that was made.
	last Frame
	// returned is the revision of the one that Next has returned last, shown when.
	returned uint64
	shown    time.Time
	// ticked is when the last sample was taken.
	ticked  time.Time
	sampler sampler
	recent  recent
	history history
}

// tick is the time between two samples.
const tick = time.Second

// Next waits for a frame that is newer than the last one it has returned: at most
// one each interval, and always the newest. It returns false when ctx has ended, or
// the hub is closed.
func (h *Hub) Next(ctx context.Context) (Frame, bool) {
	for {
		frame, wait := h.due(time.Now())
		if ctx.Err() != nil || h.ctx.Err() != nil {
			return Frame{}, false
		}
		if frame != nil {
			return *frame, true
		}
		timer := time.NewTimer(wait)
		select {
		case <-h.news:
		case <-timer.C:
		case <-ctx.Done():
		case <-h.ctx.Done():
		}
		timer.Stop()
	}
}

// due returns the frame that is due, or how long there is nothing to do.
func (h *Hub) due(at time.Time) (*Frame, time.Duration) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if at.Sub(h.frames.ticked) >= tick {
		h.frames.ticked = at
		h.tick()
	}
	wait := h.frames.ticked.Add(tick).Sub(at)
	if h.revision == h.frames.returned {
		return nil, wait
	}
	if early := h.frames.shown.Add(h.options.Interval).Sub(at); early > 0 {
		return nil, min(wait, early)
	}
	frame := h.frame()
	h.frames.returned, h.frames.shown = frame.Revision, at
	return &frame, 0
}

// Frame returns the newest frame, without waiting for anything.
func (h *Hub) Frame() Frame {
	h.lock.Lock()
	defer h.lock.Unlock()
	return h.frame()
}

// frame makes a frame, unless nothing has changed since the last one. The lock is held.
func (h *Hub) frame() Frame {
	if h.frames.last.Revision == h.revision && h.revision != 0 {
		return h.frames.last
	}
	frame := h.plain()
	frame.Before = h.frames.recent.before(frame.Now)
	frame.Series = h.frames.sampler.series()
	h.frames.last = frame
	return frame
}

// plain is a frame of what there is now, with nothing that is older. The lock is held.
func (h *Hub) plain() Frame {
	frame := Frame{
		Revision: h.revision, Now: h.now(), About: h.about,
		State: h.connection.state, Err: h.connection.err, Retry: h.retryAt(),
		views: make(map[Key]View, len(h.feeds)),
	}
	if h.about.RecordedFrom != "" && h.options.Now == nil && !h.hasClock() {
		frame.Now = h.about.At // ages count up to then
	}
	for key, f := range h.feeds {
		frame.views[key] = f.view()
	}
	return frame
}

func (h *Hub) hasClock() bool {
	_, ok := h.options.Source.(Clock)
	return ok
}

// tick takes a sample, and remembers a frame. What it finds is news only where it
// is another one than before: an idle server is not drawn anew. The lock is held.
func (h *Hub) tick() {
	frame := h.plain()
	if frame.State == Loading {
		return
	}
	news := h.frames.sampler.take(frame)
	before := h.frames.last.Before
	if before == nil && h.frames.recent.before(frame.Now) != nil || before != nil && !h.frames.last.sameViews(*before) {
		news = true // what was drawn has no rates yet, or those that are over by now
	}
	h.frames.recent.add(frame)
	h.frames.history.add(frame, h.options.History)
	if news {
		h.changed()
	}
}

// sameViews tells whether two frames have the same objects.
func (f Frame) sameViews(other Frame) bool {
	if len(f.views) != len(other.views) {
		return false
	}
	for key, view := range f.views {
		if view.Revision != other.views[key].Revision {
			return false
		}
	}
	return true
}
