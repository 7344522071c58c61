package tui

import (
	"fmt"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/theme"
)

// app is the model. Only Update changes it.
type app struct {
	options Options
	now     func() time.Time
	keys    *keymap
	theme   *theme.Theme
	themes  func(name string) (*theme.Theme, error)

	width, height int
	// stack are the pages, the root first; old and fresh are the history around them.
	stack      []*visit
	old, fresh []page.Location
	visits     int

	// session is the server; nil until one is connected to. connecting is the try to
	// reach one, or another one; attempt tells its answers from those of earlier tries.
	session    *session
	attempt    int
	connecting attempt
	// arrived is the end of a try that waits until a panel is closed.
	arrived *connectedMsg

	// frame is the newest frame; what is shown is of the past if travel is set.
	frame  data.Frame
	travel time.Time
	paused bool
	// held is a frame that came while the screen was held.
	held *data.Frame
	// waiting says that a command waits for the next frame: there is never more than one.
	waiting bool

	panel      panel
	toasted    toast
	fullscreen bool
	mouse      bool
	// interruptedAt is the time of the first ctrl-c.
	interruptedAt time.Time

	// revision changes with everything that can be seen; drawn is the screen of one.
	revision int
	drawn    struct {
		revision int
		screen   string
	}
	// outcome is what quitting decided.
	outcome Outcome
	// recording is why the recording has ended, once that was said.
	recording error
	// stopProcess gives the terminal back and stops the process until it goes on.
	stopProcess func() tea.Msg
	clipboard   clipboard
	// broken is set where the application itself has failed, which ends it.
	broken error
	// crashed is called with the panic of a page.
	crashed func(what string, value any, stack []byte)
}

// toast is what is said for a moment.
type toast struct {
	id   int
	text string
	bad  bool
}

// Outcome is how a run ended.
type Outcome struct {
	// KeepServer says that the server in this process should go on.
	KeepServer bool
}

// Messages. Each carries what its answer must still fit to.
type (
	// tickMsg comes once a second, for ages.
	tickMsg time.Time
	// frameMsg is a frame of a session; ok is false when it has ended.
	frameMsg struct {
		session *session
		frame   data.Frame
		ok      bool
	}
	// answerMsg is what a page has asked for.
	answerMsg struct {
		visit  int
		answer any
	}
	// toastOverMsg ends a toast, unless another one has come.
	toastOverMsg int
	// serverDoneMsg says that the server of this process has ended by itself.
	serverDoneMsg struct{}
)

// newApp returns the model; it starts nothing.
func newApp(options Options, keys *keymap, themes func(string) (*theme.Theme, error), first *theme.Theme) *app {
	now := options.Now
	if now == nil {
		now = time.Now
	}
	if options.Command == "" {
		options.Command = "kapi"
	}
	return &app{options: options, now: now, keys: keys, theme: first, themes: themes, mouse: options.Mouse, revision: 1,
		clipboard: newClipboard(options), crashed: func(string, any, []byte) {}}
}

// Init implements tea.Model.
func (a *app) Init() tea.Cmd {
	cmds := []tea.Cmd{a.connect(""), tick()}
	if done := a.options.ServerDone; done != nil {
		cmds = append(cmds, func() tea.Msg { <-done; return serverDoneMsg{} })
	}
	return tea.Batch(cmds...)
}

func tick() tea.Cmd {
	return tea.Tick(time.Second, func(at time.Time) tea.Msg { return tickMsg(at) })
}

// Update implements tea.Model. What fails here, outside of a page, ends the run: in
// order, with the terminal as it was.
func (a *app) Update(message tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer func() {
		if value := recover(); value != nil {
			a.fail(value)
		}
		if a.broken != nil {
			cmd = tea.Quit
		}
	}()
	a.revision++
	cmd = a.update(message)
	return a, cmd
}

func (a *app) fail(value any) {
	a.broken = fmt.Errorf("the terminal UI failed: %v", value)
	a.crashed("the application", value, debug.Stack())
}

