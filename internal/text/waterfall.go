package text

import (
	"bufio"
	"io"
	"strings"
	"time"
)

// Widths of the time axis of a waterfall: at least, at most, and where the screen
// has no width of its own.
const (
	leastAxis = 12
	mostAxis  = 72
	freeAxis  = 50
)

// Waterfall is a table whose last column is a time axis that all rows share.
type Waterfall struct {
	Columns []Column
	Rows    []WaterfallRow
	// Total is how long the axis is. Start and End are written above its ends.
	Total      time.Duration
	Start, End string
}

// WaterfallRow is a row, and what stands beneath it.
type WaterfallRow struct {
	Cells []Cell
	Bars  []Stretch
	// Notes are lines beneath the row, each wrapped and indented.
	Notes []Cell
}

// noteIndent is how far notes are indented.
const noteIndent = 4

// Write prints the waterfall. The axis takes what the columns leave; where that is
// too little, the columns are cut as in a table. The error is the writer's.
func (f Waterfall) Write(w io.Writer, s Screen) error {
	rows := make([][]Cell, len(f.Rows))
	for i, row := range f.Rows {
		rows[i] = row.Cells
	}
	rows = cleaned(rows, s)
	l := newLayout(f.Columns, s, false)
	l.grow(rows)
	axis := l.axis()

	out := bufio.NewWriter(w)
	start, end := s.Clean(f.Start), s.Clean(f.End)
	legend := start + strings.Repeat(" ", max(1, axis-Width(start)-Width(end))) + end
	f.line(out, l, l.headings(), []Cell{{Text: legend, Tone: Heading}})
	for i, row := range f.Rows {
		var bars []Cell
		if len(row.Bars) > 0 {
			bars = merged(s.bars(axis, f.Total, row.Bars))
		}
		f.line(out, l, rows[i], bars)
		f.notes(out, s, row.Notes)
	}
	return out.Flush()
}

func (f Waterfall) line(out *bufio.Writer, l *layout, row, bars []Cell) {
	line := lineBuilder{screen: l.screen}
	l.put(&line, row)
	line.pad(l.gap)
	for _, bar := range bars {
		line.put(bar.Tone, bar.Text)
	}
	_, _ = out.WriteString(line.String() + "\n") // Flush reports the error
}

func (f Waterfall) notes(out *bufio.Writer, s Screen, notes []Cell) {
	for _, note := range notes {
		for _, text := range Wrap(s.Clean(note.Text), s.room(noteIndent)) {
			line := lineBuilder{screen: s}
			line.pad(noteIndent)
			line.put(note.Tone, text)
			_, _ = out.WriteString(line.String() + "\n") // Flush reports the error
		}
	}
}

// axis fits the columns beside a time axis, and returns how wide that is.
func (l *layout) axis() int {
	if l.screen.Width <= 0 {
		return freeAxis
	}
	whole := l.screen
	left := -l.excess() - l.gap // what the columns leave of the screen
	axis := max(min(mostAxis, left), min(leastAxis, whole.Width/3))
	l.screen.Width = max(1, whole.Width-axis-narrowGap)
	l.fit()
	l.screen = whole
	return min(mostAxis, max(1, -l.excess()-l.gap))
}

// merged joins neighbours of one tone.
func merged(cells []Cell) []Cell {
	var runs []Cell
	for _, cell := range cells {
		if last := len(runs) - 1; last >= 0 && (runs[last].Tone == cell.Tone || cell.Text == " ") {
			runs[last].Text += cell.Text
			continue
		}
		runs = append(runs, cell)
	}
	return runs
}
