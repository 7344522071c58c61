// Package groups is the page of what is served: groups, their versions, and the
// resources of each, with who answers for them and what is stored. It may import
// kit, sheet, the contract, data, the components and what is joined.
package groups

import (
	"cmp"
	"strings"

	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/components/tree"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// Page is the tree. It implements page.Page, page.Filterer and page.Selecter.
type Page struct {
	env  page.Env
	tree *tree.Tree
	// columns is how many the tree has.
	columns int
	frame   data.Frame
	memo    sheet.Memo[[]*group]
	signs   sheet.Signs
	// drawn are the groups and the signs that the nodes were made of.
	drawn  []*group
	glyphs *ink.Glyphs
	nodes  []tree.Node
	about  map[string]any

	side     doc.Document
	shown    string
	revision uint64
}

// New returns the page. A name is a group that it is narrowed to.
func New(env page.Env, at page.Location) (page.Page, error) {
	p := &Page{env: env, side: doc.Document{Passive: true}}
	p.shape(usual)
	if filter := cmp.Or(at.Get("filter"), at.Name); filter != "" {
		_ = p.tree.Filter(filter) // a wrong one is none
	}
	return p, nil
}

// Title implements page.Page.
func (p *Page) Title() string { return "groups" }

// Needs implements page.Page.
func (p *Page) Needs() []data.Key {
	return []data.Key{
		data.Of("apiresourceregistrations"), data.APIServices, data.Of("apiserviceprobes"),
		data.Of("discoverystates"), data.Of("resourcestorages"),
	}
}

// Update implements page.Page.
func (p *Page) Update(frame data.Frame) {
	p.frame = frame
	p.make()
}

// make makes the nodes, where what they are made of is not what it was.
func (p *Page) make() {
	groups := p.memo.Of(p.frame, collect, p.Needs()...)
	if same(groups, p.drawn) && p.glyphs == p.signs.Glyphs() && p.frame.Against == nil {
		return
	}
	p.drawn, p.glyphs = groups, p.signs.Glyphs()
	all := nodes(groups, &p.signs)
	if p.frame.Against != nil {
		mark(all, written(nodes(collect(*p.frame.Against), &p.signs), map[string]string{}))
	}
	p.about, p.nodes = index(groups), all
	p.tree.SetNodes(all)
}

// same tells whether two are of one making.
func same(a, b []*group) bool {
	return len(a) == len(b) && (len(a) == 0 || a[0] == b[0])
}

// written collects what nodes show, by their keys.
func written(all []tree.Node, into map[string]string) map[string]string {
	for i := range all {
		into[all[i].Key] = text(&all[i])
		written(all[i].Children, into)
	}
	return into
}

func text(n *tree.Node) string {
	var b strings.Builder
	for _, cell := range n.Cells {
		b.WriteString(cell.Text + "\x00")
	}
	return b.String()
}

// mark marks the nodes that show something else than before.
func mark(all []tree.Node, before map[string]string) {
	for i := range all {
		old, ok := before[all[i].Key]
		all[i].Changed = !ok || old != text(&all[i])
		mark(all[i].Children, before)
	}
}

// usual is the width that a tree is made for before it is drawn.
const usual = 80

// shape makes the tree anew where a width has other columns. What is folded is as at
// first then; the cursor and the filter stay.
func (p *Page) shape(width int) {
	columns := titles(width)
	if p.tree != nil && len(columns) == p.columns {
		return
	}
	old := p.tree
	p.tree, p.columns = tree.New(0, columns...), len(columns)
	p.tree.SetNodes(p.nodes)
	if old == nil {
		return
	}
	_ = p.tree.Filter(old.Filtered()) // the old one took it
	if node, ok := old.Selected(); ok {
		p.tree.Select(node.Key)
	}
}

// Act implements page.Page.
func (p *Page) Act(action page.Action) page.Effect {
	node, ok := p.tree.Selected()
	switch {
	case ok && action.ID == page.Enter && !node.Open.Zero():
		return page.Effect{Open: node.Open}
	case ok && action.ID == page.Requests:
		return page.Effect{Open: p.requests(node.Key)}
	}
	p.tree.Act(action)
	return page.Effect{}
}

// Offers implements page.Page.
func (p *Page) Offers(id page.ActionID) bool {
	node, ok := p.tree.Selected()
	switch {
	case ok && id == page.Enter && !node.Open.Zero():
		return true
	case id == page.Requests:
		return ok && !p.requests(node.Key).Zero()
	}
	return p.tree.Offers(id)
}

// Filter implements page.Filterer.
func (p *Page) Filter(text string) error { return p.tree.Filter(text) }

// Filtered implements page.Filterer.
func (p *Page) Filtered() string { return p.tree.Filtered() }

// Status says what is shown in few words, for the head of the screen.
func (p *Page) Status() string { return p.tree.Status() }

// View implements page.Page: the tree, and what is selected beside it or below it.
func (p *Page) View(paper ink.Paper) []ink.Line {
	p.signs.On(paper)
	p.make()
	view := p.frame.View(p.Needs()[0])
	if lines, blocked := kit.Blocked(view, paper); blocked {
		return lines
	}
	notices := kit.Above(p.frame, view, paper)
	notices = notices[:min(len(notices), paper.Height/2)]
	body := paper.Sized(paper.Width, paper.Height-len(notices))
	return ink.Fill(append(notices, p.body(body)...), paper.Height)
}

// Heights of what is selected, below the tree, and the least that the tree keeps.
const (
	below = 6
	least = 10
)

func (p *Page) body(paper ink.Paper) []ink.Line {
	separator := ink.Line{ink.T(ink.Border, " "+paper.Glyphs.Vertical+" ")}
	left := paper.Width
	if paper.Width >= kit.SideAt {
		left = paper.Width * 3 / 5
	}
	p.shape(left)
	node, ok := p.tree.Selected()
	about := p.about[node.Key]
	if !ok || about == nil {
		return p.tree.View(paper)
	}
	if paper.Width >= kit.SideAt {
		if node.Key != p.shown || p.frame.Revision != p.revision {
			if node.Key != p.shown {
				p.side = doc.Document{Passive: true}
			}
			p.shown, p.revision = node.Key, p.frame.Revision
			p.side.Set(render(about))
		}
		right := paper.Width - left - separator.Width()
		return paper.Beside(separator,
			ink.Pane{Width: left, Lines: p.tree.View(paper.Sized(left, paper.Height))},
			ink.Pane{Width: right, Lines: p.side.View(paper.Sized(right, paper.Height))})
	}
	if paper.Height < below+least || paper.Width < 60 {
		return p.tree.View(paper)
	}
	lines := p.tree.View(paper.Sized(paper.Width, paper.Height-below))
	lines = append(lines, ink.L(ink.Border, strings.Repeat(paper.Glyphs.Horizontal, paper.Width)))
	for _, line := range render(about)(paper) {
		if len(line.Line) > 0 { // there is no room for air
			lines = append(lines, line.Line)
		}
	}
	return ink.Fill(lines, paper.Height)
}
