package chart

import (
	"strings"

	"github.com/kapi-dev/kapi/tui/ink"
)

// Part is a part of a gauge.
type Part struct {
	// Token is its fill. Text, Muted and Border have none: such a part stands in the
	// legend only, for the whole or for what is free.
	Token ink.Token
	Label string
	Value float64
	// Text is how the value is written.
	Text string
}

// filled tells whether the part is drawn in the bar.
func (p Part) filled() bool {
	return p.Token != ink.Text && p.Token != ink.Muted && p.Token != ink.Border
}

// Gauge is a bar of parts with what they stand for: "in use 400Ki  free 800Ki  quota 8Gi".
// The parts stand one after the other, none of them too small to be seen. The first
// line is the bar, the legend takes as many more as it needs.
func Gauge(paper ink.Paper, parts []Part, whole float64, width int) []ink.Line {
	if width <= 0 {
		return nil
	}
	signs := partSigns(paper.Glyphs, parts)
	return append([]ink.Line{gaugeBar(paper, parts, signs, whole, width)}, legend(paper, parts, signs, width)...)
}

// partSigns are the fills of parts: those of three differ without colours.
func partSigns(g *ink.Glyphs, parts []Part) []string {
	fills := [...]string{g.Full, g.Half, g.Horizontal}
	signs, next := make([]string, len(parts)), 0
	for i, part := range parts {
		signs[i] = g.Empty
		if part.filled() {
			signs[i] = fills[min(next, len(fills)-1)]
			next++
		}
	}
	return signs
}

func gaugeBar(paper ink.Paper, parts []Part, signs []string, whole float64, width int) ink.Line {
	var line ink.Line
	used, sum := 0, 0.0
	for i, part := range parts {
		if !part.filled() || !(part.Value > 0) || used >= width {
			continue
		}
		sum += part.Value
		end := min(width, max(used+1, share(sum, whole, width)))
		line = append(line, ink.T(part.Token, strings.Repeat(signs[i], end-used)))
		used = end
	}
	line = append(line, ink.T(ink.Border, strings.Repeat(paper.Glyphs.Empty, width-used)))
	return paper.Fit(line, width)
}

// legend are what the parts stand for, as many on a line as there is room for.
func legend(paper ink.Paper, parts []Part, signs []string, width int) []ink.Line {
	const gap = 2
	var lines []ink.Line
	var line ink.Line
	for i, part := range parts {
		entry := ink.Line{
			ink.T(part.Token, signs[i]), ink.T(ink.Text, " "),
			ink.T(ink.Name, paper.Clean(part.Label)), ink.T(ink.Text, " "), ink.T(ink.Value, paper.Clean(part.Text)),
		}
		if len(line) > 0 && line.Width()+gap+entry.Width() > width {
			lines, line = append(lines, paper.Fit(line, width)), nil
		}
		if len(line) > 0 {
			line = append(line, ink.T(ink.Text, strings.Repeat(" ", gap)))
		}
		line = append(line, entry...)
	}
	if len(line) > 0 {
		lines = append(lines, paper.Fit(line, width))
	}
	return lines
}
