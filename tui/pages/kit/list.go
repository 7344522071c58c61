package kit

import (
	"fmt"
	"reflect"

	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// ListConfig is what a page that is a table is made of.
type ListConfig[T any] struct {
	// Title is the page's breadcrumb.
	Title string
	// Needs are the feeds; what the first has decides whether there is something to show.
	Needs []data.Key
	// Rows makes the rows of a frame.
	Rows func(frame data.Frame) []T
	// Table are columns, keys and so on.
	Table vtable.Config[T]
	// Subject is what a row is for copying, YAML and the like.
	Subject func(row T) page.Subject
	// Open is where enter leads; nil or the zero location leads nowhere.
	Open func(row T) page.Location
	// Detail is what stands beside the table on a wide screen about the selected row;
	// nil where there is nothing to say.
	Detail func(row T, frame data.Frame) doc.Render
	// Head stands above the table; nil is nothing.
	Head func(frame data.Frame, paper ink.Paper) []ink.Line
	// Extra are further actions, on the selected row; nil is none.
	Extra map[page.ActionID]func(row T) page.Effect
	// Filter is the one that the page begins with; a wrong one is ignored.
	Filter string
}

// List is a page that is a table. It implements page.Page, page.Filterer,
// page.Selecter and page.Remembered.
type List[T any] struct {
	config ListConfig[T]
	table  *vtable.Table[T]
	frame  data.Frame
	side   doc.Document
	// shown is the row and the frame that side is of.
	shown    string
	revision uint64
	// gone is how many rows are no more there, of those that changes are marked against.
	gone int
	// part says that it is one of several on the screen.
	part bool
}

// NewList returns a page that is a table.
func NewList[T any](config ListConfig[T]) *List[T] {
	l := &List[T]{config: config, table: vtable.New(config.Table), side: doc.Document{Passive: true}}
	if config.Filter != "" {
		_ = l.table.Filter(config.Filter)
	}
	return l
}

// Table is the table itself, for pages that are more than a list.
func (l *List[T]) Table() *vtable.Table[T] { return l.table }

// Frame is the frame that is shown.
func (l *List[T]) Frame() data.Frame { return l.frame }

// Title implements page.Page.
func (l *List[T]) Title() string { return l.config.Title }

// Needs implements page.Page.
func (l *List[T]) Needs() []data.Key { return l.config.Needs }

// Update implements page.Page.
func (l *List[T]) Update(frame data.Frame) {
	l.frame = frame
	rows := l.config.Rows(frame)
	l.table.SetRows(rows, l.marked(rows))
}

// marked tells which rows differ from those of the frame that changes are marked
// against, and counts those that are gone; nil where none are marked.
func (l *List[T]) marked(rows []T) func(T) bool {
	l.gone = 0
	if l.frame.Against == nil {
		return nil
	}
	before := map[string]T{}
	for _, row := range l.config.Rows(*l.frame.Against) {
		before[l.config.Table.Key(row)] = row
	}
	stay := make(map[string]bool, len(rows))
	for _, row := range rows {
		stay[l.config.Table.Key(row)] = true
	}
	for key := range before {
		if !stay[key] {
			l.gone++
		}
	}
	return func(row T) bool {
		old, ok := before[l.config.Table.Key(row)]
		return !ok || !l.same(old, row)
	}
}

// same tells whether two rows are of the same state of one object: rates and shares
// in a row change with those of others.
func (l *List[T]) same(a, b T) bool {
	if l.config.Subject != nil {
		if before, now := l.config.Subject(a).Object, l.config.Subject(b).Object; before != nil && now != nil {
			return before == now || reflect.DeepEqual(before, now)
		}
	}
	return reflect.DeepEqual(a, b)
}

// Act implements page.Page.
func (l *List[T]) Act(action page.Action) page.Effect {
	if l.table.Act(action) {
		return page.Effect{}
	}
	row, ok := l.table.Selected()
	if !ok {
		return page.Effect{}
	}
	if do, ok := l.config.Extra[action.ID]; ok {
		return do(row)
	}
	if action.ID == page.Enter && l.config.Open != nil {
		return page.Effect{Open: l.config.Open(row)}
	}
	return page.Effect{}
}

// Offers implements page.Page.
func (l *List[T]) Offers(id page.ActionID) bool {
	if l.table.Offers(id) {
		return true
	}
	row, ok := l.table.Selected()
	if !ok {
		return false
	}
	if _, ok := l.config.Extra[id]; ok {
		return true
	}
	return id == page.Enter && l.config.Open != nil && !l.config.Open(row).Zero()
}

// Filter implements page.Filterer.
func (l *List[T]) Filter(text string) error { return l.table.Filter(text) }

// Filtered implements page.Filterer.
func (l *List[T]) Filtered() string { return l.table.Filtered() }

// Status says what is shown in few words, for the head of the screen.
func (l *List[T]) Status() string {
	if l.gone > 0 {
		return fmt.Sprintf("%s, %d gone", l.table.Status(), l.gone)
	}
	return l.table.Status()
}

// Visible are the rows on the screen, from until before to, of so many.
func (l *List[T]) Visible() (from, to, count int) { return l.table.Visible() }

// asPart leaves to the page what is said once above all of its parts.
func (l *List[T]) asPart() { l.part = true }

// Selected implements page.Selecter.
func (l *List[T]) Selected() (page.Subject, bool) {
	row, ok := l.table.Selected()
	if !ok || l.config.Subject == nil {
		return page.Subject{}, false
	}
	return l.config.Subject(row), true
}

// Memory implements page.Remembered.
func (l *List[T]) Memory() map[string]string { return l.table.Memory() }

// Restore implements page.Remembered.
func (l *List[T]) Restore(memory map[string]string) { l.table.Restore(memory) }

// View implements page.Page.
func (l *List[T]) View(paper ink.Paper) []ink.Line {
	var view data.View
	if len(l.config.Needs) > 0 {
		view = l.frame.View(l.config.Needs[0])
		if lines, blocked := Blocked(view, paper); blocked {
			return lines
		}
	}
	var lines []ink.Line
	if !l.part {
		lines = Above(l.frame, view, paper)
	} else if l.frame.State == data.Live {
		lines = Notices(view, paper) // else the page has said it
	}
	if l.config.Head != nil {
		lines = append(lines, l.config.Head(l.frame, paper)...)
	}
	// The table is what the page is for: it keeps most of a small screen.
	if most := paper.Height / 2; len(lines) > most {
		lines = lines[:most]
	}
	body := paper.Sized(paper.Width, paper.Height-len(lines))
	return ink.Fill(append(lines, l.body(body)...), paper.Height)
}

// SideAt is the width from which details stand beside a table.
const SideAt = 160

func (l *List[T]) body(paper ink.Paper) []ink.Line {
	row, ok := l.table.Selected()
	if l.config.Detail == nil || paper.Width < SideAt || !ok {
		return l.table.View(paper)
	}
	separator := ink.Line{ink.T(ink.Border, " "+paper.Glyphs.Vertical+" ")}
	left := paper.Width * 3 / 5
	right := paper.Width - left - separator.Width()
	if key := l.config.Table.Key(row); key != l.shown || l.frame.Revision != l.revision {
		if key != l.shown {
			l.side = doc.Document{Passive: true}
		}
		l.shown, l.revision = key, l.frame.Revision
		l.side.Set(l.config.Detail(row, l.frame))
	}
	return paper.Beside(separator,
		ink.Pane{Width: left, Lines: l.table.View(paper.Sized(left, paper.Height))},
		ink.Pane{Width: right, Lines: l.side.View(paper.Sized(right, paper.Height))})
}
