package sheet

import (
	"strings"

	"github.com/kapi-dev/kapi/tui/ink"
)

// Grid are rows of cells in columns that line up, two cells apart. The last column
// is as wide as it is.
func Grid(paper ink.Paper, rows [][]ink.Span) []ink.Line {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ink.Width(paper.Clean(cell.Text)))
		}
	}
	lines := make([]ink.Line, 0, len(rows))
	for _, row := range rows {
		line := make(ink.Line, 0, len(row))
		for i, cell := range row {
			cell.Text = paper.Clean(cell.Text)
			line = append(line, cell)
			if i < len(row)-1 {
				line = append(line, ink.T(ink.Text, strings.Repeat(" ", widths[i]+2-ink.Width(cell.Text))))
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// Heads are the headings of a grid.
func Heads(titles ...string) []ink.Span {
	cells := make([]ink.Span, len(titles))
	for i, title := range titles {
		cells[i] = ink.T(ink.Muted, strings.ToUpper(title))
	}
	return cells
}

// Or is a text, or a dash that can be overlooked where there is none.
func Or(token ink.Token, text string) ink.Span {
	if text == "" {
		return ink.T(ink.Muted, "-")
	}
	return ink.T(token, text)
}
