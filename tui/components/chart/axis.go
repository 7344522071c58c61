package chart

import (
	"math"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/tui/ink"
)

// axisLine draws the marks of a time axis, each where its time is: "│0   │50ms ".
// Where there is room for the first one only, the end is written at the end.
func axisLine(paper ink.Paper, whole time.Duration, width int) ink.Line {
	step := markStep(paper, whole, width)
	var line ink.Line
	used := 0
	for at := time.Duration(0); ; at += step {
		column := 0
		if whole > 0 {
			column = int(math.Round(float64(at) / float64(whole) * float64(width)))
		}
		text := markText(paper, at)
		size := ink.Width(paper.Glyphs.Vertical) + ink.Width(text)
		if column+size > width {
			break
		}
		line = append(line,
			ink.T(ink.Text, strings.Repeat(" ", column-used)),
			ink.T(ink.Border, paper.Glyphs.Vertical), ink.T(ink.Muted, text))
		used = column + size
		if step <= 0 || at > whole-step {
			break
		}
	}
	if text := markText(paper, whole); step <= 0 && whole > 0 && used+1+ink.Width(text) <= width {
		line = append(line, ink.T(ink.Muted, ink.PadLeft(text, width-used)))
	}
	return line
}

// markStep is the smallest round distance between marks that leaves them apart; 0
// if there is room for none but the first.
func markStep(paper ink.Paper, whole time.Duration, width int) time.Duration {
	const apart = 2
	for step := range roundSteps {
		if step >= whole {
			return 0
		}
		cells := float64(step) / float64(whole) * float64(width)
		if cells < 1+apart {
			continue
		}
		// The last marks are the widest.
		last := whole - whole%step
		widest := max(ink.Width(markText(paper, last)), ink.Width(markText(paper, max(step, last-step))))
		if cells >= float64(widest+1+apart) {
			return step
		}
	}
	return 0
}

// roundSteps yields round durations: 1, 2 and 5 of each power of ten below ten
// seconds, what clocks and calendars count in above that, and powers of ten of days.
func roundSteps(yield func(time.Duration) bool) {
	for unit := int64(1); unit < int64(10*time.Second); unit *= 10 {
		for _, n := range []int64{1, 2, 5} {
			if !yield(time.Duration(n * unit)) {
				return
			}
		}
	}
	const minute, hour, day = time.Minute, time.Hour, 24 * time.Hour
	for _, step := range []time.Duration{
		10 * time.Second, 20 * time.Second, 30 * time.Second,
		minute, 2 * minute, 5 * minute, 10 * minute, 20 * minute, 30 * minute,
		hour, 2 * hour, 4 * hour, 8 * hour, 12 * hour,
		day, 2 * day, 5 * day, 10 * day, 100 * day, 1000 * day, 10000 * day,
	} {
		if !yield(step) {
			return
		}
	}
}

// markText writes a round time without what is 0 of it: "1m" and not "1m0s".
func markText(paper ink.Paper, at time.Duration) string {
	text := kinds.Took(metav1.Duration{Duration: at})
	if at >= time.Minute {
		// "1h0m0s" loses its seconds first.
		for _, zero := range [][2]string{{"m0s", "m"}, {"h0m", "h"}} {
			if trimmed, ok := strings.CutSuffix(text, zero[0]); ok {
				text = trimmed + zero[1]
			}
		}
	}
	return paper.Clean(text)
}
