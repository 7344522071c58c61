package tree

import (
	"github.com/kapi-dev/kapi/tui/components/internal/columns"
	"github.com/kapi-dev/kapi/tui/components/query"
	"github.com/kapi-dev/kapi/tui/ink"
)

// View draws headings and nodes, in exactly paper.Height lines.
func (t *Tree) View(paper ink.Paper) []ink.Line {
	if paper.Width <= 0 || paper.Height <= 0 {
		return ink.Fill(nil, paper.Height)
	}
	t.update()
	body := paper.Height
	if body > 1 {
		body--
	}
	t.window.Resize(body)
	if len(t.visible) == 0 {
		return ink.Fill(t.viewEmpty(paper), paper.Height)
	}

	shown := t.columns(paper)
	t.layout.Begin(paper.Width)
	from, to := t.window.Range()
	labels := make([]ink.Line, 0, to-from)
	for _, i := range t.visible[from:to] {
		labels = append(labels, t.label(paper, i))
		t.layout.Need(0, labels[len(labels)-1].Width())
		for at, cell := range t.cells(i) {
			t.layout.Need(at+1, ink.Width(paper.Clean(cell.Text)))
		}
	}
	widths := t.layout.Widths(shown)
	lines := make([]ink.Line, 0, paper.Height)
	if body < paper.Height {
		lines = append(lines, columns.Headings(paper, shown, widths))
	}
	for at, label := range labels {
		lines = append(lines, t.viewNode(paper, shown, widths, from+at, label))
	}
	return ink.Fill(lines, paper.Height)
}

// columns are the columns for the layout: the label stays, the cells go from the right.
func (t *Tree) columns(paper ink.Paper) []columns.Column {
	all := make([]columns.Column, max(1, len(t.titles)))
	for i, title := range t.titles {
		all[i].Title = paper.Clean(title)
	}
	all[0].Keep, all[0].Min = true, paper.Width*3/5
	return all
}

// cells are those of an entry that have a column.
func (t *Tree) cells(i int) []ink.Span {
	cells := t.entries[i].Cells
	return cells[:max(0, min(len(cells), len(t.titles)-1))]
}

// label is the label of an entry with the lines of the tree before it.
func (t *Tree) label(paper ink.Paper, i int) ink.Line {
	e := &t.entries[i]
	stems := ""
	for at := i; t.entries[at].parent >= 0; at = t.entries[at].parent {
		stems = t.stem(paper, at, at == i) + stems
	}
	sign := ""
	switch {
	case e.below > 0 && t.folded(i):
		sign = paper.Glyphs.Closed + " "
	case e.below > 0:
		sign = paper.Glyphs.Open + " "
	case e.parent < 0:
		sign = "  " // in line with the roots that fold
	}
	name := e.Label
	name.Text = paper.Clean(name.Text)
	return ink.Line{ink.T(ink.Border, stems), ink.T(ink.Muted, sign), name}
}

// stem is the part of the tree's lines for an entry, before itself or before what is
// below it.
func (t *Tree) stem(paper ink.Paper, at int, own bool) string {
	last := t.lastBelow[t.entries[at].parent+1] == at
	switch {
	case own && last:
		return paper.Glyphs.Last + " "
	case own:
		return paper.Glyphs.Branch + " "
	case last:
		return "   "
	default:
		return paper.Glyphs.Stem + " "
	}
}

func (t *Tree) viewNode(paper ink.Paper, shown []columns.Column, widths []int, place int, label ink.Line) ink.Line {
	i := t.visible[place]
	selected := place == t.window.Cursor()
	words := t.query.Words()
	if selected {
		words = nil
	}
	line := append(make(ink.Line, 0, 4+3*len(shown)), columns.Lead(paper, selected, t.entries[i].Changed))
	if label.Width() > widths[0] {
		label = paper.Fit(label, widths[0])
	}
	padding := widths[0] - label.Width()
	if len(words) > 0 {
		label = query.MarkLine(label, words)
	}
	line = append(line, label...)
	line = columns.Blanks(line, padding)
	for at, cell := range t.cells(i) {
		cell.Text = paper.Clean(cell.Text)
		line = columns.Append(line, paper, shown[at+1], widths[at+1], cell, words)
	}
	if selected {
		return paper.Fit(line, paper.Width).Select()
	}
	return line
}

// viewEmpty says why there is nothing.
func (t *Tree) viewEmpty(paper ink.Paper) []ink.Line {
	if len(t.entries) == 0 {
		return columns.Say(paper, "There is nothing here.")
	}
	return columns.Nothing(paper, len(t.entries), t.filter, t.unhealthy)
}
