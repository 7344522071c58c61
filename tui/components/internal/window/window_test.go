package window_test

import (
	"testing"

	ct "github.com/kapi-dev/kapi/tui/components/internal/componenttest"
	"github.com/kapi-dev/kapi/tui/components/internal/window"
	"github.com/kapi-dev/kapi/tui/page"
)

// lines returns a window of so many items on so many lines.
func lines(count, height int) *window.Window {
	var w window.Window
	w.Replace(count, 0)
	w.Resize(height)
	return &w
}

func TestMove(t *testing.T) {
	w := lines(100, 10)
	for i, step := range []struct {
		id                   page.ActionID
		count, cursor, first int
	}{
		{page.Up, 0, 0, 0},
		{page.Down, 0, 1, 0},
		{page.Down, 7, 8, 0},
		{page.Down, 0, 9, 1}, // a line of context
		{page.PageDown, 0, 18, 10},
		{page.HalfDown, 2, 28, 20},
		{page.Up, 8, 20, 19},
		{page.PageUp, 0, 11, 10},
		{page.Bottom, 0, 99, 90},
		{page.Down, 5, 99, 90},
		{page.HalfUp, 0, 94, 86},
		{page.PageDown, 1 << 62, 99, 90},
		{page.Top, 0, 0, 0},
	} {
		if !w.Move(page.Action{ID: step.id, Count: step.count}) {
			t.Fatalf("step %d: %s is not known", i, step.id)
		}
		if from, _ := w.Range(); w.Cursor() != step.cursor || from != step.first {
			t.Fatalf("step %d, %s: on %d from %d, want %d from %d", i, step.id, w.Cursor(), from, step.cursor, step.first)
		}
	}
	if w.Move(page.Action{ID: page.Sort}) || w.Moves(page.Sort) || !w.Moves(page.Top) {
		t.Error("moving is not what it should be")
	}
}

func TestScroll(t *testing.T) {
	w := lines(30, 10)
	for i, step := range []struct {
		id    page.ActionID
		first int
	}{{page.Down, 1}, {page.Down, 2}, {page.Up, 1}, {page.PageDown, 10}, {page.Bottom, 20}, {page.HalfUp, 15}, {page.Top, 0}, {page.Up, 0}} {
		w.Scroll(page.Action{ID: step.id})
		if from, _ := w.Range(); from != step.first {
			t.Fatalf("step %d, %s: from %d, want %d", i, step.id, from, step.first)
		}
	}
}

func TestReplaceKeepsTheLine(t *testing.T) {
	w := lines(100, 10)
	w.Go(50)
	from, _ := w.Range()
	w.Replace(120, 70)
	if now, _ := w.Range(); 70-now != 50-from {
		t.Errorf("the cursor was on line %d and is on %d", 50-from, 70-now)
	}
	top := lines(100, 10)
	top.Go(3)
	top.Replace(102, 5)
	if from, _ := top.Range(); from != 0 {
		t.Errorf("a list shown from its beginning is shown from %d", from)
	}
}

func TestRandom(t *testing.T) {
	r := ct.Random(3)
	var w window.Window
	for range 20000 {
		switch r.IntN(6) {
		case 0:
			w.Resize(r.IntN(30) - 2)
		case 1:
			w.Replace(r.IntN(80)-1, r.IntN(90)-5)
		case 2:
			w.Go(r.IntN(90) - 5)
		case 3:
			w.Scroll(ct.Action(r))
		default:
			w.Move(ct.Action(r))
		}
		from, to := w.Range()
		cursor := w.Cursor()
		if cursor < 0 || cursor > max(0, w.Count()-1) || from < 0 || to > w.Count() || to < from && w.Count() > 0 {
			t.Fatalf("cursor %d, lines %d to %d of %d", cursor, from, to, w.Count())
		}
		if to > from && (cursor < from || cursor >= to) {
			t.Fatalf("cursor %d is not in %d to %d of %d", cursor, from, to, w.Count())
		}
		if to-from >= 5 && (from > 0 && cursor == from || to < w.Count() && cursor == to-1) {
			t.Fatalf("cursor %d has no context in %d to %d of %d", cursor, from, to, w.Count())
		}
	}
}
