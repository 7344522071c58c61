package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// helpPanel lists what every key does, those of this page first.
type helpPanel struct{ text doc.Document }

func (a *app) openHelp() tea.Cmd {
	p := &helpPanel{}
	var lines []doc.Line
	heading := func(text string) {
		if len(lines) > 0 {
			lines = append(lines, doc.Line{})
		}
		lines = append(lines, doc.Line{Line: ink.L(ink.Heading, " "+text)})
	}
	entry := func(key, help string, here bool) {
		line := ink.Line{ink.T(ink.Key, " "+ink.Pad(key, 16)), ink.T(ink.Text, " "+help)}
		if !here {
			line = ink.L(ink.Muted, " "+ink.Pad(key, 16)+" (not here) "+help)
		}
		lines = append(lines, doc.Line{Line: line})
	}
	for _, group := range []string{groupObject, groupTable, groupFind, groupView, groupMove} {
		heading(group)
		for i := range a.keys.actions {
			act := &a.keys.actions[i]
			if act.group != group || len(act.keys) == 0 {
				continue
			}
			entry(strings.Join(shownKeys(act.keys), " "), act.help, a.offered(act))
		}
	}
	heading("Commands, after " + a.keys.keyOf(actPalette))
	for _, c := range commands() {
		entry(strings.TrimSpace(c.name+" "+c.args), c.help, true)
	}
	for _, p := range pageTable() {
		entry(p.Name, p.Help, true)
	}
	entry("RESOURCE", "any resource of the server, as in kubectl: pods -n kube-system, deploy/web", true)
	p.text.Set(func(ink.Paper) []doc.Line { return lines })
	a.panel = p
	return nil
}

func shownKeys(keys []string) []string {
	shown := make([]string, 0, len(keys))
	for _, key := range keys {
		shown = append(shown, shownKey(key))
	}
	return shown
}

func (p *helpPanel) lines(_ *app, paper ink.Paper) []ink.Line {
	return append([]ink.Line{rule(paper, "help")}, p.text.View(paper.Sized(paper.Width, paper.Height-1))...)
}

func (p *helpPanel) foot(*app, ink.Paper) ink.Line {
	return ink.Line{ink.T(ink.Key, " esc"), ink.T(ink.Muted, " closes  "), ink.T(ink.Key, "j k"), ink.T(ink.Muted, " scroll  keys can be changed in tui.yaml")}
}

func (p *helpPanel) key(a *app, m tea.KeyMsg) tea.Cmd {
	switch m.String() {
	case "esc", "q", "?", "enter":
		a.panel = nil
		return nil
	}
	if act, ok := a.keys.byKey[m.String()]; ok && act.run == nil {
		p.text.Act(page.Action{ID: act.id, Count: 1})
	}
	return nil
}
