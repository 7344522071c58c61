// Package dashboard is the first page: the server on one screen, the worst first.
// Every line of it that can be selected leads to the page that says more. It may
// import what pages may.
package dashboard

import (
	"slices"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// New returns the page. It has no details: its lines are of other pages.
func New(env page.Env, _ page.Location) (page.Page, error) {
	if env.Command == "" {
		env.Command = "kapi"
	}
	return &dashboard{env: env}, nil
}

// dashboard is the state of the page.
type dashboard struct {
	env   page.Env
	frame data.Frame
	facts facts
	cache cache
	// cursor is the key of the line that it is on, near its place among all. While
	// nobody has moved it, it is on the first.
	cursor string
	near   int
	moved  bool
	// expanded says that all problems are listed.
	expanded bool
	// placed are the lines of the last drawing that can be selected.
	placed []place
}

// place is a line on the screen that can be selected.
type place struct {
	item
	column, row int
}

// Title implements page.Page.
func (d *dashboard) Title() string { return "dashboard" }

// Needs implements page.Page.
func (d *dashboard) Needs() []data.Key { return needs() }

// Update implements page.Page.
func (d *dashboard) Update(frame data.Frame) {
	d.frame = frame
	d.facts = gather(frame, &d.cache)
}

// Act implements page.Page.
func (d *dashboard) Act(action page.Action) page.Effect {
	at := d.at()
	if at < 0 {
		return page.Effect{}
	}
	count := max(1, action.Count)
	switch action.ID {
	case page.Down:
		d.goTo(at + min(count, len(d.placed)))
	case page.Up:
		d.goTo(at - min(count, len(d.placed)))
	case page.HalfDown, page.PageDown, page.Bottom:
		d.goTo(len(d.placed) - 1)
	case page.HalfUp, page.PageUp, page.Top:
		d.goTo(0)
	case page.NextPart, page.PreviousPart:
		d.aside(1 - d.placed[at].column)
	case page.Right:
		d.aside(1)
	case page.Left:
		d.aside(0)
	case page.Enter:
		if d.placed[at].more {
			d.expanded = !d.expanded
			return page.Effect{}
		}
		return page.Effect{Open: d.placed[at].open}
	default: // there is nothing else to do here
	}
	return page.Effect{}
}

// at is the index of the line that the cursor is on; -1 where there is none.
func (d *dashboard) at() int {
	if len(d.placed) == 0 {
		return -1
	}
	if !d.moved {
		return 0
	}
	if i := slices.IndexFunc(d.placed, func(p place) bool { return p.key == d.cursor }); i >= 0 {
		return i
	}
	return min(d.near, len(d.placed)-1)
}

func (d *dashboard) goTo(i int) {
	i = max(0, min(i, len(d.placed)-1))
	d.cursor, d.near, d.moved = d.placed[i].key, i, true
}

// aside goes to the line in another column that is nearest to this one.
func (d *dashboard) aside(column int) {
	row, best := d.placed[d.at()].row, -1
	for i, p := range d.placed {
		if p.column == column && (best < 0 || distance(p.row, row) < distance(d.placed[best].row, row)) {
			best = i
		}
	}
	if best >= 0 {
		d.goTo(best)
	}
}

func distance(a, b int) int { return max(a-b, b-a) }

// Offers implements page.Page.
func (d *dashboard) Offers(id page.ActionID) bool {
	at := d.at()
	if at < 0 {
		return false
	}
	switch id {
	case page.Down, page.Up, page.HalfDown, page.HalfUp, page.PageDown, page.PageUp, page.Top, page.Bottom:
		return len(d.placed) > 1
	case page.NextPart, page.PreviousPart:
		return slices.ContainsFunc(d.placed, func(p place) bool { return p.column == 1 })
	case page.Left, page.Right:
		to := 0
		if id == page.Right {
			to = 1
		}
		return d.placed[at].column != to && slices.ContainsFunc(d.placed, func(p place) bool { return p.column == to })
	case page.Enter:
		return d.placed[at].more || !d.placed[at].open.Zero()
	default:
		return false
	}
}

// Selected implements page.Selecter: the server as a whole.
func (d *dashboard) Selected() (page.Subject, bool) {
	subject := page.Subject{
		Kind: "server", Name: d.frame.About.Address, Path: "/apis/" + v1alpha1.SchemeGroupVersion.String(),
		Commands: []string{d.env.Command + " inspect"},
	}
	if at := d.at(); at >= 0 && d.placed[at].command != "" {
		subject.Commands = slices.Insert(subject.Commands, 0, d.placed[at].command)
	}
	return subject, true
}

// View implements page.Page.
func (d *dashboard) View(paper ink.Paper) []ink.Line {
	d.placed = nil
	if paper.Width <= 0 || paper.Height <= 0 {
		return ink.Fill(nil, paper.Height)
	}
	if lines, blocked := d.blocked(paper); blocked {
		return lines
	}
	if paper.Width >= kit.SideAt {
		return d.columns(paper)
	}
	left, right, errors := d.facts.left(paper, d.expanded), d.facts.right(paper), d.facts.lastErrors(paper)
	return ink.Fill(d.column(paper, append(slices.Concat(left, right), errors), 0), paper.Height)
}

// blocked says what stands in the place of everything, where nothing is known.
func (d *dashboard) blocked(paper ink.Paper) ([]ink.Line, bool) {
	worst := data.View{}
	for _, key := range needs() {
		view := d.frame.View(key)
		if view.State == data.Live || len(view.Objects) > 0 {
			return nil, false
		}
		if view.State > worst.State && worst.State != data.Forbidden {
			worst = view
		}
	}
	if d.frame.Err != nil && worst.Err == nil {
		worst.Err, worst.State = d.frame.Err, d.frame.State
	}
	return kit.Blocked(worst, paper)
}

// columns draws two stacks of blocks side by side.
func (d *dashboard) columns(paper ink.Paper) []ink.Line {
	separator := ink.Line{ink.T(ink.Border, " "+paper.Glyphs.Vertical+" ")}
	width := paper.Width*11/20 - separator.Width()
	left, right := paper.Sized(width, paper.Height), paper.Sized(paper.Width-width-separator.Width(), paper.Height)
	return paper.Beside(separator,
		ink.Pane{Width: left.Width, Lines: ink.Fill(d.column(left, append(d.facts.left(left, d.expanded), d.facts.lastErrors(left)), 0), paper.Height)},
		ink.Pane{Width: right.Width, Lines: ink.Fill(d.column(right, d.facts.right(right), 1), paper.Height)},
	)
}

// column draws a stack of blocks, and notes what can be selected in it.
func (d *dashboard) column(paper ink.Paper, blocks []block, column int) []ink.Line {
	lines := make([]ink.Line, 0, paper.Height)
	for _, one := range stack(blocks, paper.Height) {
		if one.key == "" && one.open.Zero() && !one.more {
			lines = append(lines, append(ink.Line{ink.T(ink.Text, "  ")}, one.line...))
			continue
		}
		d.placed = append(d.placed, place{one, column, len(lines)})
		lines = append(lines, d.selectable(paper, one, len(d.placed)-1))
	}
	return lines
}

// selectable is a line with the cursor before it, if that is on it.
func (d *dashboard) selectable(paper ink.Paper, one item, i int) ink.Line {
	here := d.cursor == one.key
	if !d.moved {
		here = i == 0
	}
	if !here {
		return append(ink.Line{ink.T(ink.Text, "  ")}, one.line...)
	}
	line := append(ink.Line{ink.T(ink.Accent, paper.Glyphs.Cursor+" ")}, one.line...)
	return paper.Fit(line, paper.Width).Select()
}
