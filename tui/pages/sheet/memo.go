package sheet

import (
	"slices"
	"time"

	"github.com/kapi-dev/kapi/tui/data"
)

// Memo keeps what was made of a frame for as long as the feeds that it was made of
// are the same: a frame is new whenever anything in it is. The zero Memo is empty.
type Memo[T any] struct {
	kept  [2]memory[T]
	next  int
	valid [2]bool
}

// memory is something made of a frame.
type memory[T any] struct {
	at    time.Time
	views []seen
	value T
}

// seen is what a view was.
type seen struct {
	state    data.State
	revision uint64
	count    int
	gaps     int
	first    any
}

// stale is the age from which it is made anew although nothing has changed: what is
// joined says of something that lasts too long that it is stuck.
const stale = 10 * time.Second

// Of returns what is made of a frame from some of its feeds. It keeps two: that of
// the frame that is shown, and that of the one it is compared with.
func (m *Memo[T]) Of(frame data.Frame, made func(data.Frame) T, from ...data.Key) T {
	views := make([]seen, len(from))
	for i, key := range from {
		view := frame.View(key)
		views[i] = seen{state: view.State, revision: view.Revision, count: len(view.Objects), gaps: len(view.Gaps)}
		if len(view.Objects) > 0 {
			views[i].first = view.Objects[0]
		}
	}
	for i := range m.kept {
		if m.valid[i] && frame.Now.Sub(m.kept[i].at).Abs() < stale && slices.Equal(m.kept[i].views, views) {
			return m.kept[i].value
		}
	}
	value := made(frame)
	m.kept[m.next], m.valid[m.next] = memory[T]{at: frame.Now, views: views, value: value}, true
	m.next = 1 - m.next
	return value
}
