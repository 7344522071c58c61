package vtable

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/tui/components/internal/columns"
	"github.com/kapi-dev/kapi/tui/components/internal/shorten"
	"github.com/kapi-dev/kapi/tui/ink"
)

// outdated is the age from which the texts that a filter looks at are made anew:
// they have ages in them.
const outdated = 5 * time.Second

// View draws headings and rows, in exactly paper.Height lines.
func (t *Table[T]) View(paper ink.Paper) []ink.Line {
	if paper.Width <= 0 || paper.Height <= 0 {
		return ink.Fill(nil, paper.Height)
	}
	t.tick(paper.Now)
	t.arrange()
	body := paper.Height
	if body > 1 {
		body--
	}
	t.window.Resize(body)
	if len(t.order) == 0 {
		return ink.Fill(t.viewEmpty(paper), paper.Height)
	}

	shown := t.columns(paper)
	t.layout.Begin(paper.Width)
	from, to := t.window.Range()
	t.prepare(paper, shown, from, to)
	widths := t.layout.Widths(shown)
	t.shorten(paper, shown, widths)
	lines := make([]ink.Line, 0, paper.Height)
	if body < paper.Height {
		lines = append(lines, columns.Headings(paper, shown, widths))
	}
	for place := from; place < to; place++ {
		lines = append(lines, t.viewRow(paper, shown, widths, place, t.cells[(place-from)*len(shown):]))
	}
	return ink.Fill(lines, paper.Height)
}

// tick sets the time. Without a filter it costs nothing.
func (t *Table[T]) tick(now time.Time) {
	if t.now.IsZero() {
		t.now = now
		t.dirty, t.texts.at = true, now
		t.texts.reset()
	}
	t.now = now
	if t.query.Zero() {
		return
	}
	if now.Sub(t.texts.at).Abs() > outdated {
		t.texts.reset()
		t.texts.at, t.dirty = now, true
	}
}

// columns are the columns for the layout.
func (t *Table[T]) columns(paper ink.Paper) []columns.Column {
	all := make([]columns.Column, len(t.config.Columns))
	for i, column := range t.config.Columns {
		all[i] = columns.Column{
			Title: paper.Clean(column.Title), Right: column.Right, Keep: column.Keep, Middle: column.Middle,
			Grow: column.Grow, Min: column.Min, Hidden: column.Wide && !t.wide,
		}
		if i == t.sorted {
			all[i].Title += t.arrow(paper)
		}
	}
	return all
}

func (t *Table[T]) arrow(paper ink.Paper) string {
	if t.reverse {
		return paper.Glyphs.Descending
	}
	return paper.Glyphs.Ascending
}

// shown tells whether a column is on the screen.
func (t *Table[T]) shown(column int) bool {
	if shown, known := t.layout.Shown(column); known {
		return shown
	}
	return t.wide || !t.config.Columns[column].Wide
}

// cell is a cell as its column gives it.
func (t *Table[T]) cell(column int, row T) ink.Span {
	if cell := t.config.Columns[column].Cell; cell != nil {
		return cell(row, t.now)
	}
	return ink.Span{}
}

// prepare asks for the cells on the screen and measures them.
func (t *Table[T]) prepare(paper ink.Paper, shown []columns.Column, from, to int) {
	t.cells = t.cells[:0]
	for place := from; place < to; place++ {
		row := t.at(place)
		for i := range shown {
			var span ink.Span
			if !shown[i].Hidden {
				span = t.cell(i, row)
				span.Text = paper.Clean(span.Text)
				t.layout.Need(i, ink.Width(span.Text))
			}
			t.cells = append(t.cells, span)
		}
	}
}

// shorten cuts the cells of columns that are cut in the middle, all of a column
// together: rows that differ must not read the same.
func (t *Table[T]) shorten(paper ink.Paper, shown []columns.Column, widths []int) {
	for i, column := range shown {
		if !column.Middle || widths[i] < 0 || !t.layout.Cut(i) {
			continue
		}
		texts := make([]string, 0, len(t.cells)/len(shown))
		for at := i; at < len(t.cells); at += len(shown) {
			texts = append(texts, t.cells[at].Text)
		}
		for row, text := range shorten.Together(paper.Glyphs, texts, widths[i]) {
			t.cells[row*len(shown)+i].Text = text
		}
	}
}

func (t *Table[T]) viewRow(paper ink.Paper, shown []columns.Column, widths []int, place int, cells []ink.Span) ink.Line {
	selected := place == t.window.Cursor()
	changed := t.marked != nil && t.marked(t.at(place))
	words := t.query.Words()
	if selected {
		words = nil
	}
	line := append(make(ink.Line, 0, 1+3*len(shown)), columns.Lead(paper, selected, changed))
	for i, column := range shown {
		line = columns.Append(line, paper, column, widths[i], cells[i], words)
	}
	if selected {
		return paper.Fit(line, paper.Width).Select()
	}
	return line
}

// viewEmpty says why there is nothing.
func (t *Table[T]) viewEmpty(paper ink.Paper) []ink.Line {
	if len(t.rows) == 0 {
		return columns.Say(paper, t.config.Empty)
	}
	return columns.Nothing(paper, len(t.rows), t.filter, t.unhealthy)
}

// Status says what is shown in few words: "12 of 340, by AGE down, only unhealthy".
func (t *Table[T]) Status() string {
	t.arrange()
	said := []string{strconv.Itoa(len(t.rows))}
	if len(t.order) != len(t.rows) {
		said[0] = fmt.Sprintf("%d of %d", len(t.order), len(t.rows))
	}
	sorted := ""
	if t.sorted >= 0 {
		sorted = "by " + t.config.Columns[t.sorted].Title
		if t.reverse {
			sorted += " down"
		}
	} else if t.reverse {
		sorted = "reversed"
	}
	for _, each := range []struct {
		said string
		is   bool
	}{{sorted, sorted != ""}, {"only unhealthy", t.unhealthy}, {"wide", t.wide}, {"following", t.following}} {
		if each.is {
			said = append(said, each.said)
		}
	}
	return strings.Join(said, ", ")
}
