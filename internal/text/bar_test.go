package text

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		from, to, total time.Duration
		want, ascii     string
	}{
		{0, 80, 80, "██████████", "##########"},
		{0, 40, 80, "█████     ", "#####     "},
		{40, 80, 80, "     █████", "     #####"},
		{20, 44, 80, "  ▐██▌    ", "   ###    "},
		{0, 1, 80, "▏         ", "#         "},
		{0, 0, 80, "▏         ", "#         "},
		{80, 80, 80, "         ▕", "         #"},
		{11, 13, 80, " ▕        ", " #        "},
		{21, 22, 80, "  ▕       ", "   #      "},
		{-5, 200, 80, "██████████", "##########"},
		{50, 40, 80, "      ▏   ", "      #   "},
		{0, 0, 0, "▏         ", "#         "},
	} {
		if got := (Screen{}).Bar(10, c.from, c.to, c.total); got != c.want {
			t.Errorf("from %d to %d of %d: %q, want %q", c.from, c.to, c.total, got, c.want)
		}
		if got := (Screen{ASCII: true}).Bar(10, c.from, c.to, c.total); got != c.ascii {
			t.Errorf("from %d to %d of %d: %q, want %q", c.from, c.to, c.total, got, c.ascii)
		}
	}
	if got := (Screen{}).Bar(0, 0, 1, 1); got != "" {
		t.Errorf("a bar without a width: %q", got)
	}
}

// Whatever is to be drawn, a bar is as wide as it should be and can be seen.
func TestBarAlwaysSeen(t *testing.T) {
	for _, s := range []Screen{{}, {ASCII: true}} {
		for width := 1; width < 6; width++ {
			for from := time.Duration(-3); from < 50; from++ {
				for to := from; to < 50; to++ {
					bar := s.Bar(width, from, to, 47)
					if Width(bar) != width || strings.TrimSpace(bar) == "" {
						t.Fatalf("from %d to %d on %d columns: %q", from, to, width, bar)
					}
				}
			}
		}
	}
}

func TestGauge(t *testing.T) {
	for part, want := range map[float64]string{
		0:           "[        ] 0%",
		0.001:       "[#       ] <1%",
		0.34:        "[###     ] 34%",
		0.5:         "[####    ] 50%",
		0.999:       "[########] >99%",
		1:           "[########] 100%",
		1.2:         "[########] 120%",
		math.Inf(1): "[        ] ?",
	} {
		if got := (Screen{ASCII: true}).Gauge(8, part); got != want {
			t.Errorf("%v: %q, want %q", part, got, want)
		}
	}
	if got := (Screen{}).Gauge(4, 0.5); got != "[██  ] 50%" {
		t.Errorf("got %q", got)
	}
}
