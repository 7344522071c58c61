package ink

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

var (
	unicodeSet = &Glyphs{Ellipsis: "…", Cursor: "❯"}
	asciiSet   = &Glyphs{ASCII: true, Ellipsis: "~", Cursor: ">"}
)

// strange are texts that break what counts bytes, or prints what it is given.
var strange = []string{
	"", " ", "a", "花子", "花", "e\u0301\u0301\u0301", "\u0301", "שלום", "مرحبا", "\u202eevil\u2066", "👩‍👩‍👧", "🇩🇪", "a\x1b[2Jb", "\x1b]0;title\x07", "\x9b2J",
	"tab\there", "line\nbreak", "\r\x00\x7f", "\xff\xfe", strings.Repeat("long ", 50), strings.Repeat("花", 40), "\u200b\u200d\ufeff",
}

// Whatever a line holds, it is as wide as it was told, and steers nothing.
func TestFit(t *testing.T) {
	t.Parallel()
	for _, glyphs := range []*Glyphs{unicodeSet, asciiSet} {
		p := Paper{Glyphs: glyphs}
		for _, a := range strange {
			for _, b := range strange {
				line := Line{T(Text, a), {Token: Bad, Selected: true, Text: b}}
				for _, width := range []int{-1, 0, 1, 2, 3, 7, 20, 100} {
					fitted := p.Fit(line, width)
					text := fitted.String()
					if got := ansi.StringWidth(text); got != max(0, width) || got != fitted.Width() {
						t.Fatalf("%q + %q in %d: %d cells (%d by Width): %q", a, b, width, got, fitted.Width(), text)
					}
					for _, r := range text {
						if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u2066' {
							t.Fatalf("%q + %q in %d holds %q: %q", a, b, width, r, text)
						}
					}
				}
			}
		}
	}
}

// What is cut says so; what has room is as it was, and the rest is as selected as
// its end.
func TestFitCuts(t *testing.T) {
	t.Parallel()
	p := Paper{Glyphs: unicodeSet}
	for _, test := range []struct {
		line  Line
		width int
		want  string
	}{
		{L(Text, "abc"), 5, "abc  "},
		{L(Text, "abc"), 3, "abc"},
		{L(Text, "abcd"), 3, "ab…"},
		{Line{T(Text, "abc"), T(Text, "d")}, 3, "ab…"},
		{Line{T(Text, "abc"), T(Text, "  ")}, 3, "abc"},
		{L(Text, "花子"), 3, "花…"},
		{L(Text, "花子花"), 4, "花… "},
		{L(Text, "x"), 0, ""},
		{nil, 2, "  "},
	} {
		if got := p.Fit(test.line, test.width).String(); got != test.want {
			t.Errorf("%q in %d: %q, want %q", test.line, test.width, got, test.want)
		}
	}
	fitted := p.Fit(L(Text, "a").Select(), 4)
	if last := fitted[len(fitted)-1]; !last.Selected || last.Text != "   " {
		t.Errorf("the rest of a selected line: %+v", fitted)
	}
}

func TestShortenFits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"abcdefghij": "abcd…ij", "abcdefg": "abcdefg", "": ""} {
		if got := unicodeSet.Shorten(text, 7); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, text := range strange {
		for width := range 12 {
			if got := unicodeSet.Shorten(unicodeSet.Clean(text), width); ansi.StringWidth(got) > width {
				t.Errorf("%q in %d: %q", text, width, got)
			}
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	lines := []Line{L(Text, "a"), L(Text, "b")}
	for height, want := range map[int]string{-1: "", 0: "", 1: "a", 2: "a|b", 4: "a|b||"} {
		var got []string
		for _, line := range Fill(lines, height) {
			got = append(got, line.String())
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%d: %q, want %q", height, got, want)
		}
	}
}

func TestBeside(t *testing.T) {
	t.Parallel()
	p := Paper{Glyphs: unicodeSet}
	var got []string
	for _, line := range p.Beside(L(Border, "|"), Pane{3, []Line{L(Text, "花子"), L(Text, "b")}}, Pane{2, []Line{L(Text, "x")}}) {
		got = append(got, line.String())
	}
	if want := "花…|x \nb  |  "; strings.Join(got, "\n") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// bracketed shows what is in a look of its own.
type bracketed struct{}

func (bracketed) Sequences(token Token, selected bool) (before, after string) {
	return fmt.Sprintf("<%d%v ", token, selected), ">"
}

// Neighbours of one look share their sequences, and every line is as wide as the paper.
func TestDraw(t *testing.T) {
	t.Parallel()
	p := Paper{Width: 4, Height: 2, Glyphs: unicodeSet}
	got := p.Draw([]Line{{T(Bad, "a"), T(Bad, "b"), T(Good, "c")}, nil}, bracketed{})
	if want := "<7false ab><5false c><0false  >\n<0false     >"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	p := Paper{Glyphs: unicodeSet}
	for _, text := range strange {
		for _, width := range []int{-3, 0, 1, 2, 5, 30} {
			for _, line := range p.Wrap(Text, text, width) {
				if line.Width() > max(2, width) { // a wide sign is never less than two
					t.Errorf("%q in %d: %q", text, width, line)
				}
			}
		}
	}
}
