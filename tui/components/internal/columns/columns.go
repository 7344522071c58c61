// Package columns gives the columns of tables and trees their widths, and cuts
// cells to them. It knows nothing of rows and order.
package columns

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/tui/components/query"
	"github.com/kapi-dev/kapi/tui/ink"
)

const (
	// Gutter is the room before the first column: for the cursor and for marks.
	Gutter = 2
	// gap is between columns.
	gap = 2
	// comfort is the width that a column which stays should have, before others
	// are left out for it.
	comfort = 20
)

// Column is what matters of a column here; see vtable.Column.
type Column struct {
	Title               string
	Right, Keep, Middle bool
	Grow, Min           int
	// Hidden columns take no part.
	Hidden bool
}

// Layout is the widths of columns. They grow with what was seen and never shrink
// until Reset, so that nothing moves sideways while rows come and go. The zero
// Layout is ready.
type Layout struct {
	screen int
	needs  []int
	widths []int
}

// Reset forgets the widths that were seen.
func (l *Layout) Reset() { l.needs, l.widths = nil, nil }

// Begin is before the needs of a screen of this width are told. On another width
// all begins anew.
func (l *Layout) Begin(screen int) {
	if l.screen != screen {
		l.Reset()
		l.screen = screen
	}
}

// Need tells that a cell of a column is so wide.
func (l *Layout) Need(column, width int) {
	if column >= len(l.needs) {
		l.needs = append(l.needs, make([]int, column+1-len(l.needs))...)
	}
	if width > l.needs[column] {
		l.needs[column] = width
		l.widths = nil
	}
}

// Widths returns the width of each column, -1 for those that are not shown. Do not
// change them.
func (l *Layout) Widths(columns []Column) []int {
	for i, column := range columns {
		l.Need(i, ink.Width(column.Title))
	}
	if len(l.widths) == len(columns) {
		return l.widths
	}
	room := max(1, l.screen-Gutter)
	widths, least := make([]int, len(columns)), make([]int, len(columns))
	for i, column := range columns {
		widths[i] = -1
		if column.Hidden {
			continue
		}
		widths[i] = min(room, max(1, l.needs[i]))
		least[i] = squeezed(column, widths[i])
	}
	wanted := drop(columns, widths, least, room)
	squeeze(widths, wanted, room)
	squeeze(widths, least, room)
	grow(columns, widths, room)
	l.widths = widths
	return widths
}

// squeezed is how narrow a column of a width can get.
func squeezed(column Column, width int) int {
	switch {
	case column.Right: // half a number is a wrong one
		return width
	case column.Min > 0:
		return min(width, column.Min)
	default:
		return min(width, max(1, ink.Width(column.Title)))
	}
}

// Shown tells whether a column is on the screen, as far as that is known.
func (l *Layout) Shown(column int) (shown, known bool) {
	if column >= len(l.widths) {
		return false, false
	}
	return l.widths[column] >= 0, true
}

// Cut tells whether a column is narrower than what was seen in it.
func (l *Layout) Cut(column int) bool {
	return column < len(l.widths) && column < len(l.needs) && l.widths[column] < l.needs[column]
}

// used is the room that columns of these widths take.
func used(shown, widths []int) int {
	sum := -gap
	for i, width := range widths {
		if shown[i] >= 0 {
			sum += width + gap
		}
	}
	return max(0, sum)
}

// drop leaves columns out from the right until the rest fits; the first one and
// those to keep stay. It returns the widths with which it fits: those to keep are
// not squeezed as long as others can be.
func drop(columns []Column, widths, least []int, room int) (wanted []int) {
	first := slices.IndexFunc(widths, func(width int) bool { return width >= 0 })
	wanted = slices.Clone(least)
	for i, column := range columns {
		if i == first || column.Keep {
			wanted[i] = max(least[i], min(widths[i], comfort))
		}
	}
	for i := len(columns) - 1; i > first && used(widths, wanted) > room; i-- {
		if !columns[i].Keep {
			widths[i] = -1
		}
	}
	for i := len(columns) - 1; i > first && used(widths, least) > room; i-- {
		widths[i] = -1
	}
	return wanted
}

