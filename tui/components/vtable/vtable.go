// Package vtable is a table of any number of rows of which only those on the
// screen are drawn. The cursor stays on a row's key, wherever a refresh puts it.
// It knows nothing of what the rows are.
package vtable

import (
	"slices"
	"time"

	"github.com/kapi-dev/kapi/tui/components/internal/columns"
	"github.com/kapi-dev/kapi/tui/components/internal/window"
	"github.com/kapi-dev/kapi/tui/components/query"
	"github.com/kapi-dev/kapi/tui/ink"
)

// Severity is how a row is: it is what "only unhealthy" leaves.
type Severity int

// Severities.
const (
	Healthy Severity = iota
	Unsure
	Unhealthy
)

// Column is a column over rows of type T.
type Column[T any] struct {
	// Title is the heading, in capitals. It is also the name in filters (title:value).
	Title string
	// Cell is what is shown at a time.
	Cell func(row T, now time.Time) ink.Span
	// Compare sorts rows by the column; nil compares the texts.
	Compare func(a, b T) int
	// Right aligns to the right.
	Right bool
	// Wide columns are shown after Wide only.
	Wide bool
	// Grow is the column's share of what is left of the width; 0 takes what it needs.
	Grow int
	// Min is the width below which it is not squeezed; 0 is that of the title. Where
	// the screen is too narrow columns go from the right.
	Min int
	// Keep keeps the column when the screen is narrow.
	Keep bool
	// Middle cuts in the middle of the text: names differ at their ends.
	Middle bool
}

// Config is what a table is made of.
type Config[T any] struct {
	Columns []Column[T]
	// Key is what a row is known by.
	Key func(row T) string
	// Severity is how a row is; nil is that all are healthy.
	Severity func(row T) Severity
	// Labels are for -l in a filter; nil where rows have none.
	Labels func(row T) map[string]string
	// Sort is the title of the column that is sorted by at first; empty keeps the order
	// of the rows. Reverse sorts downwards.
	Sort    string
	Reverse bool
	// Tail follows the last row until the cursor is moved.
	Tail bool
	// Empty is said where there is no row at all.
	Empty string
}

// Table is the state of a table. Make it with New.
type Table[T any] struct {
	config Config[T]
	layout columns.Layout
	window window.Window

	rows   []T
	marked func(row T) bool
	// order are the indexes of the rows that are listed. It is made anew when it is
	// asked for and dirty: rows may be set more often than they are looked at.
	order []int
	dirty bool
	// key is what the cursor is on, wherever that goes.
	key string

	filter string
	query  query.Query
	// searched is the last filter that was not empty.
	searched query.Query
	texts    texts
	asked    asked
	now      time.Time

	sorted    int // column, -1 for the order of the rows
	reverse   bool
	wide      bool
	unhealthy bool
	following bool

	// cells are those on the screen while they are drawn, row by row.
	cells []ink.Span
}

// New returns an empty table.
func New[T any](config Config[T]) *Table[T] {
	t := &Table[T]{config: config, following: config.Tail}
	t.sortBy(config.Sort, config.Reverse)
	return t
}

// SetRows replaces the rows. The cursor stays on the key that it was on; if that is
// gone, near where it was. marked, if it is not nil, tells which rows have changed.
func (t *Table[T]) SetRows(rows []T, marked func(row T) bool) {
	if len(t.rows) == 0 {
		t.layout.Reset()
	}
	t.rows, t.marked, t.dirty = rows, marked, true
	t.texts.reset()
}

// Rows are all rows, in the order in which they were set.
func (t *Table[T]) Rows() []T { return t.rows }

// Visible are the places of the list on the screen, from until before to, of count.
func (t *Table[T]) Visible() (from, to, count int) {
	from, to = t.window.Range()
	return from, to, t.window.Count()
}

// Selected is the row that the cursor is on.
func (t *Table[T]) Selected() (T, bool) {
	t.arrange()
	if len(t.order) == 0 {
		var none T
		return none, false
	}
	return t.at(t.window.Cursor()), true
}

// Select puts the cursor on a key; false if there is no such row on the screen's list.
func (t *Table[T]) Select(key string) bool {
	t.arrange()
	at := slices.IndexFunc(t.order, func(i int) bool { return t.keyOf(t.rows[i]) == key })
	if at < 0 {
		return false
	}
	t.goTo(at)
	return true
}

// at is the row at a place of the list.
func (t *Table[T]) at(place int) T { return t.rows[t.order[place]] }

func (t *Table[T]) keyOf(row T) string {
	if t.config.Key == nil {
		return ""
	}
	return t.config.Key(row)
}

// goTo puts the cursor on a place of the list, of which there must be one.
func (t *Table[T]) goTo(place int) {
	t.window.Go(place)
	t.moved()
}

// moved is after every move of the cursor.
func (t *Table[T]) moved() {
	if len(t.order) == 0 {
		return
	}
	t.key = t.keyOf(t.at(t.window.Cursor()))
	if t.window.Cursor() < len(t.order)-1 {
		t.following = false
	}
}
