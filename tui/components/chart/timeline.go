package chart

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/tui/components/internal/shorten"
	"github.com/kapi-dev/kapi/tui/ink"
)

// Stretch is something that took its time.
type Stretch struct {
	// Label stands left of it, Note right of it.
	Label ink.Line
	Note  ink.Line
	Token ink.Token
	// From is when it began, after the start of the whole; Took how long it took.
	From, Took time.Duration
	// Open is one that goes on.
	Open bool
	// Own are parts of it in another token (a request's way in and back), in order.
	// With them the rest of the stretch is a thin line.
	Own []Own
	// Selected is the row that the cursor is on.
	Selected bool
}

// Own is a part of a stretch.
type Own struct {
	Token      ink.Token
	From, Took time.Duration
}

// Timeline draws stretches under one axis: a Gantt chart of a start, a waterfall of
// a request. label is the width of the labels, 0 as wide as they need (at most a
// third). The first line is the axis; a line for each stretch follows. Notes have a
// column of their own at the right, at most a third wide. Where a stretch is
// selected, the cursor has two cells before all labels. A whole of 0 is as long as
// the stretches need.
func Timeline(paper ink.Paper, stretches []Stretch, whole time.Duration, width, label int) []ink.Line {
	if width <= 0 {
		return make([]ink.Line, len(stretches)+1)
	}
	l := newTimelineLayout(paper, stretches, whole, width, label)
	lines := make([]ink.Line, 0, len(stretches)+1)
	lines = append(lines, paper.Fit(l.row(nil, nil, axisLine(paper, l.whole, l.axis), nil), width))
	names := l.names(stretches)
	for i, s := range stretches {
		cursor := ink.Line{}
		if s.Selected {
			cursor = ink.L(ink.Accent, paper.Glyphs.Cursor)
		}
		line := paper.Fit(l.row(cursor, names[i], l.bar(s), s.Note), width)
		if s.Selected {
			line = line.Select()
		}
		lines = append(lines, line)
	}
	return lines
}

// timelineLayout are the widths of the columns: cursor, labels, axis and notes.
type timelineLayout struct {
	paper                     ink.Paper
	whole                     time.Duration
	cursor, label, axis, note int
}

func newTimelineLayout(paper ink.Paper, stretches []Stretch, whole time.Duration, width, label int) timelineLayout {
	l := timelineLayout{paper: paper, whole: whole}
	widest := 0
	for _, s := range stretches {
		widest = max(widest, l.width(s.Label))
		l.note = max(l.note, l.width(s.Note))
		if s.Selected {
			l.cursor = 2
		}
		if whole <= 0 {
			l.whole = max(l.whole, end(s.From, s.Took))
		}
	}
	l.label = min(label, width)
	if label <= 0 {
		l.label = min(widest, width/3)
	}
	l.note = min(l.note, width/3)
	l.axis = max(0, width-l.cursor-gapped(l.label)-gapped(l.note))
	return l
}

// gapped is a column with the blank beside it, if there is one.
func gapped(width int) int {
	if width <= 0 {
		return 0
	}
	return width + 1
}

func (l timelineLayout) width(line ink.Line) int {
	width := 0
	for _, span := range line {
		width += ink.Width(l.paper.Clean(span.Text))
	}
	return width
}

// row puts a line together; each part is fitted to its column.
func (l timelineLayout) row(cursor, label, axis, note ink.Line) ink.Line {
	line := l.paper.Fit(cursor, l.cursor)
	if l.label > 0 {
		line = append(append(line, l.paper.Fit(label, l.label)...), ink.T(ink.Text, " "))
	}
	line = append(line, l.paper.Fit(axis, l.axis)...)
	if l.note > 0 {
		used := min(l.width(note), l.note)
		line = append(line, ink.T(ink.Text, strings.Repeat(" ", 1+l.note-used)))
		line = append(line, l.paper.Fit(note, used)...)
	}
	return line
}

// names are the labels of all stretches. The last texts of those that are too wide are
// cut together, if there is room enough for some of them.
func (l timelineLayout) names(stretches []Stretch) []ink.Line {
	const least = 6
	labels := make([]ink.Line, len(stretches))
	byRoom := map[int][]int{}
	for i, s := range stretches {
		labels[i] = s.Label
		last := len(s.Label) - 1
		if last < 0 {
			continue
		}
		if room := l.label - l.width(s.Label[:last]); room >= least {
			byRoom[room] = append(byRoom[room], i)
		}
	}
	for room, same := range byRoom {
		texts := make([]string, len(same))
		for n, i := range same {
			texts[n] = l.paper.Clean(labels[i][len(labels[i])-1].Text)
		}
		for n, text := range shorten.Together(l.paper.Glyphs, texts, room) {
			label := slices.Clone(labels[same[n]])
			label[len(label)-1].Text = text
			labels[same[n]] = label
		}
	}
	return labels
}

// cell is what stands in one cell of the axis.
type cell struct {
	token ink.Token
	sign  string
}

// bar draws a stretch on the axis.
func (l timelineLayout) bar(s Stretch) ink.Line {
	if l.axis <= 0 || s.Took <= 0 && !s.Open {
		return nil
	}
	g := l.paper.Glyphs
	first, last := l.edges(s.From, s.Took)
	cells := make([]cell, last)
	for i := range cells[:first] {
		cells[i].sign = " "
	}
	fill := g.Full
	if len(s.Own) > 0 {
		fill = g.Horizontal
	}
	for i := first; i < last; i++ {
		cells[i] = cell{s.Token, fill}
	}
	for _, own := range s.Own {
		if own.Took <= 0 {
			continue
		}
		from, to := l.edges(own.From, own.Took)
		for i := max(first, min(from, last-1)); i < min(last, max(to, first+1)); i++ {
			cells[i] = cell{own.Token, g.Full}
		}
	}
	if s.Open {
		cells[last-1] = cell{s.Token, g.Arrow}
	}
	return joined(cells)
}

// joined makes runs of cells of one token into spans.
func joined(cells []cell) ink.Line {
	var line ink.Line
	for i := 0; i < len(cells); {
		var b strings.Builder
		j := i
		for ; j < len(cells) && cells[j].token == cells[i].token; j++ {
			b.WriteString(cells[j].sign)
		}
		line = append(line, ink.T(cells[i].token, b.String()))
		i = j
	}
	return line
}

// edges are the cells between which something lies, at least one apart.
func (l timelineLayout) edges(from, took time.Duration) (first, last int) {
	first = min(l.column(from), l.axis-1)
	return first, max(l.column(end(from, took)), first+1)
}

// column is where a time is on the axis, from 0 to its width.
func (l timelineLayout) column(at time.Duration) int {
	if l.whole <= 0 {
		return 0
	}
	return int(math.Round(min(1, max(0, float64(at)/float64(l.whole))) * float64(l.axis)))
}

// end is when something ended; sums that are too large are the largest.
func end(from, took time.Duration) time.Duration {
	sum := from + took
	if from > 0 && took > 0 && sum < 0 {
		return math.MaxInt64
	}
	return sum
}
