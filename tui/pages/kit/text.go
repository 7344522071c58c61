package kit

import (
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// TextConfig is what a page that is a document is made of.
type TextConfig struct {
	// Title is the page's breadcrumb.
	Title string
	// Needs are the feeds; what the first has decides whether there is something to show.
	Needs []data.Key
	// Render makes the text of a frame; nil if what it is about is not there.
	Render func(frame data.Frame) doc.Render
	// Gone is said where Render has nothing although the feed is live.
	Gone string
	// Subject is what it is about, for copying, YAML and the like; nil is nothing.
	Subject func(frame data.Frame) (page.Subject, bool)
	// Extra are further actions; nil is none.
	Extra map[page.ActionID]func(frame data.Frame) page.Effect
}

// Text is a page that is a document. It implements page.Page, page.Filterer and
// page.Selecter.
type Text struct {
	config TextConfig
	frame  data.Frame
	doc    doc.Document
	has    bool
	// part says that it is one of several on the screen.
	part bool
}

// NewText returns a page that is a document.
func NewText(config TextConfig) *Text { return &Text{config: config} }

// Document is the document itself.
func (t *Text) Document() *doc.Document { return &t.doc }

// Frame is the frame that is shown.
func (t *Text) Frame() data.Frame { return t.frame }

// Title implements page.Page.
func (t *Text) Title() string { return t.config.Title }

// Needs implements page.Page.
func (t *Text) Needs() []data.Key { return t.config.Needs }

// Update implements page.Page. What was there stays on the screen when it is gone:
// it is what one was reading.
func (t *Text) Update(frame data.Frame) {
	t.frame = frame
	if render := t.config.Render(frame); render != nil {
		t.has = true
		t.doc.Set(render)
	} else {
		t.has = false
	}
}

// Act implements page.Page.
func (t *Text) Act(action page.Action) page.Effect {
	if do, ok := t.config.Extra[action.ID]; ok {
		return do(t.frame)
	}
	if action.ID == page.Enter {
		if line, ok := t.doc.Selected(); ok && !line.Open.Zero() {
			return page.Effect{Open: line.Open}
		}
	}
	t.doc.Act(action)
	return page.Effect{}
}

// Offers implements page.Page.
func (t *Text) Offers(id page.ActionID) bool {
	if _, ok := t.config.Extra[id]; ok {
		return true
	}
	if id == page.Enter {
		if line, ok := t.doc.Selected(); ok && !line.Open.Zero() {
			return true
		}
	}
	return t.doc.Offers(id)
}

// Filter implements page.Filterer: it searches.
func (t *Text) Filter(text string) error { return t.doc.Filter(text) }

// Filtered implements page.Filterer.
func (t *Text) Filtered() string { return t.doc.Filtered() }

// Selected implements page.Selecter.
func (t *Text) Selected() (page.Subject, bool) {
	if t.config.Subject == nil {
		return page.Subject{}, false
	}
	return t.config.Subject(t.frame)
}

// View implements page.Page.
func (t *Text) View(paper ink.Paper) []ink.Line {
	if !t.has {
		if len(t.config.Needs) > 0 {
			view := t.frame.View(t.config.Needs[0])
			view.Objects = nil // those that are there are others
			if lines, blocked := Blocked(view, paper); blocked {
				return lines
			}
		}
		gone := t.config.Gone
		if gone == "" {
			gone = t.config.Title + " is not there"
		}
		lines := append(t.lost(paper), nil, ink.Line{ink.T(ink.Text, "  "), ink.T(ink.Muted, paper.Glyphs.Off+" "+gone)})
		return ink.Fill(lines, paper.Height)
	}
	lost := t.lost(paper)
	return append(lost, t.doc.View(paper.Sized(paper.Width, paper.Height-len(lost)))...)
}

// lost is the line above the text while the connection is lost, where there is room
// for both.
func (t *Text) lost(paper ink.Paper) []ink.Line {
	if t.part || paper.Height < 2 {
		return nil
	}
	return Lost(t.frame, paper)
}

// asPart leaves to the page what is said once above all of its parts.
func (t *Text) asPart() { t.part = true }
