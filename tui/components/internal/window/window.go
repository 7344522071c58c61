// Package window is the part of a list that is on the screen, and the cursor in it.
// Tables, trees and documents scroll alike since they all use it. It knows nothing
// of what is listed.
package window

import (
	"github.com/kapi-dev/kapi/tui/page"
)

// roomy is the height from which a line of context is kept around the cursor.
const roomy = 5

// Window is the state: a cursor that is always on an item if there is one, and the
// items that are on the screen. The zero Window is one of no items.
type Window struct {
	cursor, offset int
	count, height  int
}

// Cursor is the index of the item that the cursor is on; 0 where there is none.
func (w *Window) Cursor() int { return w.cursor }

// Count is how many items there are.
func (w *Window) Count() int { return w.count }

// Range is what is on the screen: items from until before to.
func (w *Window) Range() (from, to int) {
	return w.offset, min(w.count, w.offset+max(0, w.height))
}

// Resize sets how many lines there are.
func (w *Window) Resize(height int) {
	w.height = height
	w.settle()
}

// Replace is for another list of count items, in which the cursor is on another
// index. The cursor stays on its line of the screen, but a list that is shown from
// its beginning goes on to be.
func (w *Window) Replace(count, cursor int) {
	if w.offset > 0 {
		w.offset += cursor - w.cursor
	}
	w.count, w.cursor = count, cursor
	w.settle()
}

// Go puts the cursor on an item and scrolls no more than it must.
func (w *Window) Go(cursor int) {
	w.cursor = cursor
	w.settle()
}

// Move moves the cursor; false if the action is none of moving.
func (w *Window) Move(action page.Action) bool {
	step, scrolls, known := w.step(action)
	if !known {
		return false
	}
	if scrolls {
		w.offset += step
	}
	w.cursor += step
	w.settle()
	return true
}

// Scroll moves what is on the screen, for a list without a visible cursor, which
// goes with it; false if the action is none of moving.
func (w *Window) Scroll(action page.Action) bool {
	step, _, known := w.step(action)
	if !known {
		return false
	}
	w.offset = w.onList(w.offset + step)
	first, last := w.offset, w.offset+w.height-1
	if first > 0 {
		first += w.margin()
	}
	if last < w.count-1 {
		last -= w.margin()
	}
	w.cursor = max(first, min(w.cursor, last))
	w.settle()
	return true
}

// step is how far an action goes, and whether the screen goes as far.
func (w *Window) step(action page.Action) (step int, scrolls, known bool) {
	times := max(1, min(action.Count, w.count))
	switch action.ID {
	case page.Down:
		return times, false, true
	case page.Up:
		return -times, false, true
	case page.PageDown:
		return times * max(1, w.height-1), true, true
	case page.PageUp:
		return -times * max(1, w.height-1), true, true
	case page.HalfDown:
		return times * max(1, w.height/2), true, true
	case page.HalfUp:
		return -times * max(1, w.height/2), true, true
	case page.Bottom:
		return w.count, false, true
	case page.Top:
		return -w.count, false, true
	default:
		return 0, false, false
	}
}

// Moves tells whether an action is one of moving.
func (w *Window) Moves(id page.ActionID) bool {
	_, _, known := w.step(page.Action{ID: id})
	return known
}

// settle restores what must hold: the cursor is on an item, the cursor is on the
// screen with a line of context where there is room, and no line is empty while
// there are items for it.
func (w *Window) settle() {
	w.count = max(0, w.count)
	w.cursor = max(0, min(w.cursor, w.count-1))
	if w.height <= 0 {
		w.offset = max(0, min(w.offset, w.cursor))
		return
	}
	margin := w.margin()
	w.offset = min(w.offset, w.cursor-margin)
	w.offset = max(w.offset, w.cursor-w.height+1+margin)
	w.offset = w.onList(w.offset)
}

func (w *Window) onList(offset int) int {
	return max(0, min(offset, w.count-max(1, w.height)))
}

func (w *Window) margin() int {
	if w.height >= roomy {
		return 1
	}
	return 0
}
