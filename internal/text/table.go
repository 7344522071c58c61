package text

import (
	"bufio"
	"io"
	"strings"
)

// Cell is one field of a table. Its text may be anything; it is cleaned.
type Cell struct {
	Text string
	Tone Tone
}

// Column is one column of a table.
type Column struct {
	// Name is the heading; it is printed in upper case.
	Name string
	// Right aligns the column to the right, which is for numbers. It is the last to
	// be cut: half a number is a wrong one.
	Right bool
	// Shrink columns are cut before others when the screen is too narrow.
	Shrink bool
	// Middle cuts in the middle: for names that are told apart by both of their ends.
	Middle bool
}

// Table is a table in memory. A row may have fewer cells than there are columns;
// those that are too many are not printed.
type Table struct {
	Columns   []Column
	Rows      [][]Cell
	NoHeaders bool
}

// Write prints the table. No line is wider than the screen, none ends in blanks.
// The error is the writer's.
func (t Table) Write(w io.Writer, s Screen) error {
	rows := cleaned(t.Rows, s)
	l := newLayout(t.Columns, s, t.NoHeaders)
	l.grow(rows)
	out := bufio.NewWriter(w)
	if !t.NoHeaders {
		l.write(out, l.headings())
	}
	for _, row := range rows {
		l.write(out, row)
	}
	return out.Flush()
}

// Stream prints a table whose rows come bit by bit. The first batch decides how
// wide the columns are; a wider cell later widens its column from there on.
type Stream struct {
	out       *bufio.Writer
	layout    *layout
	noHeaders bool
	begun     bool
}

// NewStream begins a table. Nothing is printed before the first row.
func NewStream(w io.Writer, s Screen, columns []Column, noHeaders bool) *Stream {
	return &Stream{out: bufio.NewWriter(w), layout: newLayout(columns, s, noHeaders), noHeaders: noHeaders}
}

// Write prints some rows, at once. The error is the writer's.
func (t *Stream) Write(rows [][]Cell) error {
	if len(rows) == 0 {
		return nil
	}
	rows = cleaned(rows, t.layout.screen)
	t.layout.grow(rows)
	if !t.begun && !t.noHeaders {
		t.layout.write(t.out, t.layout.headings())
	}
	t.begun = true
	for _, row := range rows {
		t.layout.write(t.out, row)
	}
	return t.out.Flush()
}

// cleaned copies rows with texts that are safe to print.
func cleaned(rows [][]Cell, s Screen) [][]Cell {
	result := make([][]Cell, len(rows))
	for i, row := range rows {
		result[i] = make([]Cell, len(row))
		for j, cell := range row {
			result[i][j] = Cell{Text: strings.TrimRight(s.Clean(cell.Text), " "), Tone: cell.Tone}
		}
	}
	return result
}