// squeeze takes from the widest columns what is too much, down to the least widths.
func squeeze(widths, least []int, room int) {
	for excess := used(widths, widths) - room; excess > 0; excess-- {
		widest := -1
		for i, width := range widths {
			if width > least[i] && (widest < 0 || width > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// grow shares out what is left.
func grow(columns []Column, widths []int, room int) {
	shares := 0
	for i, column := range columns {
		if widths[i] >= 0 {
			shares += max(0, column.Grow)
		}
	}
	left := room - used(widths, widths)
	for i, column := range columns {
		if widths[i] < 0 || column.Grow <= 0 || left <= 0 {
			continue
		}
		part := left * column.Grow / shares
		widths[i] += part
		left, shares = left-part, shares-column.Grow
	}
}

// Append appends a cell of a clean text to a line, in the width of its column. The
// words are marked in it. Nothing is appended for a column that is not shown.
func Append(line ink.Line, paper ink.Paper, column Column, width int, span ink.Span, words []string) ink.Line {
	if width < 0 {
		return line
	}
	if len(line) > 1 {
		line = append(line, ink.T(ink.Text, "  "))
	}
	size := ink.Width(span.Text)
	if size > width {
		span.Text = shorten(paper, column, span.Text, width)
		size = ink.Width(span.Text)
	}
	if column.Right {
		line = Blanks(line, width-size)
	}
	line = inked(line, span, words)
	if !column.Right {
		line = Blanks(line, width-size)
	}
	return line
}

// inked appends a text and marks the words in it. Blanks around it are no part of it:
// they would be underlined, too.
func inked(line ink.Line, span ink.Span, words []string) ink.Line {
	text := strings.Trim(span.Text, " ")
	if text == span.Text {
		return query.Mark(line, span, words)
	}
	before := len(span.Text) - len(strings.TrimLeft(span.Text, " "))
	after := len(span.Text) - before - len(text)
	line = Blanks(line, before)
	span.Text = text
	return Blanks(query.Mark(line, span, words), after)
}

// shorten cuts a text that is too wide for its column.
func shorten(paper ink.Paper, column Column, text string, width int) string {
	if column.Middle {
		// Between two wide letters the cut may leave one cell too many.
		if short := paper.Glyphs.Shorten(text, width); ink.Width(short) <= width {
			return short
		}
	}
	return paper.Glyphs.Cut(text, width, true)
}

// blanks is as many as most columns need; a part of it is not made anew.
const blanks = "                                                                "

// Blanks appends blanks to a line.
func Blanks(line ink.Line, count int) ink.Line {
	for ; count > 0; count -= len(blanks) {
		line = append(line, ink.T(ink.Text, blanks[:min(count, len(blanks))]))
	}
	return line
}

// Lead returns the gutter of a row, as the first span of its line.
func Lead(paper ink.Paper, selected, changed bool) ink.Span {
	switch {
	case selected && changed:
		return ink.T(ink.Accent, paper.Glyphs.Cursor+paper.Glyphs.Changed)
	case selected:
		return ink.T(ink.Accent, paper.Glyphs.Cursor+" ")
	case changed:
		return ink.T(ink.Changed, paper.Glyphs.Changed+" ")
	default:
		return ink.T(ink.Text, blanks[:Gutter])
	}
}

// Headings is the line of the titles.
func Headings(paper ink.Paper, columns []Column, widths []int) ink.Line {
	line := append(make(ink.Line, 0, 1+3*len(columns)), Lead(paper, false, false))
	for i, column := range columns {
		line = Append(line, paper, column, widths[i], ink.T(ink.Heading, column.Title), nil)
	}
	return line
}

// Nothing says why the rows of a table, total in number, are all hidden.
func Nothing(paper ink.Paper, total int, filter string, unhealthy bool) []ink.Line {
	switch {
	case filter != "" && unhealthy:
		return Say(paper, fmt.Sprintf("None of %d is unhealthy and matches %s.\nesc clears the filter.", total, filter))
	case filter != "":
		return Say(paper, fmt.Sprintf("None of %d matches %s.\nesc clears the filter.", total, filter))
	default:
		return Say(paper, fmt.Sprintf("None of %d is unhealthy.\nThe same key shows all again.", total))
	}
}

// Say returns a sentence in place of rows, as far to the right as these.
func Say(paper ink.Paper, said string) []ink.Line {
	var lines []ink.Line
	for _, line := range paper.Wrap(ink.Muted, said, paper.Width-2*Gutter) {
		lines = append(lines, append(ink.Line{Lead(paper, false, false)}, line...))
	}
	return lines
}
