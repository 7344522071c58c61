package tree

import (
	"github.com/kapi-dev/kapi/tui/components/internal/columns"
	"github.com/kapi-dev/kapi/tui/components/internal/shorten"
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
	shortenLabels(paper, labels, widths[0])
	lines := make([]ink.Line, 0, paper.Height)
	if body < paper.Height {
		lines = append(lines, columns.Headings(paper, shown, widths))
	}
	for at, label := range labels {
		lines = append(lines, t.viewNode(paper, shown, widths, from+at, label))
	}
	return ink.Fill(lines, paper.Height)
}

// Widths of columns: a cell is cut only beyond wideCell, a label never below leastLabel,
// or a third of the screen.
const (
	wideCell   = 28
	leastLabel = 12
)

// columns are the columns for the layout: cells are figures and states, which must be
// whole; the label gets what they leave. Where that is too little, cells go from the
// right.
func (t *Tree) columns(paper ink.Paper) []columns.Column {
	all := make([]columns.Column, max(1, len(t.titles)))
	for i, title := range t.titles {
		all[i].Title, all[i].Min = paper.Clean(title), wideCell
	}
	all[0].Keep, all[0].Min = true, max(leastLabel, paper.Width/3)
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

// shortenLabels cuts the names in labels that are too wide, those of one depth together.
func shortenLabels(paper ink.Paper, labels []ink.Line, width int) {
	const least = 6
	byRoom := map[int][]int{}
	for i, label := range labels {
		last := len(label) - 1
		if room := width - label[:last].Width(); room >= least {
			byRoom[room] = append(byRoom[room], i)
		}
	}
	for room, same := range byRoom {
		names := make([]string, len(same))
		for n, i := range same {
			names[n] = labels[i][len(labels[i])-1].Text
		}
		for n, name := range shorten.Together(paper.Glyphs, names, room) {
			labels[same[n]][len(labels[same[n]])-1].Text = name
		}
	}
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
