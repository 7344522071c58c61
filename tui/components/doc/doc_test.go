package doc_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/tui/components/doc"
	ct "github.com/kapi-dev/kapi/tui/components/internal/componenttest"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// outline renders lines whose blanks at the beginning are their level. A line that
// ends in ">" opens a page, one that ends in "+" is folded at first.
func outline(text string) doc.Render {
	return func(ink.Paper) []doc.Line {
		var lines []doc.Line
		for _, each := range strings.Split(strings.Trim(text, "\n"), "\n") {
			name := strings.TrimLeft(each, " ")
			line := doc.Line{Line: ink.L(ink.Text, each), Level: len(each) - len(name), Key: name}
			if strings.HasSuffix(name, ">") {
				line.Open = page.At("object", name)
			}
			line.Folded = strings.HasSuffix(name, "+")
			lines = append(lines, line)
		}
		return lines
	}
}

const conditions = `
Widgets
 Established
  since 3m
  by the controller
 Names
  accepted
Versions +
 v1
  served
 v2
Service >
`

func opened(render doc.Render, paper ink.Paper) *doc.Document {
	var d doc.Document
	d.Set(render)
	d.View(paper)
	return &d
}

func do(d *doc.Document, ids ...page.ActionID) {
	for _, id := range ids {
		d.Act(page.Action{ID: id})
	}
}

func at(d *doc.Document) string {
	line, ok := d.Selected()
	if !ok {
		return ""
	}
	return line.Key
}

func filter(t *testing.T, d *doc.Document, text string) {
	t.Helper()
	if err := d.Filter(text); err != nil {
		t.Fatal(err)
	}
}

func TestPictures(t *testing.T) {
	for _, size := range [][2]int{{30, 8}, {80, 12}} {
		paper := ct.Paper(size[0], size[1])
		var b strings.Builder
		show := func(what string, d *doc.Document) {
			lines := d.View(paper)
			ct.Check(t, paper, lines)
			fmt.Fprintf(&b, "# %s\n%s= %s\n\n", what, ct.Plain(paper, lines), d.Status())
		}
		d := opened(outline(conditions), paper)
		show("at first", d)
		do(d, page.Down, page.Enter)
		show("folded", d)
		filter(t, d, "SERV")
		show("searched", d)
		do(d, page.NextMatch)
		show("next match", d)
		do(d, page.FoldAll)
		show("all folded", d)
		filter(t, d, "")
		do(d, page.UnfoldAll)
		show("all unfolded", d)

		d = opened(doc.Text("goroutine 1 [running]:\n\tmain.main()\r\n\t\t/src/日本語の/main.go:12 +0x1d, which is a long line, longer than the screen is wide\n\x1b[31mred\n"+strings.Repeat("and on\n", 20)+"the end"), paper)
		show("text", d)
		do(d, page.Right, page.Right, page.Down)
		show("to the right", d)
		filter(t, d, "end")
		show("text searched", d)

		render, err := doc.YAML(object())
		if err != nil {
			t.Fatal(err)
		}
		d = opened(render, paper)
		show("yaml", d)
		do(d, page.Bottom)
		show("the end of yaml", d)
		filter(t, d, "name: con")
		show("yaml searched", d)
		ct.Golden(t, fmt.Sprintf("doc-%dx%d", size[0], size[1]), b.String())
	}
}

func TestFolding(t *testing.T) {
	d := opened(outline(conditions), ct.Paper(40, 20))
	if d.Act(page.Action{ID: page.Down, Count: 3}); at(d) != "by the controller" {
		t.Fatalf("the cursor is on %q", at(d))
	}
	if d.Offers(page.Enter) || d.Act(page.Action{ID: page.Enter}) {
		t.Error("enter does something where nothing folds or opens")
	}
	if do(d, page.Fold); at(d) != "Established" {
		t.Errorf("fold within a part: the cursor is on %q", at(d))
	}
	if do(d, page.Down); at(d) != "Names" {
		t.Errorf("after the folded part comes %q", at(d))
	}
	do(d, page.UnfoldAll, page.Down)
	if do(d, page.FoldAll); at(d) != "Widgets" {
		t.Errorf("all folded: the cursor is on %q", at(d))
	}
	if do(d, page.Bottom); at(d) != "Service >" {
		t.Errorf("at the bottom is %q", at(d))
	}
	if d.Act(page.Action{ID: page.Enter}) {
		t.Error("enter on a line that opens something is done here")
	}
}

func TestSetKeepsPositionFoldsAndSearch(t *testing.T) {
	paper := ct.Paper(40, 6)
	d := opened(outline(conditions), paper)
	do(d, page.Fold)            // Widgets
	do(d, page.Down, page.Fold) // Versions
	d.Act(page.Action{ID: page.Down, Count: 2})
	if at(d) != "served" {
		t.Fatalf("the cursor is on %q", at(d))
	}
	filter(t, d, "v2")
	d.View(paper)
	d.Set(outline("First\nSecond\n below" + conditions))
	after := ct.Plain(paper, d.View(paper))
	if at(d) != "v2" || d.Filtered() != "v2" {
		t.Errorf("the cursor is on %q, searched is %q", at(d), d.Filtered())
	}
	if !strings.Contains(after, "▸ Widgets … 5 lines") {
		t.Errorf("Widgets is not folded:\n%s", after)
	}
	d.Set(nil)
	ct.Check(t, paper, d.View(paper))
	if at(d) != "" {
		t.Errorf("of nothing %q is selected", at(d))
	}
	d.Set(outline(conditions))
	d.View(paper)
	if at(d) == "" {
		t.Error("nothing is selected of new lines")
	}
}

