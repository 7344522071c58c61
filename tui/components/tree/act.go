package tree

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kapi-dev/kapi/tui/components/query"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/page"
)

// Act moves, folds; false if it does not know the action. Enter on a node with Open
// is not done here.
func (t *Tree) Act(action page.Action) bool {
	t.update()
	if t.window.Move(action) {
		t.moved()
		return true
	}
	switch action.ID {
	case page.Left:
		t.left()
	case page.Right:
		t.right()
	case page.Enter:
		if !t.entersFold() {
			return false
		}
		t.fold(t.current(), !t.folded(t.current()))
	case page.Fold:
		t.foldHere()
	case page.FoldAll, page.UnfoldAll:
		t.foldAll(action.ID == page.FoldAll)
	case page.NextMatch:
		t.goToMatch(max(1, action.Count), 1)
	case page.PrevMatch:
		t.goToMatch(max(1, action.Count), -1)
	case page.Unhealthy:
		t.unhealthy = !t.unhealthy
		t.renarrow()
	default:
		return false
	}
	return true
}

// left folds, or goes to the node above.
func (t *Tree) left() {
	if len(t.visible) == 0 {
		return
	}
	at := t.current()
	switch e := t.entries[at]; {
	case e.below > 0 && !t.folded(at):
		t.fold(at, true)
	case e.parent >= 0:
		t.goTo(e.parent)
	}
}

// right unfolds, or goes to the first node below.
func (t *Tree) right() {
	if len(t.visible) == 0 {
		return
	}
	at := t.current()
	switch {
	case t.folded(at):
		t.fold(at, false)
	case t.entries[at].below > 0 && t.window.Cursor()+1 < len(t.visible):
		if next := t.visible[t.window.Cursor()+1]; t.entries[next].parent == at {
			t.goTo(next)
		}
	}
}

// foldHere folds or unfolds the node of the cursor, or the one above it.
func (t *Tree) foldHere() {
	if len(t.visible) == 0 {
		return
	}
	at := t.current()
	if t.entries[at].below == 0 {
		at = t.entries[at].parent
	}
	if at >= 0 {
		t.fold(at, !t.folded(at))
	}
}

// entersFold tells whether enter folds here.
func (t *Tree) entersFold() bool {
	if len(t.visible) == 0 {
		return false
	}
	e := t.entries[t.current()]
	return e.Open.Zero() && e.below > 0
}

// Offers tells whether Act does something.
func (t *Tree) Offers(action page.ActionID) bool {
	t.update()
	if t.window.Moves(action) {
		return len(t.visible) > 1
	}
	folds := slices.ContainsFunc(t.nodes, func(n Node) bool { return len(n.Children) > 0 })
	switch action {
	case page.Left, page.Right, page.Fold, page.FoldAll, page.UnfoldAll:
		return folds
	case page.Enter:
		return t.entersFold()
	case page.NextMatch, page.PrevMatch:
		return len(t.entries) > 1 && !t.searched.Zero()
	case page.Unhealthy:
		return t.unhealthy || slices.ContainsFunc(t.entries, func(e entry) bool { return e.Severity != vtable.Healthy })
	default:
		return false
	}
}

// Filter leaves the nodes that match, those above them, and those below them.
func (t *Tree) Filter(text string) error {
	titles := make([]string, len(t.titles))
	for i, title := range t.titles {
		titles[i] = strings.ToLower(title)
	}
	parsed, err := query.Parse(text, titles)
	if err != nil {
		return err
	}
	t.update()
	t.filter, t.query = text, parsed
	if !parsed.Zero() {
		t.searched = parsed
	}
	t.renarrow()
	return nil
}

// Filtered is the filter's text.
func (t *Tree) Filtered() string { return t.filter }

// renarrow is after another filter.
func (t *Tree) renarrow() {
	t.narrowFolds = nil
	t.narrow()
	t.reflow(t.find())
}

// goToMatch goes to a node that matches the last filter, round the end of the tree
// and into what is folded.
func (t *Tree) goToMatch(times, step int) {
	count := len(t.entries)
	if len(t.visible) == 0 || t.searched.Zero() {
		return
	}
	at := t.current()
	for range min(times, count) {
		for range count {
			at = (at + step + count) % count
			if t.entries[at].listed && t.searched.Match(t.queried(at)) {
				break
			}
		}
	}
	t.reveal(at)
}

// Status says what is shown in few words.
func (t *Tree) Status() string {
	t.update()
	if !t.narrowed() {
		return strconv.Itoa(len(t.entries))
	}
	matches := 0
	for i := range t.entries {
		if t.entries[i].matches {
			matches++
		}
	}
	said := fmt.Sprintf("%d of %d", matches, len(t.entries))
	if t.unhealthy {
		said += ", only unhealthy"
	}
	return said
}
