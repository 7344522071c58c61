package vtable

import (
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/tui/components/query"
	"github.com/kapi-dev/kapi/tui/page"
)

// Act moves, sorts, widens and so on; false if it does not know the action.
func (t *Table[T]) Act(action page.Action) bool {
	t.arrange()
	if t.window.Move(action) {
		if action.ID == page.Bottom {
			t.following = t.config.Tail
		}
		t.moved()
		return true
	}
	switch action.ID {
	case page.Sort:
		t.sortNext(max(1, action.Count))
	case page.Reverse:
		t.reverse, t.dirty = !t.reverse, true
	case page.Wide:
		t.widen(!t.wide)
	case page.Unhealthy:
		t.unhealthy, t.dirty = !t.unhealthy, true
	case page.Follow:
		if !t.config.Tail {
			return false
		}
		t.following, t.dirty = !t.following, true
	case page.NextMatch:
		t.goToMatch(max(1, action.Count), 1)
	case page.PrevMatch:
		t.goToMatch(max(1, action.Count), -1)
	default:
		return false
	}
	return true
}

// Offers tells whether Act does something.
func (t *Table[T]) Offers(action page.ActionID) bool {
	if t.window.Moves(action) {
		t.arrange()
		return len(t.order) > 1
	}
	switch action {
	case page.Sort, page.Reverse:
		return len(t.rows) > 1
	case page.Wide:
		return slices.ContainsFunc(t.config.Columns, func(c Column[T]) bool { return c.Wide })
	case page.Unhealthy:
		return t.config.Severity != nil
	case page.Follow:
		return t.config.Tail
	case page.NextMatch, page.PrevMatch:
		return len(t.rows) > 1 && !t.searched.Zero()
	default:
		return false
	}
}

// Filter narrows the table (package query has the syntax); see page.Filterer.
func (t *Table[T]) Filter(text string) error {
	titles := make([]string, len(t.config.Columns))
	for i := range t.config.Columns {
		titles[i] = strings.ToLower(t.config.Columns[i].Title)
	}
	parsed, err := query.Parse(text, titles)
	if err != nil {
		return err
	}
	t.filter, t.query, t.dirty = text, parsed, true
	if !parsed.Zero() {
		t.searched = parsed
	}
	return nil
}

// Filtered is the filter's text.
func (t *Table[T]) Filtered() string { return t.filter }

// goToMatch goes to a row that passes the last filter, round the end of the list.
func (t *Table[T]) goToMatch(times, step int) {
	count := len(t.order)
	if count == 0 {
		return
	}
	place := t.window.Cursor()
	for range min(times, count) {
		for range count {
			place = (place + step + count) % count
			if !t.query.Zero() || t.passes(t.searched, t.order[place]) {
				break
			}
		}
	}
	t.goTo(place)
}

// sortNext sorts by the next column that is shown, or after the last one by none.
func (t *Table[T]) sortNext(times int) {
	for range min(times, len(t.config.Columns)+1) {
		next := t.sorted + 1
		for next < len(t.config.Columns) && !t.shown(next) {
			next++
		}
		title := ""
		if next < len(t.config.Columns) {
			title = t.config.Columns[next].Title
		}
		t.sortBy(title, title == t.config.Sort && t.config.Reverse)
	}
}

// sortBy sorts by the column of a title; by none if there is no such column.
func (t *Table[T]) sortBy(title string, reverse bool) {
	t.sorted = slices.IndexFunc(t.config.Columns, func(c Column[T]) bool { return title != "" && c.Title == title })
	t.reverse, t.dirty = reverse, true
}

func (t *Table[T]) widen(wide bool) {
	t.wide = wide
	t.layout.Reset()
}

// Memory and Restore are those of page.Remembered.
func (t *Table[T]) Memory() map[string]string {
	memory := map[string]string{"sort": "", "reverse": "", "wide": ""}
	if t.sorted >= 0 {
		memory["sort"] = t.config.Columns[t.sorted].Title
	}
	if t.reverse {
		memory["reverse"] = yes
	}
	if t.wide {
		memory["wide"] = yes
	}
	return memory
}

const yes = "yes"

// Restore sets what Memory returned.
func (t *Table[T]) Restore(memory map[string]string) {
	if title, ok := memory["sort"]; ok {
		t.sortBy(title, memory["reverse"] == yes)
	}
	if wide, ok := memory["wide"]; ok {
		t.widen(wide == yes)
	}
}
