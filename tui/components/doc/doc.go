// Package doc is a text that is read: it scrolls, parts of it fold, words are
// searched in it, and lines in it can lead to other places. Details, YAML, describe
// and help are documents.
package doc

import (
	"slices"

	"github.com/kapi-dev/kapi/tui/components/internal/window"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// Line is a line of a document.
type Line struct {
	ink.Line
	// Level is how deep it is; a line with deeper ones after it folds these.
	Level int
	// Key is what the line is known by when the text is replaced, so that the cursor
	// and what is folded stay; empty takes the text.
	Key string
	// Open is where enter leads; zero folds.
	Open page.Location
	// Folded folds what is below at first.
	Folded bool
	// Copy is what c copies; empty is the line's text.
	Copy string
}

// Document is the state of one. The zero Document is empty and usable.
type Document struct {
	// Passive is a text that cannot be acted on: no cursor is drawn in it.
	Passive bool

	render Render
	// stale says that lines are not those of render and paper.
	stale bool
	paper ink.Paper
	lines []line
	// visible are the indexes of the lines that no fold hides.
	visible []int
	window  window.Window
	// folds are those that were opened or closed by hand.
	folds map[identity]bool
	// cursor says that there is anything to fold or to open, folding the former.
	cursor, folding bool
	// across is how many cells are left of the screen, widest how wide the text is.
	across, widest int

	filter, word string
	// matches are the indexes of the lines that hold the word; nil is not known.
	matches []int
	// sought says that the first match must be gone to when there are lines.
	sought bool
}

// identity is a line through replacements: its key, and which of those with that key.
type identity struct {
	key string
	nth int
}

// line is a line as it was rendered, cleaned.
type line struct {
	Line
	identity identity
	// parent is the index of the line that hides it when folded, -1 for none.
	parent int
	// below is how many lines it hides.
	below int
}

// Render returns the lines for a width. It is called when the text or the width
// has changed. The paper is that of the text, without the gutter.
type Render func(paper ink.Paper) []Line

// Set replaces the text. Position, folds and search stay.
func (d *Document) Set(render Render) { d.render, d.stale = render, true }

// Selected is the line that the cursor is on; false where there is no cursor.
func (d *Document) Selected() (Line, bool) {
	d.update()
	if !d.cursor || len(d.visible) == 0 {
		return Line{}, false
	}
	return d.lines[d.current()].Line, true
}

// current is the index of the line that the cursor is on, of which there must be one.
func (d *Document) current() int { return d.visible[d.window.Cursor()] }

// update renders the text for the paper that was drawn on last, if it must.
func (d *Document) update() {
	if !d.stale || d.paper.Glyphs == nil {
		return
	}
	d.stale = false
	before, known := identity{}, len(d.visible) > 0
	at := 0
	if known {
		at = d.current()
		before = d.lines[at].identity
	}
	d.lines = nil
	if d.render != nil {
		d.lines = prepare(d.paper, d.render(d.paper.Sized(d.paper.Width-gutter, d.paper.Height)))
	}
	d.survey()
	if known {
		if same := slices.IndexFunc(d.lines, func(l line) bool { return l.identity == before }); same >= 0 {
			at = same
		}
	}
	d.reflow(min(at, len(d.lines)-1))
	if d.sought {
		d.sought = false
		d.goToMatch(0)
	}
}

// survey learns of new lines what drawing and acting need.
func (d *Document) survey() {
	d.cursor, d.folding, d.widest, d.matches = false, false, 0, nil
	for i := range d.lines {
		l := &d.lines[i]
		d.folding = d.folding || l.below > 0
		d.cursor = d.cursor || l.below > 0 || !l.Open.Zero()
		d.widest = max(d.widest, l.Width())
	}
	d.cursor = d.cursor && !d.Passive
}

// prepare cleans lines and finds what each of them hides.
func prepare(paper ink.Paper, rendered []Line) []line {
	lines := make([]line, len(rendered))
	seen := make(map[string]int, len(rendered))
	var above []int // the lines that the next one may be below of
	for i, each := range rendered {
		clean := make(ink.Line, len(each.Line))
		for at, span := range each.Line {
			span.Text = paper.Clean(span.Text)
			clean[at] = span
		}
		each.Line = clean
		key := each.Key
		if key == "" {
			key = clean.String()
		}
		for len(above) > 0 && lines[above[len(above)-1]].Level >= each.Level {
			above = above[:len(above)-1]
		}
		parent := -1
		if len(above) > 0 {
			parent = above[len(above)-1]
		}
		for _, over := range above {
			lines[over].below++
		}
		lines[i] = line{Line: each, identity: identity{key, seen[key]}, parent: parent}
		seen[key]++
		above = append(above, i)
	}
	return lines
}
