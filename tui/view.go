package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/tui/page"
)

// effectMsg is an effect of work that no page has asked for; quitMsg ends the run.
type (
	effectMsg page.Effect
	quitMsg   struct{}
	// suspendedMsg says that the process was stopped and goes on, or why it could not be.
	suspendedMsg struct{ err error }
)

func (a *app) toggleFullscreen() tea.Cmd {
	a.fullscreen = !a.fullscreen
	return nil
}

// togglePause holds the screen. The feeds go on, so that the past has no hole.
func (a *app) togglePause() tea.Cmd {
	a.paused = !a.paused
	if a.paused {
		return nil
	}
	if a.held == nil {
		return nil
	}
	frame := *a.held
	a.held = nil
	return a.take(frame)
}

// times are those that one can go back to, oldest first.
func (a *app) times() []time.Time {
	if a.session == nil {
		return nil
	}
	return a.session.hub.Times()
}

func (a *app) inPast() bool { return !a.travel.IsZero() }

func (a *app) hasEarlier() bool {
	times := a.times()
	return len(times) > 0 && (a.travel.IsZero() || times[0].Before(a.travel))
}

// earlier goes one step back in time; the first time to the newest of the past.
func (a *app) earlier() tea.Cmd {
	from := a.travel
	if from.IsZero() {
		from = a.frame.Now
	}
	times := a.times()
	i, _ := slices.BinarySearchFunc(times, from, time.Time.Compare)
	if i == 0 || !a.knows(a.session.hub.At(times[i-1])) {
		return a.say("nothing is known of this page before that")
	}
	a.travel = times[i-1]
	a.show()
	return nil
}

// later goes one step forward, and from the last one to now.
func (a *app) later() tea.Cmd {
	times := a.times()
	i, found := slices.BinarySearchFunc(times, a.travel, time.Time.Compare)
	if found {
		i++
	}
	if i >= len(times) {
		return a.toNow()
	}
	a.travel = times[i]
	a.show()
	return nil
}

// toNow leaves the past.
func (a *app) toNow() tea.Cmd {
	a.travel = time.Time{}
	a.show()
	return nil
}

// refresh asks the server again: the feeds, and the page for what it has asked once.
func (a *app) refresh() tea.Cmd {
	if a.session == nil {
		if a.connecting.next.IsZero() && a.connecting.err == nil {
			return nil // a try is on its way
		}
		a.attempt++
		a.connecting.next, a.connecting.err = time.Time{}, nil
		return a.try()
	}
	a.session.hub.Refresh()
	if a.pageOffers(page.Refresh) {
		return a.pageAct(page.Refresh)
	}
	return nil
}

func (a *app) nextTheme() tea.Cmd {
	names := a.themeNames()
	if len(names) == 0 {
		return nil
	}
	i := slices.Index(names, a.theme.Name)
	if err := a.setTheme(names[(i+1)%len(names)]); err != nil {
		return a.complain(err)
	}
	return a.say("theme %s", a.theme.Name)
}

func (a *app) setTheme(name string) error {
	next, err := a.themes(name)
	if err != nil {
		return err
	}
	a.theme = next
	if a.options.State != nil {
		a.options.State.Theme = name
	}
	return nil
}

func (a *app) toggleMouse() tea.Cmd {
	a.mouse = !a.mouse
	if a.mouse {
		return tea.Batch(tea.EnableMouseCellMotion, a.say("mouse on"))
	}
	return tea.Batch(tea.DisableMouse, a.say("mouse off: the terminal selects text"))
}

// wheelLines is how far one step of the wheel goes.
const wheelLines = 3

// mouseEvent scrolls, and opens the tab that was clicked.
func (a *app) mouseEvent(m tea.MouseMsg) tea.Cmd {
	if a.panel != nil {
		return nil
	}
	switch {
	case m.Button == tea.MouseButtonWheelDown:
		return a.scroll(page.Down)
	case m.Button == tea.MouseButtonWheelUp:
		return a.scroll(page.Up)
	case m.Button == tea.MouseButtonLeft && m.Action == tea.MouseActionPress && m.Y == 1:
		return a.clickTab(m.X)
	}
	return nil
}

func (a *app) scroll(id page.ActionID) tea.Cmd {
	v := a.top()
	if v == nil || v.page == nil || v.err != nil {
		return nil
	}
	var effect page.Effect
	a.guard(v, func() { effect = v.page.Act(page.Action{ID: id, Count: wheelLines}) })
	return a.apply(v, effect)
}

func (a *app) clickTab(x int) tea.Cmd {
	paper := a.paper()
	if a.fullscreen || paper.Height < tabsHeight || paper.Width < compactWidth {
		return nil
	}
	at := 0
	line := a.tabs(paper) // a gap, the digit, the name, for each
	for i := 0; i+2 < len(line); i += 3 {
		end := at + line[i:i+3].Width()
		if x >= at && x < end {
			if act, ok := a.keys.byKey[line[i+1].Text]; ok {
				return a.dispatch(act)
			}
		}
		at = end
	}
	return nil
}

// quit asks about the server of this process, if there is one.
func (a *app) quit() tea.Cmd {
	if a.options.StopServer == nil {
		return a.finish(Outcome{})
	}
	a.panel = &choicePanel{title: "the server runs in this process", choices: []choice{
		{key: "y", text: "stop the server and quit", run: func(a *app) tea.Cmd { return a.finish(Outcome{}) }},
		{key: "k", text: "keep the server, leave the screen", note: "its log goes to this terminal, ctrl-c stops it",
			run: func(a *app) tea.Cmd { return a.finish(Outcome{KeepServer: true}) }},
	}}
	return nil
}

// finish ends the run, and keeps what is to be remembered.
func (a *app) finish(outcome Outcome) tea.Cmd {
	a.outcome = outcome
	if v := a.top(); v != nil {
		a.remember(v)
	}
	if state := a.options.State; state != nil && len(a.stack) > 0 {
		state.Page = page.Location{Page: a.stack[0].at.Page}.String()
	}
	return tea.Quit
}

// suspend goes to the shell, and comes back with fg.
func (a *app) suspend() tea.Cmd {
	if a.stopProcess == nil {
		return nil
	}
	return a.stopProcess
}

// resumed draws everything anew: the terminal has shown something else.
func (a *app) resumed(m suspendedMsg) tea.Cmd {
	if m.err != nil {
		return a.complain(m.err)
	}
	if a.session != nil {
		a.session.hub.Refresh()
	}
	cmds := []tea.Cmd{tea.ClearScreen}
	if a.mouse {
		cmds = append(cmds, tea.EnableMouseCellMotion)
	}
	return tea.Batch(cmds...)
}
