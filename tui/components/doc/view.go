package doc

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"github.com/kapi-dev/kapi/tui/components/query"
	"github.com/kapi-dev/kapi/tui/ink"
)

// gutter is the room before the text: for the cursor, the sign of a fold, a blank.
const gutter = 3

// View draws what is on the screen, in exactly paper.Height lines. The cursor is
// drawn where the document has anything to fold or to open.
func (d *Document) View(paper ink.Paper) []ink.Line {
	if paper.Width <= 0 || paper.Height <= 0 {
		return ink.Fill(nil, paper.Height)
	}
	if d.paper.Width != paper.Width || d.paper.Glyphs != paper.Glyphs {
		d.stale = true
	}
	d.paper = paper
	d.update()
	d.window.Resize(paper.Height)
	d.across = min(d.across, d.furthest())

	from, to := d.window.Range()
	lines := make([]ink.Line, 0, paper.Height)
	for place := from; place < to; place++ {
		lines = append(lines, d.viewLine(paper, place))
	}
	return ink.Fill(lines, paper.Height)
}

func (d *Document) viewLine(paper ink.Paper, place int) ink.Line {
	i := d.visible[place]
	here := place == d.window.Cursor()
	text := d.lines[i].Line.Line
	if d.word != "" && (!here || !d.cursor) {
		text = query.MarkLine(text, []string{d.word})
	}
	if d.folded(i) {
		text = append(text[:len(text):len(text)], ink.T(ink.Muted, fmt.Sprintf(" %s %s", paper.Glyphs.Ellipsis, count(d.lines[i].below))))
	}
	line := make(ink.Line, 0, len(text)+2)
	line = append(line, d.leadOf(paper, i, here)...)
	line = append(line, shift(paper, text, d.across)...)
	if here && d.cursor {
		return paper.Fit(line, paper.Width).Select()
	}
	return line
}

func count(lines int) string {
	if lines == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", lines)
}

// lead is how wide the gutter is: signs of folds are only where anything folds.
func (d *Document) lead() int {
	if d.folding {
		return gutter
	}
	return gutter - 1
}

// room is how much of a line there is on the screen.
func (d *Document) room() int { return d.paper.Width - d.lead() }

// leadOf is the gutter of a line. Without a cursor the line of the match that was
// gone to has its sign.
func (d *Document) leadOf(paper ink.Paper, i int, here bool) ink.Line {
	cursor, fold := " ", ""
	if here && (d.cursor || d.isMatch(i)) {
		cursor = paper.Glyphs.Cursor
	}
	switch {
	case d.folded(i):
		fold = paper.Glyphs.Closed
	case d.lines[i].below > 0:
		fold = paper.Glyphs.Open
	case d.folding:
		fold = " "
	}
	return ink.Line{ink.T(ink.Accent, cursor), ink.T(ink.Muted, fold+" ")}
}

// shift leaves out the first cells of a line.
func shift(paper ink.Paper, line ink.Line, cells int) ink.Line {
	if cells <= 0 || len(line) == 0 {
		return line
	}
	// The sign that something is missing takes room, too.
	cells += ink.Width(paper.Glyphs.Ellipsis)
	shifted := ink.Line{ink.T(ink.Muted, paper.Glyphs.Ellipsis)}
	for _, span := range line {
		width := ink.Width(span.Text)
		if cells >= width && width > 0 || cells > 0 && width == 0 {
			cells -= width
			continue
		}
		rest := ansi.TruncateLeft(span.Text, cells, "")
		if ink.Width(rest) > width-cells { // half of a wide letter
			rest = ansi.TruncateLeft(span.Text, cells+1, "")
		}
		span.Text = ink.PadLeft(rest, width-cells)
		shifted, cells = append(shifted, span), 0
	}
	return shifted
}

// isMatch tells whether a line holds what is searched for.
func (d *Document) isMatch(i int) bool {
	_, is := slices.BinarySearch(d.found(), i)
	return is
}