func (a *app) update(message tea.Msg) tea.Cmd {
	switch m := message.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = m.Width, m.Height
	case tea.KeyMsg:
		cmd := a.typed(m)
		if arrived := a.arrived; arrived != nil && a.panel == nil {
			a.arrived = nil
			return tea.Batch(cmd, a.connectedTo(*arrived))
		}
		return cmd
	case tea.MouseMsg:
		return a.mouseEvent(m)
	case tickMsg:
		return a.ticked()
	case frameMsg:
		return a.framed(m)
	case connectedMsg:
		return a.connectedTo(m)
	case retryMsg:
		return a.retry(m)
	case resourcesMsg:
		a.resourcesKnown(m)
	case answerMsg:
		return a.answered(m)
	case effectMsg:
		return a.apply(a.top(), page.Effect(m))
	case toastOverMsg:
		if a.toasted.id == int(m) {
			a.toasted = toast{}
		}
	case serverDoneMsg, quitMsg:
		return a.finish(Outcome{})
	case suspendedMsg:
		return a.resumed(m)
	default:
		a.revision-- // nothing of ours
	}
	return nil
}

// ticked redraws for the sake of ages, and says once that a recording has ended.
func (a *app) ticked() tea.Cmd {
	if err := a.options.recorder.Err(); err != nil && a.recording == nil {
		a.recording = err
		return tea.Batch(tick(), a.toast(true, "nothing is recorded any more: "+err.Error()))
	}
	return tick()
}

// typed takes what was typed: runes that were read at once are keys one by one, but
// for what was pasted.
func (a *app) typed(m tea.KeyMsg) tea.Cmd {
	if m.Type != tea.KeyRunes || m.Paste || m.Alt || len(m.Runes) < 2 {
		return a.key(m)
	}
	var cmds []tea.Cmd
	for _, r := range m.Runes {
		cmds = append(cmds, a.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
	}
	return tea.Batch(cmds...)
}

// key hands a key to the panel, or does its action. Somebody's clipboard is no list
// of commands.
func (a *app) key(m tea.KeyMsg) tea.Cmd {
	name := m.String()
	if name != "ctrl+c" {
		a.interruptedAt = time.Time{}
	}
	if a.toasted.bad { // it was read
		a.toasted = toast{id: a.toasted.id}
	}
	if a.panel != nil && name != "ctrl+c" && name != "ctrl+z" {
		return a.panel.key(a, m)
	}
	if act, ok := a.keys.byKey[name]; ok && !m.Paste {
		return a.dispatch(act)
	}
	return nil
}

// say shows a toast.
func (a *app) say(format string, args ...any) tea.Cmd {
	return a.toast(false, fmt.Sprintf(format, args...))
}

// complain shows one that is an error.
func (a *app) complain(err error) tea.Cmd { return a.toast(true, errorText(err)) }

// How long a toast stays; what went wrong takes longer to read.
const (
	toastTime    = 5 * time.Second
	badToastTime = 15 * time.Second
)

func (a *app) toast(bad bool, text string) tea.Cmd {
	a.toasted = toast{id: a.toasted.id + 1, text: text, bad: bad}
	id, stays := a.toasted.id, toastTime
	if bad {
		stays = badToastTime
	}
	return tea.Tick(stays, func(time.Time) tea.Msg { return toastOverMsg(id) })
}

// View implements tea.Model: exactly height lines, none wider than the terminal.
func (a *app) View() string {
	defer func() {
		if value := recover(); value != nil {
			a.fail(value) // the next message, a second from now at most, ends it
		}
	}()
	if a.drawn.revision != a.revision {
		a.drawn.screen = a.draw()
		a.drawn.revision = a.revision
	}
	return a.drawn.screen
}

// paper is what the screen is drawn on.
func (a *app) paper() ink.Paper {
	return ink.Paper{Width: a.width, Height: a.height, Glyphs: a.theme.Glyphs, Now: a.clock()}
}

// clock is the time that ages count up to: that of the frame in the past and in a
// recording, else now.
func (a *app) clock() time.Time {
	switch {
	case !a.travel.IsZero():
		return a.travel
	case a.paused, a.options.Replay != nil:
		if !a.frame.Now.IsZero() {
			return a.frame.Now
		}
	}
	return a.now()
}
