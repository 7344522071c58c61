package text

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// eighths are blocks that fill a column of the terminal from the left.
var eighths = [...]string{" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"}

// Stretch is a piece of a time axis.
type Stretch struct {
	From, To time.Duration
	Tone     Tone
}

// Bar draws a stretch of time on an axis of width columns that stands for total:
// blanks, a bar between from and to, and blanks up to width. What is too short for
// the axis has a mark all the same, what lies outside is cut.
func (s Screen) Bar(width int, from, to, total time.Duration) string {
	var bar strings.Builder
	for _, cell := range s.bars(width, total, []Stretch{{From: from, To: to}}) {
		bar.WriteString(cell.Text)
	}
	return bar.String()
}

// bars draws stretches on one axis, a cell for each column. Where two meet in a
// column, the one that fills more of it is seen.
func (s Screen) bars(width int, total time.Duration, stretches []Stretch) []Cell {
	cells := make([]Cell, max(0, width))
	filled := make([]int, len(cells))
	for column := range cells {
		cells[column].Text = " "
		for _, stretch := range stretches {
			first, last := edges(width, total, stretch, s.ASCII)
			from, to := min(8, max(0, first-8*column)), min(8, max(0, last-8*column))
			if to-from <= filled[column] {
				continue
			}
			filled[column] = to - from
			cells[column] = Cell{Text: block(from, to), Tone: stretch.Tone}
			if s.ASCII {
				cells[column].Text = "#"
			}
		}
	}
	return cells
}

// edges are where a stretch begins and ends, in eighths of a column, or in whole
// columns of eight where a column cannot be divided. They differ.
func edges(width int, total time.Duration, stretch Stretch, whole bool) (first, last int) {
	step := 1
	if whole {
		step = 8
	}
	edge := func(at time.Duration) int {
		if total <= 0 {
			return 0
		}
		part := min(1, max(0, float64(at)/float64(total)))
		return step * int(math.Round(part*float64(8*width/step)))
	}
	first = min(edge(stretch.From), 8*width-step)
	return first, max(edge(stretch.To), first+step)
}

// block is what comes nearest to a column that is filled between two eighths of it:
// there are blocks of all widths at its left edge, but only two at the right one.
func block(from, to int) string {
	middle := from + to
	switch {
	case from >= to:
		return " "
	case from <= 1:
		return eighths[to]
	case to == 8 && from <= 5:
		return "▐"
	case to >= 7:
		return "▕"
	case to-from >= 3 && middle < 8:
		return "▌"
	case to-from >= 3:
		return "▐"
	case middle < 8:
		return "▏"
	default:
		return "▕"
	}
}

// Gauge draws how full something is, with the bar width columns wide inside its
// brackets: "[####    ] 50%". What is neither empty nor full is never said to be.
func (s Screen) Gauge(width int, part float64) string {
	if math.IsNaN(part) || math.IsInf(part, 0) {
		return "[" + strings.Repeat(" ", max(0, width)) + "] ?"
	}
	inside := strings.Repeat(" ", max(0, width))
	if part > 0 {
		inside = s.Bar(width, 0, time.Duration(min(1, part)*1e9), 1e9)
	}
	return "[" + inside + "] " + Percent(part)
}

// Percent writes a part of one: "34%", "<1%", ">99%".
func Percent(part float64) string {
	switch {
	case part > 0 && part < 0.01:
		return "<1%"
	case part > 0.99 && part < 1:
		return ">99%"
	default:
		return strconv.FormatFloat(100*part, 'f', 0, 64) + "%"
	}
}
