// Package componenttest is for the tests of components: paper to draw on, checks of
// what every frame must be, golden pictures in plain text, and random actions.
package componenttest

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

var update = flag.Bool("update", false, "write golden files anew")

// Now is the time of all tests.
func Now() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

// Glyphs are signs for tests.
func Glyphs() *ink.Glyphs {
	return &ink.Glyphs{
		Cursor: "❯", Changed: "Δ", Ellipsis: "…", Ascending: "↑", Descending: "↓",
		Open: "▾", Closed: "▸", Branch: "├─", Last: "└─", Stem: "│ ",
	}
}

// ASCII are signs of ASCII.
func ASCII() *ink.Glyphs {
	return &ink.Glyphs{
		ASCII: true, Cursor: ">", Changed: "~", Ellipsis: "~", Ascending: "^", Descending: "v",
		Open: "-", Closed: "+", Branch: "|-", Last: "`-", Stem: "| ",
	}
}

// Paper returns paper of a size.
func Paper(width, height int) ink.Paper {
	return ink.Paper{Width: width, Height: height, Glyphs: Glyphs(), Now: Now()}
}

// Plain is what the lines look like without a theme; matches are in angle marks.
func Plain(paper ink.Paper, lines []ink.Line) string {
	var b strings.Builder
	for _, line := range lines {
		var row strings.Builder
		for _, span := range paper.Fit(line, paper.Width) {
			if span.Token == ink.Match {
				span.Text = "«" + span.Text + "»"
			}
			row.WriteString(span.Text)
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return b.String()
}

// Check fails the test where a frame is not as high as the paper, or has a line that
// can't be fitted to its width.
func Check(t testing.TB, paper ink.Paper, lines []ink.Line) {
	t.Helper()
	if len(lines) != max(0, paper.Height) {
		t.Fatalf("%d lines on a paper of %dx%d", len(lines), paper.Width, paper.Height)
	}
	for i, line := range lines {
		if fitted := paper.Fit(line, paper.Width); fitted.Width() != max(0, paper.Width) {
			t.Fatalf("line %d is %d cells wide on a paper of %dx%d: %q", i, fitted.Width(), paper.Width, paper.Height, fitted)
		}
	}
}

// Golden compares a picture with the file testdata/NAME.txt; -update writes it.
func Golden(t *testing.T, name, picture string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(picture), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if picture != string(want) {
		t.Errorf("%s differs (-update writes it anew); got\n%s\nwant\n%s", path, picture, want)
	}
}

// Actions are all that components know, and one that none does.
func Actions() []page.ActionID {
	return []page.ActionID{
		page.Down, page.Up, page.Left, page.Right, page.Top, page.Bottom, page.PageDown, page.PageUp,
		page.HalfDown, page.HalfUp, page.Enter, page.Fold, page.FoldAll, page.UnfoldAll, page.NextMatch,
		page.PrevMatch, page.Sort, page.Reverse, page.Wide, page.Unhealthy, page.Follow, page.Refresh,
	}
}

// Random returns a source that is the same in every run, an action and a size of it.
func Random(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test must be the same in every run, no secret is made
}

// Action is a random action.
func Action(r *rand.Rand) page.Action {
	ids := Actions()
	action := page.Action{ID: ids[r.IntN(len(ids))]}
	if r.IntN(4) == 0 {
		action.Count = []int{-1, 2, 7, 1 << 62}[r.IntN(4)]
	}
	return action
}

// Size is paper of a random size, small ones often.
func Size(r *rand.Rand) ink.Paper {
	paper := Paper(r.IntN(200), r.IntN(60))
	if r.IntN(2) == 0 {
		paper = Paper(r.IntN(12), r.IntN(5))
	}
	if r.IntN(3) == 0 {
		paper.Glyphs = ASCII()
	}
	return paper
}

// Names are those that break screens: wide, combining, right to left, steering,
// empty, long.
func Names() []string {
	return []string{
		"widgets.example.com", "日本語の名前です", "e\u0301te\u0301 combine\u0301", "שלום עולם", "\x1b[31mred\x1b[0m",
		"", "a\tb\nc", "\u202Eevil", "👩‍👩‍👧 family", strings.Repeat("long-", 60) + "end", "\xff\xfe", "İstanbul",
	}
}
