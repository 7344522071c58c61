// Package tree is a table whose rows have children that fold: groups, their
// versions, their resources.
package tree

import (
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/tui/components/internal/columns"
	"github.com/kapi-dev/kapi/tui/components/internal/window"
	"github.com/kapi-dev/kapi/tui/components/query"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// Node is a node with what is below it.
type Node struct {
	// Key is what it is known by, in the whole tree.
	Key string
	// Label is shown in the tree, Cells in the columns after it.
	Label    ink.Span
	Cells    []ink.Span
	Severity vtable.Severity
	// Open is where enter leads; zero folds.
	Open     page.Location
	Children []Node
	// Changed marks it.
	Changed bool
}

// Tree is the state of one. Make it with New.
type Tree struct {
	titles []string
	// foldedFrom is the depth from which nodes are folded at first.
	foldedFrom int
	layout     columns.Layout
	window     window.Window

	nodes []Node
	// entries are all nodes, each before those below it. They and what follows are
	// made when they are asked for and stale.
	entries []entry
	stale   bool
	// visible are the indexes of the entries that are listed.
	visible []int
	// lastBelow is, by the index of an entry plus one, that of its last listed child.
	lastBelow []int

	// folds are those by hand, by key; narrowFolds those while the tree is narrowed.
	folds, narrowFolds map[string]bool
	// trail is the key that the cursor is on and those above it, nearest first.
	trail []string

	filter          string
	query, searched query.Query
	unhealthy       bool
}

// entry is a node in the list of all.
type entry struct {
	*Node
	depth, parent int
	// below is how many nodes are below it.
	below int
	// text is what a filter looks at, once it was asked for.
	text string
	// matches passes what narrows the tree; leads has such nodes below it; listed is
	// shown, unless a fold hides it.
	matches, leads, listed bool
}

// New returns an empty tree; titles are those of the label and of the cells. Folded
// is the depth from which nodes are folded at first.
func New(folded int, titles ...string) *Tree {
	return &Tree{titles: titles, foldedFrom: folded}
}

// SetNodes replaces the nodes; cursor and folds stay by key.
func (t *Tree) SetNodes(nodes []Node) {
	if len(t.nodes) == 0 {
		t.layout.Reset()
	}
	t.nodes, t.stale = nodes, true
}

// Selected is the node that the cursor is on.
func (t *Tree) Selected() (Node, bool) {
	t.update()
	if len(t.visible) == 0 {
		return Node{}, false
	}
	return *t.entries[t.current()].Node, true
}

// Select puts the cursor on a key and unfolds what is above it; false if there is no
// such node, or the filter hides it.
func (t *Tree) Select(key string) bool {
	t.update()
	at := slices.IndexFunc(t.entries, func(e entry) bool { return e.Key == key && e.listed })
	if at < 0 {
		return false
	}
	t.reveal(at)
	return true
}

// current is the index of the entry that the cursor is on, of which there must be one.
func (t *Tree) current() int { return t.visible[t.window.Cursor()] }

// update makes the list of entries, if it must.
func (t *Tree) update() {
	if !t.stale {
		return
	}
	t.stale = false
	t.entries = flatten(t.entries[:0], t.nodes, 0, -1)
	t.narrow()
	t.reflow(t.find())
}

// flatten appends nodes, each with those below it.
func flatten(entries []entry, nodes []Node, depth, parent int) []entry {
	for i := range nodes {
		at := len(entries)
		entries = append(entries, entry{Node: &nodes[i], depth: depth, parent: parent})
		entries = flatten(entries, nodes[i].Children, depth+1, at)
		entries[at].below = len(entries) - at - 1
	}
	return entries
}

// find is the index of the entry that the cursor was on, or of the nearest above it;
// -1 if all are gone.
func (t *Tree) find() int {
	for _, key := range t.trail {
		if at := slices.IndexFunc(t.entries, func(e entry) bool { return e.Key == key }); at >= 0 {
			return at
		}
	}
	return -1
}

// narrow finds the entries that are listed: those that match, those above, those
// below.
func (t *Tree) narrow() {
	for i := range t.entries {
		e := &t.entries[i]
		e.matches = (t.query.Zero() || t.query.Match(t.queried(i))) && (!t.unhealthy || e.Severity != vtable.Healthy)
		e.leads = false
	}
	for i := len(t.entries) - 1; i >= 0; i-- {
		if e := t.entries[i]; e.parent >= 0 && (e.matches || e.leads) {
			t.entries[e.parent].leads = true
		}
	}
	under := -1 // the last index below a node that matches
	for i := range t.entries {
		e := &t.entries[i]
		if e.matches && !t.unhealthy {
			under = max(under, i+e.below)
		}
		e.listed = e.matches || e.leads || i <= under
	}
}

func (t *Tree) narrowed() bool { return t.unhealthy || !t.query.Zero() }

// queried is an entry as a filter looks at it.
func (t *Tree) queried(i int) query.Row {
	e := &t.entries[i]
	return query.Row{
		Cell: func(title string) (string, bool) {
			at := slices.IndexFunc(t.titles, func(each string) bool { return strings.EqualFold(each, title) })
			switch {
			case at < 0:
				return "", false
			case at == 0:
				return e.Label.Text, true
			case at <= len(e.Cells):
				return e.Cells[at-1].Text, true
			default:
				return "", true
			}
		},
		Text: func() string {
			if e.text == "" {
				var b strings.Builder
				b.WriteString(e.Label.Text)
				for _, cell := range e.Cells {
					b.WriteString("\n" + cell.Text) // no word goes across
				}
				e.text = strings.ToLower(b.String())
			}
			return e.text
		},
	}
}
