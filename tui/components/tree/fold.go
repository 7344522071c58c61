package tree

import "slices"

// folded tells whether an entry hides what is below it.
func (t *Tree) folded(i int) bool {
	e := &t.entries[i]
	if e.below == 0 {
		return false
	}
	if t.narrowed() {
		if folded, ok := t.narrowFolds[e.Key]; ok {
			return folded
		}
		if e.leads {
			return false
		}
	}
	if folded, ok := t.folds[e.Key]; ok {
		return folded
	}
	return e.depth >= t.foldedFrom
}

// setFold keeps what is folded while the tree is narrowed apart: after it the tree
// is as it was.
func (t *Tree) setFold(i int, folded bool) {
	folds := &t.folds
	if t.narrowed() {
		folds = &t.narrowFolds
	}
	if *folds == nil {
		*folds = map[string]bool{}
	}
	(*folds)[t.entries[i].Key] = folded
}

func (t *Tree) fold(at int, folded bool) {
	t.setFold(at, folded)
	t.reflow(at)
}

func (t *Tree) foldAll(folded bool) {
	for i := range t.entries {
		if t.entries[i].below > 0 {
			t.setFold(i, folded)
		}
	}
	if len(t.visible) > 0 {
		t.reflow(t.current())
	}
}

// reflow finds the visible entries after something has changed. The cursor is for
// the entry at, or for the nearest above it that is visible; -1 leaves it in its
// place.
func (t *Tree) reflow(at int) {
	t.visible = t.visible[:0]
	t.lastBelow = append(t.lastBelow[:0], make([]int, len(t.entries)+1)...)
	for i := 0; i < len(t.entries); i++ {
		e := t.entries[i]
		if !e.listed {
			i += e.below // nothing below it is, either
			continue
		}
		t.visible = append(t.visible, i)
		t.lastBelow[e.parent+1] = i
		if t.folded(i) {
			i += e.below
		}
	}
	place := t.window.Cursor()
	for ; at >= 0; at = t.entries[at].parent {
		if found, ok := slices.BinarySearch(t.visible, at); ok {
			place = found
			break
		}
	}
	t.window.Replace(len(t.visible), max(0, min(place, len(t.visible)-1)))
	t.moved()
}

// reveal unfolds what hides an entry and goes to it, scrolling no more than it must.
func (t *Tree) reveal(at int) {
	hidden := false
	for over := t.entries[at].parent; over >= 0; over = t.entries[over].parent {
		if t.folded(over) {
			t.setFold(over, false)
			hidden = true
		}
	}
	if hidden && len(t.visible) > 0 {
		t.reflow(t.current())
	}
	t.goTo(at)
}

// goTo puts the cursor on a visible entry.
func (t *Tree) goTo(at int) {
	place, _ := slices.BinarySearch(t.visible, at)
	t.window.Go(place)
	t.moved()
}

// moved is after every move of the cursor. Without entries the trail is kept: they
// may come back.
func (t *Tree) moved() {
	if len(t.visible) == 0 {
		return
	}
	t.trail = t.trail[:0]
	for at := t.current(); at >= 0; at = t.entries[at].parent {
		t.trail = append(t.trail, t.entries[at].Key)
	}
}
