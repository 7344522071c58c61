package pagestest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

var update = flag.Bool("update", false, "write the pictures of this run to testdata")

// Sizes are those that every page is drawn at.
var Sizes = [][2]int{{0, 0}, {1, 1}, {3, 2}, {40, 12}, {80, 24}, {120, 40}, {200, 60}}

// Lines are what a page draws, fitted as the application fits them. It fails the
// test where the page does not return exactly as many lines as the paper has, or a
// line is not as wide when it is fitted.
func Lines(t testing.TB, p page.Page, paper ink.Paper) []string {
	t.Helper()
	drawn := p.View(paper)
	if len(drawn) != paper.Height {
		t.Errorf("%s at %dx%d: %d lines", p.Title(), paper.Width, paper.Height, len(drawn))
	}
	lines := make([]string, len(drawn))
	for i, line := range drawn {
		fitted := paper.Fit(line, paper.Width)
		if width := fitted.Width(); width != paper.Width {
			t.Errorf("%s at %dx%d: line %d is %d wide: %q", p.Title(), paper.Width, paper.Height, i, width, fitted)
		}
		lines[i] = strings.TrimRight(fitted.String(), " ")
	}
	return lines
}

// Fits draws a page of a frame at all sizes, while the cursor moves and after
// everything that a page may be told, and then with the signs of ASCII.
func Fits(t testing.TB, p page.Page, frame data.Frame) {
	t.Helper()
	p.Update(frame)
	for _, set := range []string{"unicode", "ascii"} {
		glyphs := Glyphs(t, set)
		for _, size := range Sizes {
			paper := ink.Paper{Width: size[0], Height: size[1], Glyphs: glyphs, Now: frame.Now}
			Lines(t, p, paper)
			if glyphs.ASCII {
				continue
			}
			for _, id := range moves {
				p.Act(page.Action{ID: id, Count: 1})
				p.Offers(id)
				Lines(t, p, paper)
			}
		}
	}
}

var moves = []page.ActionID{
	page.Down, page.HalfDown, page.PageDown, page.Bottom, page.Up, page.HalfUp, page.PageUp, page.Left, page.Right,
	page.NextPart, page.Fold, page.Unhealthy, page.Wide, page.Sort, page.Reverse, page.Down, page.Unhealthy,
	page.UnfoldAll, page.FoldAll, page.UnfoldAll, page.NextMatch, page.PrevMatch, page.Follow, page.PreviousPart, page.Top, page.Wide,
}

// Picture is a page as text.
func Picture(t testing.TB, p page.Page, frame data.Frame, width, height int) string {
	t.Helper()
	p.Update(frame)
	return strings.Join(Lines(t, p, Paper(t, width, height, frame.Now)), "\n") + "\n"
}

// Golden compares pictures of a page with testdata/NAME.WIDTHxHEIGHT.txt, at 80x24
// and 160x48. With -update it writes them.
func Golden(t *testing.T, name string, p page.Page, frame data.Frame) {
	t.Helper()
	for _, size := range [][2]int{{80, 24}, {160, 48}} {
		Compare(t, fmt.Sprintf("%s.%dx%d", name, size[0], size[1]), Picture(t, p, frame, size[0], size[1]))
	}
}

// Compare compares a text with testdata/NAME.txt. With -update it writes it.
func Compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s is not what it was; go test -update shows in the diff what changed\n%s", path, got)
	}
}