func TestSearch(t *testing.T) {
	paper := ct.Paper(40, 20)
	d := opened(outline(conditions), paper)
	filter(t, d, "served")
	if at(d) != "served" {
		t.Errorf("a match in a folded part: the cursor is on %q", at(d))
	}
	filter(t, d, "v")
	var seen []string
	for range 5 {
		seen = append(seen, at(d))
		do(d, page.NextMatch)
	}
	if want := []string{"served", "v2", "Service >", "Versions +", "v1"}; !slices.Equal(seen, want) {
		t.Errorf("matches are %v, want %v", seen, want)
	}
	if do(d, page.PrevMatch, page.PrevMatch); at(d) != "Versions +" {
		t.Errorf("back is %q, %s", at(d), d.Status())
	}
	filter(t, d, "nowhere")
	if d.Status() != "no match" || d.Offers(page.NextMatch) {
		t.Errorf("status is %q", d.Status())
	}
	var early doc.Document
	filter(t, &early, "names")
	early.Set(outline(conditions))
	early.View(paper)
	if at(&early) != "Names" {
		t.Errorf("searched before it was drawn: %q", at(&early))
	}
}

func TestPlainTextScrolls(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	paper := ct.Paper(40, 10)
	d := opened(doc.Text(text.String()), paper)
	first := func() string { return strings.TrimSpace(d.View(paper)[0].String()) }
	if do(d, page.Down); first() != "line 1" {
		t.Errorf("one down: %q", first())
	}
	if do(d, page.Bottom); first() != "line 90" {
		t.Errorf("at the bottom: %q", first())
	}
	if do(d, page.Up); first() != "line 89" {
		t.Errorf("one up: %q", first())
	}
	if _, ok := d.Selected(); ok {
		t.Error("a line is selected where nothing folds or opens")
	}
	filter(t, d, "line 5")
	if lines := ct.Plain(paper, d.View(paper)); !strings.Contains(lines, "❯ «line 5»\n") {
		t.Errorf("the match is not on the screen:\n%s", lines)
	}
	if d.Offers(page.Fold) || d.Offers(page.Right) || !d.Offers(page.Down) {
		t.Error("wrong offers")
	}
}

func TestRendersOnceForAWidth(t *testing.T) {
	times, paper := 0, ct.Paper(40, 10)
	d := opened(func(paper ink.Paper) []doc.Line {
		times++
		return []doc.Line{{Line: ink.L(ink.Text, fmt.Sprint(paper.Width))}}
	}, paper)
	d.View(paper)
	d.View(paper.Sized(40, 5))
	if times != 1 {
		t.Errorf("rendered %d times", times)
	}
	if got := strings.TrimSpace(d.View(paper.Sized(50, 5))[0].String()); times != 2 || got != "47" {
		t.Errorf("rendered %d times for a width of %s", times, got)
	}
}

func TestRandom(t *testing.T) {
	var odd strings.Builder
	for i, name := range ct.Names() {
		fmt.Fprintf(&odd, "%s%s\n", strings.Repeat(" ", i%4), name)
	}
	yaml, err := doc.YAML(object())
	if err != nil {
		t.Fatal(err)
	}
	renders := []doc.Render{nil, outline(conditions), outline(odd.String()), doc.Text(odd.String()), doc.Text(strings.Repeat("a\n", 200)), yaml}
	for seed := range uint64(40) {
		r := ct.Random(seed)
		var d doc.Document
		for range 300 {
			switch r.IntN(8) {
			case 0:
				d.Set(renders[r.IntN(len(renders))])
			case 1:
				_ = d.Filter([]string{"", "a", "served", "nowhere", "語"}[r.IntN(5)])
			case 2, 3:
				paper := ct.Size(r)
				ct.Check(t, paper, d.View(paper))
			default:
				action := ct.Action(r)
				offered := d.Offers(action.ID)
				if !d.Act(action) && offered {
					t.Fatalf("seed %d: %s is offered and not done", seed, action.ID)
				}
			}
			_, selected := d.Selected()
			if paper := ct.Paper(80, 1+r.IntN(20)); selected && r.IntN(3) == 0 {
				if lines := d.View(paper); d.Offers(page.Fold) && !strings.Contains(ct.Plain(paper, lines), "❯") {
					t.Fatalf("seed %d: the cursor is not on the screen\n%s", seed, ct.Plain(paper, lines))
				}
			}
		}
	}
}

func BenchmarkView(b *testing.B) {
	paper := ct.Paper(160, 50)
	d := opened(doc.Text(strings.Repeat("a line of a long text that is read\n", 10000)), paper)
	b.ReportAllocs()
	for b.Loop() {
		do(d, page.Down)
		d.View(paper)
	}
}

func BenchmarkSet(b *testing.B) {
	paper := ct.Paper(160, 50)
	render := doc.Text(strings.Repeat("a line of a long text that is read\n", 10000))
	d := opened(render, paper)
	b.ReportAllocs()
	for b.Loop() {
		d.Set(render)
		d.View(paper)
	}
}
