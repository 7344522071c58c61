package data

import (
	"maps"
	"slices"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

const (
	// rateSpan is how much older the frame is that rates are computed from.
	rateSpan = 5 * time.Second
	// historyStep is the time between two frames of the history.
	historyStep = 5 * time.Second
)

// recent are the frames of the last seconds, oldest first, without what is older
// than they are.
type recent struct{ frames []*Frame }

func (r *recent) add(frame Frame) {
	r.frames = append(r.frames, &frame)
	// One that is older than the span is enough.
	for len(r.frames) > 2 && frame.Now.Sub(r.frames[1].Now) >= rateSpan {
		r.frames = slices.Delete(r.frames, 0, 1)
	}
}

// before is the youngest frame that is old enough, at first the oldest there is; nil
// where that is too young as well.
func (r *recent) before(now time.Time) *Frame {
	for i := len(r.frames) - 1; i >= 0; i-- {
		if age := now.Sub(r.frames[i].Now); age >= rateSpan || i == 0 && age >= tick {
			return r.frames[i]
		}
	}
	return nil
}

// history are frames of the past, oldest first. Requests and log lines are not in
// them: those that are kept anyway tell when they came.
type history struct{ frames []Frame }

func (h *history) add(frame Frame, keep time.Duration) {
	if n := len(h.frames); n > 0 {
		last := h.frames[n-1]
		if frame.Revision == last.Revision || frame.Now.Sub(last.Now) < historyStep {
			return
		}
	}
	drop := 0
	for drop < len(h.frames) && frame.Now.Sub(h.frames[drop].Now) > keep {
		drop++
	}
	h.frames = slices.Delete(h.frames, 0, drop)
	frame.views = maps.Clone(frame.views) // others have it, too
	delete(frame.views, tracesKey)
	delete(frame.views, Logs)
	h.frames = append(h.frames, frame)
}

// Times are those that At has frames of, oldest first.
func (h *Hub) Times() []time.Time {
	h.lock.Lock()
	defer h.lock.Unlock()
	times := make([]time.Time, 0, len(h.frames.history.frames))
	for _, frame := range h.frames.history.frames {
		times = append(times, frame.Now)
	}
	return times
}

// At returns the frame of the past that was the newest at a time; the oldest where
// none is so old. Its changes are marked against the one before it. Without a past
// it is the frame of now.
func (h *Hub) At(at time.Time) Frame {
	h.lock.Lock()
	defer h.lock.Unlock()
	frames := h.frames.history.frames
	if len(frames) == 0 {
		return h.frame()
	}
	i, exact := slices.BinarySearchFunc(frames, at, func(frame Frame, at time.Time) int { return frame.Now.Compare(at) })
	if !exact {
		i = max(0, i-1)
	}
	frame := h.past(frames[i])
	frame.Past = true
	if i > 0 {
		before := h.past(frames[i-1])
		frame.Before, frame.Against = &before, &before
	}
	samples := h.frames.sampler.series()
	end, _ := slices.BinarySearchFunc(samples, frame.Now, func(sample Sample, at time.Time) int {
		if sample.At.After(at) {
			return 1
		}
		return -1
	})
	frame.Series = samples[:end:end]
	return frame
}

// past completes a frame with what had come by then of the requests and lines that
// are kept. The lock is held.
func (h *Hub) past(frame Frame) Frame {
	for _, key := range []Key{tracesKey, Logs} {
		f := h.feeds[key]
		if f == nil {
			continue
		}
		view := f.view()
		end := len(view.Objects)
		for end > 0 && cameAt(view.Objects[end-1]).After(frame.Now) {
			end--
		}
		view.Objects = view.Objects[:end:end]
		view.Revision = 1<<63 | frame.Revision // not one that a live view has
		frame = frame.With(view)
	}
	return frame
}

func cameAt(object kinds.Object) time.Time {
	switch object := object.(type) {
	case *v1alpha1.RequestTrace:
		return object.Status.ReceivedAt.Time
	case *LogLine:
		return object.At
	}
	return time.Time{}
}
