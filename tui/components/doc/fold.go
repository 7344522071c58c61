package doc

import "slices"

// folded tells whether a line hides what is below it.
func (d *Document) folded(i int) bool {
	l := &d.lines[i]
	if l.below == 0 {
		return false
	}
	if folded, ok := d.folds[l.identity]; ok {
		return folded
	}
	return l.Folded
}

func (d *Document) setFold(i int, folded bool) {
	if d.folds == nil {
		d.folds = map[identity]bool{}
	}
	d.folds[d.lines[i].identity] = folded
}

// reflow finds the visible lines after lines or folds have changed. The cursor is
// for the line at, or for the one that hides it.
func (d *Document) reflow(at int) {
	d.visible = d.visible[:0]
	for i := 0; i < len(d.lines); i++ {
		d.visible = append(d.visible, i)
		if d.folded(i) {
			i += d.lines[i].below
		}
	}
	place, shown := slices.BinarySearch(d.visible, at)
	for !shown && at >= 0 && at < len(d.lines) {
		at = d.lines[at].parent
		place, shown = slices.BinarySearch(d.visible, at)
	}
	d.window.Replace(len(d.visible), place)
}

// foldHere folds or unfolds the line of the cursor, or the part that it is in.
func (d *Document) foldHere() {
	if len(d.visible) == 0 {
		return
	}
	at := d.current()
	if d.lines[at].below == 0 {
		at = d.lines[at].parent
	}
	if at < 0 {
		return
	}
	d.setFold(at, !d.folded(at))
	d.reflow(at)
}

func (d *Document) foldAll(folded bool) {
	if len(d.visible) == 0 {
		return
	}
	at := d.current()
	for i := range d.lines {
		if d.lines[i].below > 0 {
			d.setFold(i, folded)
		}
	}
	d.reflow(at)
}

// reveal makes a line visible and goes to it, scrolling no more than it must.
func (d *Document) reveal(at int) {
	here, hidden := d.current(), false
	for over := d.lines[at].parent; over >= 0; over = d.lines[over].parent {
		if d.folded(over) {
			d.setFold(over, false)
			hidden = true
		}
	}
	if hidden {
		d.reflow(here)
	}
	place, _ := slices.BinarySearch(d.visible, at)
	d.window.Go(place)
}
