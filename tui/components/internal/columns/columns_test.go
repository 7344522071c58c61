package columns_test

import (
	"slices"
	"testing"

	"github.com/kapi-dev/kapi/tui/components/internal/columns"
	ct "github.com/kapi-dev/kapi/tui/components/internal/componenttest"
	"github.com/kapi-dev/kapi/tui/ink"
)

func TestWidths(t *testing.T) {
	all := []columns.Column{
		{Title: "NAME"}, {Title: "COUNT", Right: true}, {Title: "STATE", Keep: true}, {Title: "NOTE", Grow: 1}, {Title: "ID", Hidden: true},
	}
	needs := []int{30, 7, 8, 20, 40}
	for _, test := range []struct {
		screen int
		want   []int
	}{
		{100, []int{30, 7, 8, 47, -1}},
		{73, []int{30, 7, 8, 20, -1}},
		{63, []int{20, 7, 8, 20, -1}}, // the widest are squeezed
		{53, []int{20, 7, 8, 10, -1}}, // those that stay no further than this
		{46, []int{25, 7, 8, -1, -1}}, // but others go
		{35, []int{23, -1, 8, -1, -1}},
		{20, []int{8, -1, 8, -1, -1}},
		{9, []int{7, -1, -1, -1, -1}},
		{1, []int{1, -1, -1, -1, -1}},
	} {
		var layout columns.Layout
		layout.Begin(test.screen)
		for i, need := range needs {
			layout.Need(i, need)
		}
		if got := layout.Widths(all); !slices.Equal(got, test.want) {
			t.Errorf("on %d cells: %v, want %v", test.screen, got, test.want)
		}
	}
}

func TestGrowShares(t *testing.T) {
	var layout columns.Layout
	layout.Begin(62)
	got := layout.Widths([]columns.Column{{Title: "AAAAA", Grow: 1}, {Title: "BBBBB"}, {Title: "CCCCC", Grow: 3}})
	if want := []int{5 + 10, 5, 5 + 31}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRandom(t *testing.T) {
	r := ct.Random(5)
	for range 3000 {
		all := make([]columns.Column, 1+r.IntN(8))
		for i := range all {
			all[i] = columns.Column{
				Title: "TITLE"[:r.IntN(6)], Right: r.IntN(3) == 0, Keep: r.IntN(3) == 0, Grow: r.IntN(3) - 1, Min: r.IntN(30) - 5, Hidden: r.IntN(5) == 0,
			}
		}
		var layout columns.Layout
		screen := r.IntN(150)
		layout.Begin(screen)
		for range 5 {
			layout.Need(r.IntN(len(all)), r.IntN(100))
			used, shown := 0, 0
			for i, width := range layout.Widths(all) {
				switch {
				case width == 0, width > 0 && all[i].Hidden:
					t.Fatalf("column %d of %+v is %d wide", i, all, width)
				case width > 0:
					used += width
					shown++
				}
			}
			used += columns.Gutter + 2*max(0, shown-1)
			if used > max(screen, columns.Gutter+1) {
				t.Fatalf("%d cells are used of %d by %+v", used, screen, all)
			}
			if shown == 0 && slices.ContainsFunc(all, func(c columns.Column) bool { return !c.Hidden }) {
				t.Fatalf("nothing is shown of %+v", all)
			}
		}
	}
}

func TestAppend(t *testing.T) {
	paper := ct.Paper(80, 24)
	for _, test := range []struct {
		column columns.Column
		width  int
		text   string
		want   string
	}{
		{columns.Column{}, 6, "abc", "abc   "},
		{columns.Column{Right: true}, 6, "abc", "   abc"},
		{columns.Column{}, 6, "abcdefgh", "abcde…"},
		{columns.Column{Middle: true}, 7, "abcdefghij", "abcd…ij"},
		{columns.Column{}, 6, "日本語の", "日本… "},
		{columns.Column{Middle: true}, 7, "日本語の名前", "日本…前"},
		{columns.Column{}, -1, "abc", ""},
		{columns.Column{}, 1, "日本", "…"},
	} {
		lead := ink.Line{columns.Lead(paper, false, false)}
		line := columns.Append(lead, paper, test.column, test.width, ink.T(ink.Text, test.text), nil)
		if got := line[1:].String(); got != test.want {
			t.Errorf("%q in %d cells of %+v is %q, want %q", test.text, test.width, test.column, got, test.want)
		}
		if width := line[1:].Width(); width != max(0, test.width) {
			t.Errorf("%q in %d cells takes %d", test.text, test.width, width)
		}
	}
}
