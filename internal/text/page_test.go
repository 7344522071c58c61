package text

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func page(t *testing.T, s Screen, show func(*Page)) string {
	t.Helper()
	var out strings.Builder
	p := NewPage(&out, s)
	show(p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSuffix(line, "\n"); s.Width > 0 && !s.Color && Width(line) > s.Width || strings.HasSuffix(line, " ") {
			t.Errorf("too wide, or blanks at the end: %q", line)
		}
	}
	return out.String()
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, nil},
		{"  one   two ", 0, []string{"one two"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 3, []string{"one", "two", "thr", "ee"}},
		{"/a/very/long/path and more", 10, []string{"/a/very/lo", "ng/path", "and more"}},
		{"久保田さん", 5, []string{"久保", "田さ", "ん"}},
		{"e\u0301te\u0301 e\u0301te\u0301", 3, []string{"e\u0301te\u0301", "e\u0301te\u0301"}},
		{"久a", 1, []string{"?", "a"}},
	} {
		if got := Wrap(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// Nothing is lost when a text is wrapped, however long its words are.
func TestWrapKeepsAll(t *testing.T) {
	long := strings.Repeat("久", 20000) + " " + strings.Repeat("e\u0301", 20000) + " " + strings.Repeat("x", 1<<20)
	for _, width := range []int{2, 5, 80, 100000} {
		lines := Wrap(long, width)
		for _, line := range lines {
			if Width(line) > width {
				t.Fatalf("a line of %d in %d columns", Width(line), width)
			}
		}
		if strings.Join(lines, "") != strings.ReplaceAll(long, " ", "") && width < 100000 {
			t.Errorf("in %d columns something is lost", width)
		}
	}
}

func TestPage(t *testing.T) {
	show := func(p *Page) {
		p.Line(Cell{Text: "a title that is quite long, "}, Cell{Text: "and its end", Tone: Bad})
		p.Pairs(Pair{Key: "Name", Value: "x\x1b[2J"}, Pair{Key: "Nothing"}, Pair{Key: "Long name", Value: "久保田 says that it is ready"})
		p.Heading("stack")
		p.Block(2, Dim, "one\n\ttwo, which is a long line\n\n")
		p.Text(2, Warning, "this is wrapped, and indented")
	}
	expect(t, page(t, Screen{Width: 30}, show), `
a title that is quite long, a…
Name:       x`+"\uFFFD"+`[2J
Long name:  久保田 says that
            it is ready

STACK
  one
      two, which is a long li…

  this is wrapped, and
  indented
`)
	expect(t, page(t, Screen{Color: true}, func(p *Page) {
		p.Line(Cell{Text: "  plain "}, Cell{Text: " bad  ", Tone: Bad})
		p.Pairs(Pair{Key: "Name", Value: "x", Tone: Good})
	}), "  plain  \x1b[31mbad\x1b[0m\n\x1b[1mName:\x1b[0m  \x1b[32mx\x1b[0m\n")
	for width := 1; width < 60; width++ {
		page(t, Screen{Width: width}, show)
	}
	p := NewPage(full{}, Screen{})
	show(p)
	if err := p.Close(); !errors.Is(err, errFull) {
		t.Errorf("the writer's error is lost: %v", err)
	}
}

func TestTree(t *testing.T) {
	root := Node{Name: "root", Notes: []string{"a note"}, Children: []Node{
		{Name: "first:", Label: "a label that is too long for its line", Notes: []string{"a note that is too long as well"}, Children: []Node{{Label: "leaf\x1b"}}},
		{Label: "久保田", Tone: Bad, Children: []Node{{Label: "deep", Children: []Node{{Label: "deeper"}}}}},
	}}
	show := func(p *Page) { p.Tree(root) }
	expect(t, page(t, Screen{Width: 30}, show), `
root
│  a note
├─ first: a label that is
│  │  too long for its line
│  │  a note that is too long
│  │  as well
│  └─ leaf`+"\uFFFD"+`
└─ 久保田
   └─ deep
      └─ deeper
`)
	expect(t, page(t, Screen{ASCII: true}, show), `
root
|  a note
|- first: a label that is too long for its line
|  |  a note that is too long as well
|  `+"`"+`- leaf?
`+"`"+`- 久保田
   `+"`"+`- deep
      `+"`"+`- deeper
`)
	for width := 1; width < 60; width++ {
		page(t, Screen{Width: width}, show)
	}
}

func TestWaterfall(t *testing.T) {
	fall := Waterfall{
		Columns: []Column{{Name: "name", Shrink: true, Middle: true}, {Name: "took", Right: true}},
		Rows: []WaterfallRow{
			{Cells: []Cell{{Text: "first"}, {Text: "50ms"}}, Bars: []Stretch{{From: 0, To: 50}}},
			{Cells: []Cell{{Text: "久保田-start-controller"}, {Text: "50µs"}}, Bars: []Stretch{{From: 50, To: 60, Tone: Bad}, {From: 90, To: 100, Tone: Bad}},
				Notes: []Cell{{Text: "error: it did not\nwork out as it should have", Tone: Bad}}},
			{Cells: []Cell{{Text: "never"}}},
		},
		Total: 100, Start: "0", End: "100ms",
	}
	show := func(p *Page) { p.Waterfall(fall) }
	expect(t, page(t, Screen{Width: 40, ASCII: true}, show), `
NAME                  TOOK  0      100ms
first                 50ms  ######
久保田-start-~roller  50us        #    #
    error: it did not work out as it
    should have
never
`)
	expect(t, page(t, Screen{Width: 60}, show), `
NAME                      TOOK   0                     100ms
first                     50ms   █████████████▌
久保田-start-controller   50µs                ▐██▎       ▐██
    error: it did not work out as it should have
never
`)
	for width := 1; width < 200; width++ {
		page(t, Screen{Width: width}, show)
		page(t, Screen{Width: width, ASCII: true}, show)
	}
	fall.Total = 0
	page(t, Screen{Width: 40}, show)
}

func TestFitMiddle(t *testing.T) {
	for width, want := range map[int]string{30: "start-of-a-controller", 21: "start-of-a-controller", 12: "start-of…ler", 3: "st…", 1: "…", 0: ""} {
		if got := (Screen{}).FitMiddle("start-of-a-controller", width); got != want || Width(got) > width {
			t.Errorf("in %d columns: %q, want %q", width, got, want)
		}
	}
	for width := range 20 {
		if got := (Screen{ASCII: true}).FitMiddle("久保田久保田久保田", width); Width(got) > width {
			t.Errorf("in %d columns: %q", width, got)
		}
	}
}
