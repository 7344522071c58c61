package tui

import (
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// panel is what opens at the bottom of the screen. While there is one, all keys are
// its own, but for ctrl-c.
type panel interface {
	// lines stand above the foot; at most paper.Height of them.
	lines(a *app, paper ink.Paper) []ink.Line
	// foot is the line at the bottom; nil leaves it as it is.
	foot(a *app, paper ink.Paper) ink.Line
	// key takes a key.
	key(a *app, m tea.KeyMsg) tea.Cmd
}

// rule is the line above a panel, with its title.
func rule(paper ink.Paper, title string) ink.Line {
	h := paper.Glyphs.Horizontal
	line := ink.Line{ink.T(ink.Border, h+h+" "), ink.T(ink.Heading, title), ink.T(ink.Border, " ")}
	for n := line.Width(); n < paper.Width; n++ {
		line = append(line, ink.T(ink.Border, h))
	}
	return line
}

// typed is a line that is typed: bubbles' textinput edits it, ink draws it.
type typed struct {
	input textinput.Model
}

func newTyped(value string) typed {
	input := textinput.New()
	input.CharLimit = 4096
	input.Focus()
	input.SetValue(value)
	input.CursorEnd()
	return typed{input: input}
}

func (t *typed) value() string { return t.input.Value() }

func (t *typed) set(value string) {
	t.input.SetValue(value)
	t.input.CursorEnd()
}

// edit takes a key. The cursor does not blink, so there is no command to run.
func (t *typed) edit(m tea.KeyMsg) { t.input, _ = t.input.Update(m) }

// line draws it after a prompt, with the cursor in view.
func (t *typed) line(paper ink.Paper, prompt ink.Span, note ink.Line) ink.Line {
	runes, at := []rune(t.value()), t.input.Position()
	at = min(at, len(runes))
	room := paper.Width - ink.Width(paper.Clean(prompt.Text)) - 3
	// What is typed goes before what is said about it, up to half of the line.
	if room -= note.Width(); room < paper.Width/2 {
		room = min(paper.Width/2, ink.Width(paper.Clean(string(runes)))+1)
	}
	// What is before the cursor goes first where there is too little room.
	from := 0
	for from < at && ink.Width(paper.Clean(string(runes[from:at]))) > max(1, room) {
		from++
	}
	under := " "
	after := ""
	if at < len(runes) {
		under, after = string(runes[at]), string(runes[at+1:])
	}
	cursor := ink.Span{Token: ink.Accent, Selected: true, Text: under}
	line := ink.Line{prompt, ink.T(ink.Text, string(runes[from:at])), cursor, ink.T(ink.Text, after)}
	if len(note) > 0 {
		line = append(append(line, ink.T(ink.Text, "  ")), note...)
	}
	return line
}

// filterPanel is the line after a slash. What is typed counts at once; esc brings
// back what was there before.
type filterPanel struct {
	typed
	before string
	err    error
}

// filterer is the page that is seen, if it can be filtered.
func (a *app) filterer() (page.Filterer, bool) {
	v := a.top()
	if v == nil || v.err != nil {
		return nil, false
	}
	filterer, ok := v.page.(page.Filterer)
	return filterer, ok
}

func (a *app) filterable() bool {
	_, ok := a.filterer()
	return ok
}

// filtered is the filter of the page that is seen.
func (a *app) filtered() string {
	text := ""
	if filterer, ok := a.filterer(); ok {
		a.guard(a.top(), func() { text = filterer.Filtered() })
	}
	return text
}

func (a *app) openFilter() tea.Cmd {
	a.panel = &filterPanel{typed: newTyped(a.filtered()), before: a.filtered()}
	return nil
}

func (p *filterPanel) lines(*app, ink.Paper) []ink.Line { return nil }

func (p *filterPanel) foot(a *app, paper ink.Paper) ink.Line {
	note := ink.Line{ink.T(ink.Muted, "enter keeps, esc undoes")}
	if p.err != nil {
		note = ink.Line{ink.T(ink.Bad, paper.Glyphs.Bad+" "+errorText(p.err))}
	} else if status := a.status(); status != "" {
		note = ink.Line{ink.T(ink.Muted, status)}
	}
	return p.line(paper, ink.T(ink.Accent, " /"), note)
}

func (p *filterPanel) key(a *app, m tea.KeyMsg) tea.Cmd {
	switch m.String() {
	case "esc":
		a.panel = nil
		_ = a.setFilter(p.before) // it was right before
		return nil
	case "enter":
		if p.err == nil {
			a.panel = nil
		}
		return nil
	case "up", "down", "pgup", "pgdown", "ctrl+n", "ctrl+p":
		move := map[string]page.ActionID{"up": page.Up, "ctrl+p": page.Up, "down": page.Down, "ctrl+n": page.Down, "pgup": page.PageUp, "pgdown": page.PageDown}
		return a.pageAct(move[m.String()])
	}
	if m.Type == tea.KeyBackspace && p.value() == "" {
		a.panel = nil
		return nil
	}
	p.edit(m)
	p.err = a.setFilter(p.value())
	return nil
}

func (a *app) setFilter(text string) (err error) {
	if filterer, ok := a.filterer(); ok {
		a.guard(a.top(), func() { err = filterer.Filter(text) })
	}
	return err
}
