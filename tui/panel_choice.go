package tui

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/tui/ink"
)

// choice is one line of a panel that asks for one of several.
type choice struct {
	// key chooses it at once; empty takes its number.
	key string
	// text is what is offered, note what it means.
	text, note string
	run        func(*app) tea.Cmd
}

// choicePanel asks for one of several things.
type choicePanel struct {
	title   string
	choices []choice
	at      int
}

func (p *choicePanel) lines(_ *app, paper ink.Paper) []ink.Line {
	lines := []ink.Line{rule(paper, p.title)}
	room := max(1, paper.Height-1)
	from := max(0, min(p.at-room/2, len(p.choices)-room))
	for i := from; i < min(len(p.choices), from+room); i++ {
		c := p.choices[i]
		mark := "  "
		if i == p.at {
			mark = paper.Glyphs.Cursor + " "
		}
		line := ink.Line{ink.T(ink.Accent, mark), ink.T(ink.Key, ink.Pad(p.keyOf(i), 2)), ink.T(ink.Text, " "+c.text)}
		if c.note != "" {
			line = append(line, ink.T(ink.Muted, "  "+c.note))
		}
		if i == p.at {
			line = paper.Fit(line, paper.Width).Select()
		}
		lines = append(lines, line)
	}
	return lines
}

func (p *choicePanel) keyOf(i int) string {
	if key := p.choices[i].key; key != "" {
		return key
	}
	if i < 9 {
		return strconv.Itoa(i + 1)
	}
	return ""
}

func (p *choicePanel) foot(*app, ink.Paper) ink.Line {
	return ink.Line{ink.T(ink.Key, " enter"), ink.T(ink.Muted, " chooses  "), ink.T(ink.Key, "esc"), ink.T(ink.Muted, " closes")}
}

func (p *choicePanel) key(a *app, m tea.KeyMsg) tea.Cmd {
	name := m.String()
	for i := range p.choices { // what a choice is called goes before what moves
		if p.keyOf(i) == name {
			return p.choose(a, i)
		}
	}
	switch name {
	case "esc", "q":
		a.panel = nil
	case "j", "down", "ctrl+n", "tab":
		p.at = min(p.at+1, len(p.choices)-1)
	case "k", "up", "ctrl+p", "shift+tab":
		p.at = max(p.at-1, 0)
	case "enter":
		return p.choose(a, p.at)
	}
	return nil
}

func (p *choicePanel) choose(a *app, i int) tea.Cmd {
	a.panel = nil
	if i < 0 || i >= len(p.choices) {
		return nil
	}
	return p.choices[i].run(a)
}

// confirmPanel asks for a name to be typed before something is changed.
type confirmPanel struct {
	typed
	title string
	text  []string
	want  string
	// wrong says that enter was pressed after something else.
	wrong bool
	run   func(*app) tea.Cmd
}

func (p *confirmPanel) lines(_ *app, paper ink.Paper) []ink.Line {
	lines := []ink.Line{rule(paper, p.title)}
	for _, text := range p.text {
		lines = append(lines, paper.Wrap(ink.Text, text, paper.Width-2)...)
	}
	return ink.Fill(lines, min(len(lines), paper.Height))
}

func (p *confirmPanel) foot(_ *app, paper ink.Paper) ink.Line {
	note := ink.Line{ink.T(ink.Muted, "type "+p.want+", then enter; esc leaves it")}
	if p.wrong {
		note = ink.Line{ink.T(ink.Bad, paper.Glyphs.Bad+" that is not "+p.want+": nothing was changed")}
	}
	if p.wrong {
		note = ink.Line{ink.T(ink.Bad, paper.Glyphs.Bad+" that is not "+p.want+": nothing was changed")}
	}
	if p.value() == p.want {
		note = ink.Line{ink.T(ink.Warning, paper.Glyphs.Warning+" enter does it")}
	}
	return p.line(paper, ink.T(ink.Bad, " name: "), note)
}

func (p *confirmPanel) key(a *app, m tea.KeyMsg) tea.Cmd {
	switch m.String() {
	case "esc":
		a.panel = nil
		return a.say("nothing was changed")
	case "enter":
		if p.value() != p.want {
			p.wrong = true
			return nil
		}
		a.panel = nil
		return p.run(a)
	}
	p.edit(m)
	p.wrong = false
	return nil
}
