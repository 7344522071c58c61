package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/tui/ink"
)

// palettePanel is the line after a colon, with what could be meant.
type palettePanel struct {
	typed
	// offers are the completions of what is typed; at is the chosen one, -1 none.
	offers []offer
	at     int
	err    error
}

// offer is a completion.
type offer struct {
	// line is what the whole line becomes; shown is how it is listed, help says what it is.
	line, shown, help string
}

func (a *app) openPalette() tea.Cmd { return a.openPaletteWith("") }

func (a *app) openPaletteWith(text string) tea.Cmd {
	p := &palettePanel{typed: newTyped(text), at: -1}
	p.offers = a.complete(p.value())
	a.panel = p
	return nil
}

// mostOffers is how many are listed.
const mostOffers = 8

func (p *palettePanel) lines(_ *app, paper ink.Paper) []ink.Line {
	lines := []ink.Line{rule(paper, "go to")}
	room := min(mostOffers, paper.Height-1)
	from := max(0, min(p.at-room+1, len(p.offers)-room))
	if p.at < 0 {
		from = 0
	}
	shown := p.offers[from:min(len(p.offers), from+room)]
	width := 0
	for _, o := range shown {
		width = max(width, min(ink.Width(paper.Clean(o.shown)), paper.Width/2))
	}
	for i := from; i < from+len(shown); i++ {
		o, mark := p.offers[i], "  "
		if i == p.at {
			mark = paper.Glyphs.Cursor + " "
		}
		line := ink.Line{ink.T(ink.Accent, mark), ink.T(ink.Text, ink.Pad(paper.Clean(o.shown), width)), ink.T(ink.Muted, "  "+o.help)}
		if i == p.at {
			line = paper.Fit(line, paper.Width).Select()
		}
		lines = append(lines, line)
	}
	return lines
}

func (p *palettePanel) foot(_ *app, paper ink.Paper) ink.Line {
	note := ink.Line{ink.T(ink.Muted, "tab completes")}
	if p.err != nil {
		note = ink.Line{ink.T(ink.Bad, paper.Glyphs.Bad+" "+errorText(p.err))}
	}
	return p.line(paper, ink.T(ink.Accent, " :"), note)
}

func (p *palettePanel) key(a *app, m tea.KeyMsg) tea.Cmd {
	switch m.String() {
	case "esc":
		a.panel = nil
		return nil
	case "tab", "down", "ctrl+n":
		p.choose(min(p.at+1, len(p.offers)-1))
		return nil
	case "shift+tab", "up", "ctrl+p":
		p.choose(max(p.at-1, 0))
		return nil
	case "enter":
		return p.run(a)
	}
	if m.Type == tea.KeyBackspace && p.value() == "" {
		a.panel = nil
		return nil
	}
	p.edit(m)
	p.at, p.err, p.offers = -1, nil, a.complete(p.value())
	return nil
}

// choose puts an offer on the line; the list stays, so that tab goes through it.
func (p *palettePanel) choose(i int) {
	if i < 0 || i >= len(p.offers) {
		return
	}
	p.at = i
	p.set(p.offers[i].line)
}

// run does what the line says; a beginning of only one thing is that thing. The
// panel stays open if it can't be done.
func (p *palettePanel) run(a *app) tea.Cmd {
	line := strings.TrimSpace(p.value())
	if line == "" {
		a.panel = nil
		return nil
	}
	cmd, err := a.command(line)
	if err != nil && p.at < 0 && len(p.offers) > 0 && !strings.Contains(line, " ") && strings.HasPrefix(p.offers[0].line, line) {
		cmd, err = a.command(strings.TrimSpace(p.offers[0].line))
	}
	if err != nil {
		p.err = err
		return nil
	}
	if a.panel == panel(p) {
		a.panel = nil
	}
	return cmd
}
