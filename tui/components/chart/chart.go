// Package chart draws figures in text: sparklines, bars, gauges, timelines of a
// start (Gantt), waterfalls of a request, chains of steps. Each returns lines of
// exactly the width it was given, and is a function of its input.
//
// What is drawn can be read without colours: parts of a bar have different signs,
// states have a sign and a word, durations are written out. What is there is never
// too small to be seen, and a bar that is not full is never drawn full.
//
// It may import ink, and of kapi what writes durations.
package chart

import (
	"math"
	"strings"

	"github.com/kapi-dev/kapi/tui/ink"
)

// Spark draws values as a line of heights, the newest at the right. NaN is a gap.
// least is a value that is full height even where all are smaller; 0 scales to the
// largest. Of more values than width the newest are drawn. What is more than 0 is
// higher than 0 is.
func Spark(paper ink.Paper, token ink.Token, values []float64, width int, least float64) ink.Line {
	if width <= 0 {
		return nil
	}
	values = values[max(0, len(values)-width):]
	full := max(0, least)
	if math.IsNaN(full) {
		full = 0
	}
	for _, value := range values {
		if value > full && !math.IsInf(value, 1) {
			full = value
		}
	}
	var b strings.Builder
	for _, value := range values {
		b.WriteString(height(paper.Glyphs.Spark, value, full))
	}
	heights := b.String()
	return ink.Line{
		ink.T(ink.Text, strings.Repeat(" ", max(0, width-ink.Width(heights)))),
		ink.T(token, heights),
	}
}

// height is the sign for a value, of those from the lowest to the full one.
func height(signs []string, value, full float64) string {
	last := len(signs) - 1
	switch {
	case last < 0 || math.IsNaN(value):
		return " "
	case value <= 0:
		return signs[0]
	case value >= full: // infinite as well: it is none of those that full is made of
		return signs[last]
	default:
		return signs[min(last, max(1, int(math.Round(value/full*float64(last)))))]
	}
}

// Bar draws part of whole as a bar of width cells. A whole that is 0 or unknown is
// an empty bar.
func Bar(paper ink.Paper, token ink.Token, part, whole float64, width int) ink.Line {
	if width <= 0 {
		return nil
	}
	halves := share(part, whole, 2*width)
	g := paper.Glyphs
	filled := strings.Repeat(g.Full, halves/2) + strings.Repeat(g.Half, halves%2)
	return paper.Fit(ink.Line{
		ink.T(token, filled),
		ink.T(ink.Border, strings.Repeat(g.Empty, width-halves/2-halves%2)),
	}, width)
}

// share is how many of some pieces part is of whole: none only if there is nothing,
// all only if it is everything.
func share(part, whole float64, pieces int) int {
	switch {
	case !(part > 0) || !(whole > 0) || pieces <= 0: // NaN is neither
		return 0
	case part >= whole:
		return pieces
	default:
		return max(1, min(pieces-1, int(math.Round(part/whole*float64(pieces)))))
	}
}
