package tree_test

import (
	"fmt"
	"strings"
	"testing"

	ct "github.com/kapi-dev/kapi/tui/components/internal/componenttest"
	"github.com/kapi-dev/kapi/tui/components/tree"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// aNode is the type where a variable has the package's name.
type aNode = tree.Node

func node(name, layer, verbs string, children ...tree.Node) tree.Node {
	return tree.Node{
		Key: name, Label: ink.T(ink.Text, name), Children: children,
		Cells: []ink.Span{ink.T(ink.Text, layer), ink.T(ink.Muted, verbs)},
	}
}

func groups() []tree.Node {
	return []tree.Node{
		node("apps", "", "", node("apps/v1", "core", "", node("deployments", "core", "get list watch"), node("statefulsets", "core", "get list watch"))),
		node("example.com", "", "",
			node("example.com/v1", "crds", "", node("widgets", "crds", "get list watch create"), node("gadgets", "crds", "get list")),
			node("example.com/v1beta1", "crds", "", node("widgets.v1beta1", "crds", "get list"))),
		node("metrics", "aggregated", ""),
	}
}

func planted(nodes []tree.Node) *tree.Tree {
	t := tree.New(1, "NAME", "LAYER", "VERBS")
	t.SetNodes(nodes)
	return t
}

func do(t *tree.Tree, ids ...page.ActionID) {
	for _, id := range ids {
		t.Act(page.Action{ID: id})
	}
}

func at(t *tree.Tree) string {
	node, _ := t.Selected()
	return node.Key
}

func filter(t *testing.T, tree *tree.Tree, text string) {
	t.Helper()
	if err := tree.Filter(text); err != nil {
		t.Fatal(err)
	}
}

// listed is how many nodes are on the list.
func listed(t *tree.Tree) int {
	count := 0
	for _, line := range t.View(ct.Paper(100, 1000))[1:] {
		if strings.TrimSpace(line.String()) != "" {
			count++
		}
	}
	return count
}

func TestPictures(t *testing.T) {
	for _, size := range [][2]int{{24, 8}, {40, 12}, {80, 14}} {
		paper := ct.Paper(size[0], size[1])
		var b strings.Builder
		show := func(what string, tree *tree.Tree) {
			lines := tree.View(paper)
			ct.Check(t, paper, lines)
			fmt.Fprintf(&b, "# %s\n%s= %s\n\n", what, ct.Plain(paper, lines), tree.Status())
		}
		nodes := groups()
		nodes[1].Children[0].Children[0].Changed = true
		nodes[1].Children[0].Children[0].Severity = vtable.Unhealthy
		tree := planted(nodes)
		show("at first", tree)
		do(tree, page.UnfoldAll, page.Down)
		show("unfolded", tree)
		do(tree, page.Left)
		show("one folded", tree)
		filter(t, tree, "widgets")
		show("filtered", tree)
		filter(t, tree, "name:metrics")
		show("a root", tree)
		filter(t, tree, "nowhere")
		show("nothing left", tree)
		filter(t, tree, "")
		do(tree, page.Unhealthy)
		show("only unhealthy", tree)
		do(tree, page.Unhealthy)
		var odd []aNode
		for _, name := range ct.Names() {
			odd = append(odd, node(name, name, name, node(name+"'", name, name)))
		}
		tree.SetNodes(odd)
		do(tree, page.Top)
		show("odd names", tree)
		tree.SetNodes(nil)
		show("empty", tree)
		ct.Golden(t, fmt.Sprintf("tree-%dx%d", size[0], size[1]), b.String())
	}
}

func TestFolding(t *testing.T) {
	tree := planted(groups())
	if got := listed(tree); got != 6 {
		t.Errorf("%d nodes are listed at first", got)
	}
	steps := []struct {
		id   page.ActionID
		want string
		many int
	}{
		{page.Right, "apps/v1", 6},      // to the first below
		{page.Right, "apps/v1", 8},      // unfolds
		{page.Right, "deployments", 8},  // to the first below
		{page.Right, "deployments", 8},  // nothing
		{page.Down, "statefulsets", 8},  //
		{page.Left, "apps/v1", 8},       // to the one above
		{page.Left, "apps/v1", 6},       // folds
		{page.Enter, "apps/v1", 8},      // unfolds
		{page.Down, "deployments", 8},   //
		{page.Fold, "apps/v1", 6},       // folds the one above
		{page.UnfoldAll, "apps/v1", 11}, //
		{page.Bottom, "metrics", 11},    //
		{page.Left, "metrics", 11},      // nothing
		{page.Fold, "metrics", 11},      // nothing
		{page.Up, "widgets.v1beta1", 11},
		{page.FoldAll, "example.com", 3},
		{page.Top, "apps", 3},
	}
	for i, step := range steps {
		if !tree.Act(page.Action{ID: step.id}) {
			t.Errorf("step %d: %s is not known", i, step.id)
		}
		if got := listed(tree); at(tree) != step.want || got != step.many {
			t.Fatalf("step %d, %s: on %s of %d, want %s of %d", i, step.id, at(tree), got, step.want, step.many)
		}
	}
	nodes := groups()
	nodes[0].Open = page.At("groups", "apps")
	tree.SetNodes(nodes)
	if tree.Offers(page.Enter) || tree.Act(page.Action{ID: page.Enter}) {
		t.Error("enter on a node that opens something is done here")
	}
}

func TestSetNodesKeepsCursorAndFolds(t *testing.T) {
	tree := planted(groups())
	do(tree, page.Bottom, page.Up, page.Right, page.Right)
	if at(tree) != "widgets.v1beta1" {
		t.Fatalf("on %s", at(tree))
	}
	tree.SetNodes(append([]aNode{node("a", "", "", node("b", "", ""))}, groups()...))
	if at(tree) != "widgets.v1beta1" || listed(tree) != 9 {
		t.Errorf("with nodes before: on %s of %d", at(tree), listed(tree))
	}
	fewer := groups()
	fewer[1].Children = fewer[1].Children[:1]
	tree.SetNodes(fewer)
	if at(tree) != "example.com" {
		t.Errorf("of a node that is gone: on %s", at(tree))
	}
	tree.SetNodes(nil)
	if _, ok := tree.Selected(); ok {
		t.Error("something is selected of nothing")
	}
	tree.SetNodes(groups())
	if at(tree) != "example.com" {
		t.Errorf("after all were gone for a moment: on %s", at(tree))
	}
	if !tree.Select("gadgets") || at(tree) != "gadgets" || tree.Select("nobody") {
		t.Errorf("select: on %s", at(tree))
	}
}

func TestFilter(t *testing.T) {
	tree := planted(groups())
	for text, want := range map[string]int{
		"widgets":        5, // the two with those above them
		"example.com/v1": 3, // versions, folded, with the group; what is below is there to unfold
		"layer:crds":     6,
		"verbs:create":   3,
		"metrics":        1,
		"nowhere":        0,
		"":               6,
	} {
		filter(t, tree, text)
		if got := listed(tree); got != want && want > 0 {
			t.Errorf("%q lists %d, want %d\n%s", text, got, want, ct.Plain(ct.Paper(80, 15), tree.View(ct.Paper(80, 15))))
		}
	}
	filter(t, tree, "example.com/v1beta1")
	do(tree, page.Bottom, page.Right)
	if got := listed(tree); got != 3 {
		t.Errorf("what is below a match does not unfold: %d", got)
	}
	filter(t, tree, "")
	if got := listed(tree); got != 6 {
		t.Errorf("folds of a filter stay: %d", got)
	}
	if err := tree.Filter("nocolumn:x"); err == nil || tree.Filtered() != "" {
		t.Errorf("a wrong filter: %v, in use %q", err, tree.Filtered())
	}
}

func TestMatches(t *testing.T) {
	tree := planted(groups())
	filter(t, tree, "widgets")
	filter(t, tree, "")
	do(tree, page.Top, page.NextMatch)
	if at(tree) != "widgets" {
		t.Errorf("the next match is %s", at(tree))
	}
	do(tree, page.NextMatch, page.NextMatch)
	if at(tree) != "widgets" {
		t.Errorf("round the end the match is %s", at(tree))
	}
	do(tree, page.PrevMatch)
	if at(tree) != "widgets.v1beta1" {
		t.Errorf("the match before is %s", at(tree))
	}
}

func TestRandom(t *testing.T) {
	for seed := range uint64(40) {
		r := ct.Random(seed)
		tree := tree.New(r.IntN(3), "NAME", "LAYER", "VERBS")
		for range 300 {
			switch r.IntN(8) {
			case 0:
				tree.SetNodes(random(r.IntN, 0))
			case 1:
				_ = tree.Filter([]string{"", "e", "widgets", "nowhere", "layer:1", `"`}[r.IntN(6)])
			case 2, 3:
				paper := ct.Size(r)
				ct.Check(t, paper, tree.View(paper))
			default:
				action := ct.Action(r)
				offered := tree.Offers(action.ID)
				if !tree.Act(action) && offered {
					t.Fatalf("seed %d: %s is offered and not done", seed, action.ID)
				}
			}
			_, selected := tree.Selected()
			if paper := ct.Paper(80, 1+r.IntN(20)); selected && r.IntN(3) == 0 {
				if lines := tree.View(paper); !strings.Contains(ct.Plain(paper, lines), "❯") {
					t.Fatalf("seed %d: the cursor is not on the screen\n%s", seed, ct.Plain(paper, lines))
				}
			}
		}
	}
}

// random are nodes with odd names and keys that may be there twice.
func random(below func(int) int, depth int) []tree.Node {
	nodes := make([]tree.Node, below(5))
	for i := range nodes {
		name := ct.Names()[below(len(ct.Names()))]
		nodes[i] = tree.Node{Key: name, Label: ink.T(ink.Text, name), Severity: vtable.Severity(below(3)), Changed: below(3) == 0}
		for range below(5) {
			nodes[i].Cells = append(nodes[i].Cells, ink.T(ink.Text, fmt.Sprint(below(1000))))
		}
		if depth < 3 {
			nodes[i].Children = random(below, depth+1)
		}
	}
	return nodes
}

func TestZeroTitles(t *testing.T) {
	tree := tree.New(0)
	tree.SetNodes(groups())
	for _, id := range ct.Actions() {
		tree.Act(page.Action{ID: id})
	}
	ct.Check(t, ct.Paper(40, 5), tree.View(ct.Paper(40, 5)))
}

func many() []tree.Node {
	var nodes []tree.Node
	for i := range 100 {
		group := node(fmt.Sprintf("group-%d", i), "", "")
		for j := range 10 {
			version := node(fmt.Sprintf("group-%d/v%d", i, j), "crds", "")
			for k := range 10 {
				version.Children = append(version.Children, node(fmt.Sprintf("group-%d/v%d/resource-%d", i, j, k), "crds", "get list watch"))
			}
			group.Children = append(group.Children, version)
		}
		nodes = append(nodes, group)
	}
	return nodes
}

func BenchmarkMove(b *testing.B) {
	tree, paper := planted(many()), ct.Paper(160, 50)
	do(tree, page.UnfoldAll)
	b.ReportAllocs()
	for b.Loop() {
		do(tree, page.Down)
		tree.View(paper)
	}
}

func BenchmarkSetNodes(b *testing.B) {
	nodes := many()
	tree, paper := planted(nodes), ct.Paper(160, 50)
	do(tree, page.UnfoldAll, page.Bottom)
	_ = tree.Filter("resource-7")
	b.ReportAllocs()
	for b.Loop() {
		tree.SetNodes(nodes)
		tree.View(paper)
	}
}
