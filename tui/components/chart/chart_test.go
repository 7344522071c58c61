package chart_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/theme"
)

// TestWidths draws all figures at every width: each line is exactly as wide.
func TestWidths(t *testing.T) {
	for _, set := range theme.GlyphNames() {
		paper := paper(t, set)
		for _, picture := range pictures() {
			for width := -1; width <= 200; width++ {
				for i, l := range picture.draw(paper, width) {
					if l.Width() != max(0, width) {
						t.Errorf("%s in %s, %d wide: line %d is %d wide: %q", picture.name, set, width, i, l.Width(), l)
					}
					if clean := paper.Clean(l.String()); clean != l.String() {
						t.Errorf("%s in %s, %d wide: line %d is not clean: %q", picture.name, set, width, i, l)
					}
				}
			}
		}
	}
}

// TestTimelineRows has a row for each stretch at every width, and none of them
// moves the others: a table scrolls by rows.
func TestTimelineRows(t *testing.T) {
	stretches := []chart.Stretch{{Took: 1}, {Label: ink.L(ink.Text, "a")}, {Note: ink.L(ink.Text, "b"), Open: true}}
	for width := range 50 {
		for _, label := range []int{-1, 0, 1, 10, 100} {
			if got := len(chart.Timeline(paper(t, "unicode"), stretches, time.Second, width, label)); got != 4 {
				t.Errorf("%d wide with labels of %d: %d lines", width, label, got)
			}
		}
	}
}

// TestBarsAreNotRoundedAway looks at what is nearly nothing and nearly all.
func TestBarsAreNotRoundedAway(t *testing.T) {
	p := paper(t, "ascii")
	for width := 1; width <= 50; width++ {
		for _, test := range []struct {
			name          string
			part, whole   float64
			empty, filled bool
		}{
			{"nothing", 0, 1, true, false},
			{"a little", 1e-12, 1, width > 1, true},
			{"nearly all", 1 - 1e-12, 1, false, true},
			{"all", 1, 1, false, true},
			{"unknown", math.NaN(), 1, true, false},
		} {
			bar := chart.Bar(p, ink.Good, test.part, test.whole, width).String()
			if strings.Contains(bar, ".") != test.empty || strings.ContainsAny(bar, "#=") != test.filled {
				t.Errorf("%s, %d wide: %q", test.name, width, bar)
			}
			if full := strings.Repeat("#", width); (bar == full) != (test.part >= test.whole) {
				t.Errorf("%s, %d wide, is full or not: %q", test.name, width, bar)
			}
		}
	}
}

// TestEveryStretchIsSeen draws stretches of a nanosecond all over a year.
func TestEveryStretchIsSeen(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for width := 10; width <= 120; width += 7 {
		var stretches []chart.Stretch
		for i := range 101 {
			from := year / 100 * time.Duration(i)
			stretches = append(stretches, chart.Stretch{From: from, Took: 1, Token: ink.Good})
			stretches = append(stretches, chart.Stretch{From: from, Took: year / 2, Own: []chart.Own{{Token: ink.Bad, From: from, Took: 1}}})
		}
		for i, l := range chart.Timeline(paper(t, "ascii"), stretches, year, width, 0)[1:] {
			if strings.Count(l.String(), "#") != 1 {
				t.Errorf("%d wide, stretch %d: %q", width, i, l)
			}
		}
	}
}

// TestMarksAreRound reads the axis of wholes of all sizes.
func TestMarksAreRound(t *testing.T) {
	for _, test := range []struct {
		whole time.Duration
		width int
		want  string
	}{
		{0, 20, "|0"},
		{1, 20, "|0              <1us"},
		{100 * time.Millisecond, 30, "|0             |50ms"},
		{100 * time.Millisecond, 20, "|0        |50ms"},
		{1200 * time.Millisecond, 40, "|0               |500ms          |1s"},
		{90 * time.Second, 40, "|0       |20s     |40s     |1m"},
		{3 * time.Hour, 40, "|0           |1h           |2h"},
		{math.MaxInt64, 8, "|0"},
	} {
		got := chart.Timeline(paper(t, "ascii"), nil, test.whole, test.width, 0)[0].String()
		if strings.TrimSpace(got) != test.want {
			t.Errorf("%s on %d cells:\n got %q\nwant %q", test.whole, test.width, strings.TrimSpace(got), test.want)
		}
	}
}

// TestErrorsAreInFull finds every word of an error at widths that hold its words.
func TestErrorsAreInFull(t *testing.T) {
	for width := 24; width <= 200; width++ {
		var all []string
		for _, l := range chart.Steps(paper(t, "ascii"), way(), width) {
			all = append(all, strings.Fields(strings.TrimPrefix(l.String(), "|"))...)
		}
		drawn := strings.Join(all, " ")
		for _, step := range way() {
			if !strings.Contains(drawn, step.Error) {
				t.Errorf("%d wide: the error of %s is not in %q", width, step.Name, drawn)
			}
		}
	}
}

// TestStripShowsWhatFailed at any width that holds its name.
func TestStripShowsWhatFailed(t *testing.T) {
	for width := 12; width <= 100; width++ {
		if got := chart.Strip(paper(t, "ascii"), way(), width).String(); !strings.Contains(got, "x dial") {
			t.Errorf("%d wide: %q", width, got)
		}
	}
}

// TestSelectedRow has the sign of the cursor and is selected as a whole.
func TestSelectedRow(t *testing.T) {
	p := paper(t, "ascii")
	for _, l := range start(p, 60)[1:] {
		cursor := strings.HasPrefix(l.String(), ">")
		for _, span := range l {
			if span.Selected != cursor {
				t.Errorf("%q of %q is selected: %v", span.Text, l, span.Selected)
			}
		}
	}
}

// TestGaugeParts stand one after the other, each to be seen, and leave the rest empty.
func TestGaugeParts(t *testing.T) {
	p := paper(t, "ascii")
	for _, test := range []struct {
		values [3]float64
		whole  float64
		want   string
	}{
		{[3]float64{2, 3, 0}, 10, "##===....."},
		{[3]float64{2, 3, 5}, 10, "##===-----"},
		{[3]float64{1e-9, 1e-9, 1e-9}, 10, "#=-......."},
		{[3]float64{9, 0.9999, 0}, 10, "#########="},
		{[3]float64{5, 4.9999, 0}, 10, "#####====."},
		{[3]float64{30, 3, 1}, 10, "##########"},
		{[3]float64{1, -5, math.NaN()}, 10, "#........."},
		{[3]float64{math.Inf(1), 1, 1}, 10, "##########"},
		{[3]float64{1, 1, 1}, 0, "#=-......."},
	} {
		var parts []chart.Part
		for i, value := range test.values {
			parts = append(parts, chart.Part{Token: ink.Series1 + ink.Token(i), Value: value})
		}
		parts = append(parts, chart.Part{Token: ink.Muted, Value: 4})
		if got := chart.Gauge(p, parts, test.whole, 10)[0].String(); got != test.want {
			t.Errorf("%v of %v: %q, want %q", test.values, test.whole, got, test.want)
		}
	}
}
