package kit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// Part is one of the pages that share a screen, one below the other.
type Part struct {
	page.Page
	// Share is its part of the height, beside those of the others.
	Share int
	// Least is the height below which it is left out, unless it has the focus.
	Least int
}

// Parts is a page of several pages, one of which has the focus. It implements
// page.Page and hands the other interfaces to the part with the focus.
type Parts struct {
	title string
	parts []Part
	focus int
	frame data.Frame
}

// NewParts returns a page of several; the first has the focus.
func NewParts(title string, parts ...Part) *Parts {
	for _, part := range parts {
		if each, ok := part.Page.(interface{ asPart() }); ok {
			each.asPart()
		}
	}
	return &Parts{title: title, parts: parts}
}

// Focused is the part that has the focus.
func (p *Parts) Focused() page.Page { return p.parts[p.focus].Page }

// Title implements page.Page.
func (p *Parts) Title() string { return p.title }

// Needs implements page.Page.
func (p *Parts) Needs() []data.Key {
	var needs []data.Key
	for _, part := range p.parts {
		for _, key := range part.Needs() {
			if !slices.Contains(needs, key) {
				needs = append(needs, key)
			}
		}
	}
	return needs
}

// Update implements page.Page.
func (p *Parts) Update(frame data.Frame) {
	p.frame = frame
	for _, part := range p.parts {
		part.Update(frame)
	}
}

// Act implements page.Page.
func (p *Parts) Act(action page.Action) page.Effect {
	switch action.ID {
	case page.NextPart:
		p.focus = (p.focus + 1) % len(p.parts)
		return page.Effect{}
	case page.PreviousPart:
		p.focus = (p.focus + len(p.parts) - 1) % len(p.parts)
		return page.Effect{}
	default:
		return p.Focused().Act(action)
	}
}

// Offers implements page.Page.
func (p *Parts) Offers(id page.ActionID) bool {
	return (id == page.NextPart || id == page.PreviousPart) && len(p.parts) > 1 || p.Focused().Offers(id)
}

// Filter implements page.Filterer.
func (p *Parts) Filter(text string) error {
	if filterer, ok := p.Focused().(page.Filterer); ok {
		return filterer.Filter(text)
	}
	return nil
}

// Filtered implements page.Filterer.
func (p *Parts) Filtered() string {
	if filterer, ok := p.Focused().(page.Filterer); ok {
		return filterer.Filtered()
	}
	return ""
}

// Selected implements page.Selecter.
func (p *Parts) Selected() (page.Subject, bool) {
	if selecter, ok := p.Focused().(page.Selecter); ok {
		return selecter.Selected()
	}
	return page.Subject{}, false
}

// Status says what is shown in few words, of the part with the focus.
func (p *Parts) Status() string {
	if status, ok := p.Focused().(interface{ Status() string }); ok {
		return status.Status()
	}
	return ""
}

// Memory implements page.Remembered: that of each part under its title.
func (p *Parts) Memory() map[string]string {
	all := map[string]string{}
	for _, part := range p.parts {
		if remembered, ok := part.Page.(page.Remembered); ok {
			for name, value := range remembered.Memory() {
				all[part.Title()+"."+name] = value
			}
		}
	}
	return all
}

// Restore implements page.Remembered.
func (p *Parts) Restore(memory map[string]string) {
	for _, part := range p.parts {
		remembered, ok := part.Page.(page.Remembered)
		if !ok {
			continue
		}
		own := map[string]string{}
		for _, name := range slices.Collect(maps.Keys(memory)) {
			if len(name) > len(part.Title()) && name[:len(part.Title())+1] == part.Title()+"." {
				own[name[len(part.Title())+1:]] = memory[name]
			}
		}
		remembered.Restore(own)
	}
}

// View implements page.Page. A line with the part's title stands above each; the
// one with the focus is marked.
func (p *Parts) View(paper ink.Paper) []ink.Line {
	var lines []ink.Line
	if paper.Height > 2 {
		lines = Lost(p.frame, paper)
	}
	shown := p.fitting(paper.Height - len(lines))
	room, shares := paper.Height-len(lines)-len(shown), 0
	for _, i := range shown {
		shares += max(1, p.parts[i].Share)
	}
	for n, i := range shown {
		height := room * max(1, p.parts[i].Share) / max(1, shares)
		if n == len(shown)-1 {
			height = paper.Height - len(lines) - 1
		}
		drawn := p.parts[i].View(paper.Sized(paper.Width, height))
		lines = append(append(lines, p.head(i, paper)), drawn...)
	}
	return ink.Fill(lines, paper.Height)
}

// head is the line above a part. It says which rows there is room for, where that is
// not all. It is to be asked for after the part was drawn.
func (p *Parts) head(i int, paper ink.Paper) ink.Line {
	token, mark := ink.Muted, " "
	if i == p.focus {
		token, mark = ink.Heading, paper.Glyphs.Cursor
	}
	line := ink.Line{ink.T(ink.Accent, mark+" "), ink.T(token, p.parts[i].Title())}
	if table, ok := p.parts[i].Page.(interface{ Visible() (from, to, count int) }); ok {
		if from, to, count := table.Visible(); to-from < count {
			line = append(line, ink.T(ink.Accent, fmt.Sprintf("  %d-%d of %d", from+1, to, count)))
		}
	}
	if i != p.focus {
		line = append(line, ink.T(ink.Muted, "  (tab)"))
	}
	return line
}

// fitting are the parts that have room, in order; the one with the focus is always
// among them.
func (p *Parts) fitting(height int) []int {
	shown := []int{p.focus}
	used := 1 + p.parts[p.focus].Least
	for i, part := range p.parts {
		if i == p.focus || used+1+part.Least > height {
			continue
		}
		used += 1 + part.Least
		shown = append(shown, i)
	}
	slices.Sort(shown)
	return shown
}
