package text

import (
	"bufio"
	"slices"
	"strings"
)

// Gaps between columns, and how narrow a column may become for lack of room.
const (
	wideGap   = 3
	narrowGap = 2
	leastCell = 8
	leastHead = 5
	leastName = 20
)

// layout decides how wide the columns of a table are. Invariant: natural holds the
// widest cell that was seen of each column, content the same without the headings,
// widths what is printed of it.
type layout struct {
	columns          []Column
	screen           Screen
	natural, content []int
	widths           []int
	gap              int
}

func newLayout(columns []Column, s Screen, noHeaders bool) *layout {
	l := &layout{columns: columns, screen: s, natural: make([]int, len(columns)), content: make([]int, len(columns))}
	if !noHeaders {
		measure(l.natural, l.headings())
	}
	l.fit()
	return l
}

func (l *layout) headings() []Cell {
	row := make([]Cell, len(l.columns))
	for i, column := range l.columns {
		row[i] = Cell{Text: strings.ToUpper(l.screen.Clean(column.Name)), Tone: Heading}
	}
	return row
}

// grow makes room for rows.
func (l *layout) grow(rows [][]Cell) {
	for _, row := range rows {
		measure(l.natural, row)
		measure(l.content, row)
	}
	l.fit()
}

// measure makes widths at least those of a row.
func measure(widths []int, row []Cell) {
	for i, cell := range row[:min(len(row), len(widths))] {
		widths[i] = max(widths[i], Width(cell.Text))
	}
}

// fit gives each column its natural width, and takes from them in turn what the
// screen does not have. Where that is enough, only from headings that are wider than
// what is under them; else from columns that may shrink, then from other texts,
// then from the first column, which is the name, and at last from headings.
func (l *layout) fit() {
	l.widths, l.gap = slices.Clone(l.natural), wideGap
	if l.screen.Width <= 0 || l.excess() <= 0 {
		return
	}
	l.gap = narrowGap
	if l.spare() >= l.excess() {
		l.behead()
	}
	turns := []func(int) bool{
		func(i int) bool { return l.columns[i].Shrink },
		func(i int) bool { return i > 0 && !l.columns[i].Right },
		func(i int) bool { return i == 0 && !l.columns[i].Right },
	}
	for _, may := range turns {
		for narrowed := true; narrowed && l.excess() > 0; {
			narrowed = l.narrow(may)
		}
	}
	l.behead()
}

// spare is how much can be had from headings.
func (l *layout) spare() int {
	total := 0
	for i, width := range l.widths {
		total += max(0, width-max(l.content[i], leastHead))
	}
	return total
}

// behead cuts headings, a column at a time where most is to be had: half a heading
// still tells what the column is, half a value does not tell what it is.
func (l *layout) behead() {
	for l.excess() > 0 {
		most, from := 0, -1
		for i, width := range l.widths {
			if spare := width - max(l.content[i], leastHead); spare > most {
				most, from = spare, i
			}
		}
		if from < 0 {
			return
		}
		l.widths[from]--
	}
}

// excess is by how many columns of the terminal the table is too wide.
func (l *layout) excess() int {
	total := l.gap * (len(l.widths) - 1)
	for _, width := range l.widths {
		total += width
	}
	return total - l.screen.Width
}

// narrow takes one from the widest of those columns that may be narrowed. It is
// false when there is none left.
func (l *layout) narrow(may func(int) bool) bool {
	widest := -1
	for i, width := range l.widths {
		if may(i) && width > l.least(i) && (widest < 0 || width > l.widths[widest]) {
			widest = i
		}
	}
	if widest < 0 {
		return false
	}
	l.widths[widest]--
	return true
}

// least is how narrow a column may become. A name that is cut too far names nothing;
// rather is the end of the line cut.
func (l *layout) least(i int) int {
	if i == 0 {
		return leastName
	}
	return leastCell
}

// write prints one row of cleaned cells.
func (l *layout) write(out *bufio.Writer, row []Cell) {
	line := lineBuilder{screen: l.screen}
	l.put(&line, row)
	_, _ = out.WriteString(line.String() + "\n") // Flush reports the error
}

// put adds the cells of a row to a line, with blanks for those that are missing.
func (l *layout) put(line *lineBuilder, row []Cell) {
	for i, column := range l.columns {
		if i > 0 {
			line.pad(l.gap)
		}
		var cell Cell
		if i < len(row) {
			cell = row[i]
		}
		text := l.cut(column, cell.Text, l.widths[i])
		rest := l.widths[i] - Width(text)
		if column.Right {
			line.pad(rest)
			rest = 0
		}
		line.put(cell.Tone, text)
		line.pad(rest)
	}
}

func (l *layout) cut(column Column, text string, width int) string {
	if column.Middle {
		return l.screen.FitMiddle(text, width)
	}
	return l.screen.Fit(text, width)
}
