package vtable

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/tui/components/query"
)

// arrange brings the list up to date: which rows, in which order, and where the
// cursor is in it.
func (t *Table[T]) arrange() {
	if !t.dirty {
		return
	}
	t.dirty = false
	t.order = slices.Grow(t.order[:0], len(t.rows))
	for i := range t.rows {
		if t.listed(i) {
			t.order = append(t.order, i)
		}
	}
	t.sort()
	if len(t.order) == 0 {
		// The key is kept: its row may come back.
		t.window.Replace(0, 0)
		return
	}
	t.window.Replace(len(t.order), t.place())
	t.moved()
}

// listed tells whether a row is in the list.
func (t *Table[T]) listed(i int) bool {
	if t.unhealthy && t.severity(t.rows[i]) == Healthy {
		return false
	}
	return t.query.Zero() || t.passes(t.query, i)
}

func (t *Table[T]) severity(row T) Severity {
	if t.config.Severity == nil {
		return Healthy
	}
	return t.config.Severity(row)
}

// place is where the cursor belongs in a list that is not empty.
func (t *Table[T]) place() int {
	last, before := len(t.order)-1, t.window.Cursor()
	if t.following {
		return last
	}
	if t.config.Key == nil {
		return min(before, last)
	}
	// Rows mostly stay near where they were. Of several with one key the nearest is
	// it.
	for far := 0; far <= max(before, last-before); far++ {
		for _, place := range [2]int{before - far, before + far} {
			if place >= 0 && place <= last && t.keyOf(t.at(place)) == t.key {
				return place
			}
		}
	}
	return min(before, last)
}

// sort orders the list; rows that are alike stay as they came.
func (t *Table[T]) sort() {
	if t.sorted < 0 {
		if t.reverse {
			slices.Reverse(t.order)
		}
		return
	}
	compare := t.compare(t.sorted)
	slices.SortFunc(t.order, func(a, b int) int {
		order := compare(a, b)
		if t.reverse {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a, b))
	})
}

// compare compares the rows of two indexes by a column. Where it is by text, every
// cell is asked for once.
func (t *Table[T]) compare(column int) func(a, b int) int {
	if compare := t.config.Columns[column].Compare; compare != nil {
		return func(a, b int) int { return compare(t.rows[a], t.rows[b]) }
	}
	cells := make([]string, len(t.rows))
	for _, i := range t.order {
		cells[i] = t.cell(column, t.rows[i]).Text
	}
	return func(a, b int) int { return natural(cells[a], cells[b]) }
}

// passes tells whether a row passes a filter.
func (t *Table[T]) passes(q query.Query, i int) bool {
	if t.asked.row.Text == nil {
		t.asked.row = query.Row{Cell: t.cellOf, Text: t.textOf}
	}
	t.asked.index = i
	if q.Labels() && t.config.Labels != nil {
		t.asked.row.Labels = t.config.Labels(t.rows[i])
	}
	return q.Match(t.asked.row)
}

// asked is the row that a filter looks at: one for all, since there are many.
type asked struct {
	index int
	row   query.Row
}

func (t *Table[T]) cellOf(title string) (string, bool) {
	for column := range t.config.Columns {
		if strings.EqualFold(t.config.Columns[column].Title, title) {
			return t.cell(column, t.rows[t.asked.index]).Text, true
		}
	}
	return "", false
}

func (t *Table[T]) textOf() string {
	if t.texts.byRow == nil {
		t.texts.byRow = make([]string, len(t.rows))
	}
	text := &t.texts.byRow[t.asked.index]
	if *text == "" {
		all := t.texts.scratch[:0]
		for column := range t.config.Columns {
			all = append(all, t.cell(column, t.rows[t.asked.index]).Text...)
			all = append(all, '\n') // no word goes across
		}
		t.texts.scratch = all
		*text = strings.ToLower(string(all))
	}
	return *text
}

// texts are all cells of rows in lower case, as far as they were asked for.
type texts struct {
	byRow []string
	// at is the time that they show.
	at      time.Time
	scratch []byte
}

func (t *texts) reset() { t.byRow = nil }
