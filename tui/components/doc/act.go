package doc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// sideways is how far left and right go, in cells.
const sideways = 8

// Act moves, folds and searches; false if it does not know the action. Enter on a
// line with Open is not done here: ask Selected.
func (d *Document) Act(action page.Action) bool {
	d.update()
	move := d.window.Scroll
	if d.cursor {
		move = d.window.Move
	}
	if move(action) {
		return true
	}
	times := max(1, action.Count)
	switch action.ID {
	case page.Left:
		d.across = max(0, d.across-sideways*min(times, d.across))
	case page.Right:
		d.across = min(d.furthest(), d.across+sideways*min(times, d.widest))
	case page.Enter:
		if !d.entersFold() {
			return false
		}
		d.foldHere()
	case page.Fold:
		d.foldHere()
	case page.FoldAll, page.UnfoldAll:
		d.foldAll(action.ID == page.FoldAll)
	case page.NextMatch:
		d.goToMatch(times)
	case page.PrevMatch:
		d.goToMatch(-times)
	default:
		return false
	}
	return true
}

// Offers tells whether Act does something.
func (d *Document) Offers(action page.ActionID) bool {
	d.update()
	if d.window.Moves(action) {
		from, to := d.window.Range()
		return d.cursor && len(d.visible) > 1 || from > 0 || to < len(d.visible)
	}
	switch action {
	case page.Left:
		return d.across > 0
	case page.Right:
		return d.across < d.furthest()
	case page.Enter:
		return d.entersFold()
	case page.Fold, page.FoldAll, page.UnfoldAll:
		return d.folding
	case page.NextMatch, page.PrevMatch:
		return len(d.found()) > 0
	default:
		return false
	}
}

// entersFold tells whether enter folds here.
func (d *Document) entersFold() bool {
	selected, ok := d.Selected()
	return ok && selected.Open.Zero() && d.lines[d.current()].below > 0
}

// furthest is how far the text can go to the left.
func (d *Document) furthest() int {
	over := d.widest - d.room()
	return max(0, (over+sideways-1)/sideways*sideways)
}

// Filter searches for a text and goes to the first match; see page.Filterer.
func (d *Document) Filter(text string) error {
	d.update()
	d.filter, d.word, d.matches = text, strings.ToLower(text), nil
	d.sought = d.paper.Glyphs == nil
	d.goToMatch(0)
	return nil
}

// Filtered is what is searched for.
func (d *Document) Filtered() string { return d.filter }

// Status says in few words where one is: "line 12 of 340", "match 2 of 7".
func (d *Document) Status() string {
	d.update()
	if len(d.visible) == 0 {
		return ""
	}
	if d.word == "" {
		from, to := d.window.Range()
		switch {
		case d.cursor:
			from = d.window.Cursor()
		case to-from == len(d.visible):
			return count(len(d.visible))
		}
		return fmt.Sprintf("line %d of %d", from+1, len(d.visible))
	}
	found := d.found()
	if at, ok := slices.BinarySearch(found, d.current()); ok {
		return fmt.Sprintf("match %d of %d", at+1, len(found))
	}
	if len(found) == 0 {
		return "no match"
	}
	return fmt.Sprintf("matches: %d", len(found))
}

// found are the indexes of the lines that hold what is searched for.
func (d *Document) found() []int {
	if d.matches == nil && d.word != "" {
		d.matches = []int{}
		for i := range d.lines {
			if strings.Contains(strings.ToLower(d.lines[i].String()), d.word) {
				d.matches = append(d.matches, i)
			}
		}
	}
	return d.matches
}

// goToMatch goes so many matches on, round the end of the text; 0 is the first one
// from here.
func (d *Document) goToMatch(times int) {
	found := d.found()
	if len(found) == 0 || len(d.visible) == 0 {
		return
	}
	at, on := slices.BinarySearch(found, d.current())
	if times > 0 && !on {
		times-- // it is the next one already
	}
	at = found[(at+times%len(found)+len(found))%len(found)]
	d.reveal(at)
	d.acrossTo(at)
}

// acrossTo brings the match in a line onto the screen sideways.
func (d *Document) acrossTo(i int) {
	text := d.lines[i].String()
	before, _, _ := strings.Cut(strings.ToLower(text), d.word)
	from := ink.Width(before)
	to := from + ink.Width(d.word)
	// One cell is for the sign that something is cut.
	if room := d.room() - 1; from <= d.across || to > d.across+room {
		d.across = max(0, to-room+sideways-1) / sideways * sideways
	}
}
