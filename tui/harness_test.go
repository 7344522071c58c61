package tui

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/pages/ask/asktest"
	"github.com/kapi-dev/kapi/tui/settings"
	"github.com/kapi-dev/kapi/tui/theme"
)

// rig is the application without a terminal: messages go in one after the other,
// and the commands that come back are run at once. Time stands still in it.
type rig struct {
	t      testing.TB
	app    *app
	now    *clock
	client *asktest.Client
	// terminal is what was written past the screen: OSC 52.
	terminal bytes.Buffer
	// quits and suspends are how often the program would have ended, or stopped.
	quits, suspends int
	// checks makes every message be followed by a look at the screen.
	checks bool
}

// setting changes the options of a rig.
type setting func(*Options)

// newRig returns an application that has no server yet.
func newRig(t testing.TB, settings ...setting) *rig {
	t.Helper()
	r := &rig{t: t, now: &clock{at: recordedAt}, client: &asktest.Client{}, checks: true}
	options := testOptions(t)
	options.Now = r.now.now
	for _, set := range settings {
		set(&options)
	}
	r.app = testApp(t, options)
	r.app.clipboard.terminal = &r.terminal
	r.app.crashed = func(what string, value any, stack []byte) { t.Logf("%s: %v\n%s", what, value, stack) }
	return r
}

// testOptions are those of a terminal with all colours and a user without files.
func testOptions(t testing.TB) Options {
	t.Helper()
	env := map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": t.TempDir()}
	return Options{
		Getenv: func(name string) string { return env[name] }, ReadOnly: true, Command: "kapi", Theme: "dark", State: settings.LoadState(""),
		Connect: func(string) (Target, error) { return Target{}, fmt.Errorf("there is no server in this test") },
	}
}

// testApp is the model as Run makes it.
func testApp(t testing.TB, options Options) *app {
	t.Helper()
	keys, err := newKeymap(options.Settings.Keys)
	if err != nil {
		t.Fatal(err)
	}
	themes := func(name string) (*theme.Theme, error) {
		profile := theme.TrueColor
		if name == "mono" || options.Getenv("NO_COLOR") != "" {
			profile = theme.None
		}
		return theme.Load(theme.Options{Name: name, Dir: options.Dirs.Themes(), Glyphs: options.Settings.Glyphs, Profile: profile, Background: theme.Dark})
	}
	first, err := themes(options.Theme)
	if err != nil {
		t.Fatal(err)
	}
	a := newApp(options, keys, themes, first)
	a.clipboard.look = func(name string) (string, error) { return "", os.ErrNotExist } // that of whoever runs the test stays as it is
	return a
}

// connect gives the application a session with a hub over a source. What the hub
// has to say is not waited for: frames are fed one by one.
func (r *rig) connect(source data.Source) {
	r.t.Helper()
	s := start(Target{Name: "lab"}, r.client, data.HubOptions{Source: source, Now: r.now.now})
	r.t.Cleanup(s.close)
	r.app.attempt++
	r.send(connectedMsg{attempt: r.app.attempt, session: s, name: "lab"})
}

// frame feeds a frame, as if the hub had it.
func (r *rig) frame(frame data.Frame) {
	r.t.Helper()
	r.send(frameMsg{session: r.app.session, frame: frame, ok: true})
}

func (r *rig) resize(width, height int) {
	r.t.Helper()
	r.send(tea.WindowSizeMsg{Width: width, Height: height})
}

// press presses keys, by the names that Bubble Tea gives them.
func (r *rig) press(names ...string) {
	r.t.Helper()
	for _, name := range names {
		r.send(keyMsg(name))
	}
}

// say types a text, rune by rune.
func (r *rig) say(text string) {
	r.t.Helper()
	for _, each := range text {
		r.send(runeMsg(each))
	}
}

// command types a line after the colon.
func (r *rig) command(line string) {
	r.t.Helper()
	r.press(":")
	r.say(line)
	r.press("enter")
}

// send hands over a message and runs what comes of it, until nothing is left but to
// wait.
func (r *rig) send(message tea.Msg) {
	r.t.Helper()
	_, cmd := r.app.Update(message)
	r.run(cmd, 0)
	if r.checks {
		r.view()
	}
}

// longest is how often a command may lead to the next one.
const longest = 100

func (r *rig) run(cmd tea.Cmd, depth int) {
	r.t.Helper()
	if cmd == nil || waits(cmd) {
		return
	}
	if depth > longest {
		r.t.Fatal("a command leads to another one without end")
	}
	switch m := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, each := range m {
			r.run(each, depth+1)
		}
	case tea.QuitMsg:
		r.quits++
	case tea.SuspendMsg:
		r.suspends++
	default:
		_, next := r.app.Update(m)
		r.run(next, depth+1)
	}
}

// waits tells whether a command does nothing but wait: for a time, for a frame. They
// are told by the functions that make them.
func waits(cmd tea.Cmd) bool {
	name := runtime.FuncForPC(reflect.ValueOf(cmd).Pointer()).Name()
	return strings.Contains(name, ".Tick.") || strings.Contains(name, "(*app).wait.") || strings.Contains(name, "(*app).Init.")
}

// view is the screen. Every screen keeps the rules.
func (r *rig) view() string {
	r.t.Helper()
	screen := r.app.View()
	if err := checkScreen(screen, r.app.width, r.app.height); err != nil {
		r.t.Fatalf("at %s, %dx%d: %v\n%s", r.place(), r.app.width, r.app.height, err, screen)
	}
	return screen
}

// text is the screen without colours.
func (r *rig) text() string {
	r.t.Helper()
	return ansi.Strip(r.view())
}

// place is where one is.
func (r *rig) place() string {
	if v := r.app.top(); v != nil {
		return v.at.String()
	}
	return "nowhere"
}

// wants fails where something can't be seen.
func (r *rig) wants(texts ...string) {
	r.t.Helper()
	screen := r.text()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			r.t.Errorf("at %s %q is not on the screen:\n%s", r.place(), text, screen)
		}
	}
}

// lacks fails where something can be seen.
func (r *rig) lacks(texts ...string) {
	r.t.Helper()
	screen := r.text()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			r.t.Errorf("at %s %q is on the screen:\n%s", r.place(), text, screen)
		}
	}
}

// sgr are the only sequences that a screen may hold.
var sgr = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// checkScreen are the rules of a screen: as many lines as the terminal has, each as
// wide as the terminal, and nothing in them that steers it but colours.
func checkScreen(screen string, width, height int) error {
	if width <= 0 || height <= 0 {
		if screen != "" {
			return fmt.Errorf("something is drawn on nothing: %q", screen)
		}
		return nil
	}
	lines := strings.Split(screen, "\n")
	if len(lines) != height {
		return fmt.Errorf("%d lines", len(lines))
	}
	for i, line := range lines {
		if got := ansi.StringWidth(line); got != width {
			return fmt.Errorf("line %d is %d cells wide: %q", i, got, line)
		}
		for _, each := range sgr.ReplaceAllString(line, "") {
			if unicode.IsControl(each) || unicode.Is(unicode.Bidi_Control, each) {
				return fmt.Errorf("line %d holds %q: %q", i, each, line)
			}
		}
	}
	return nil
}

// keyMsg is a key by the name that Bubble Tea gives it.
func keyMsg(name string) tea.KeyMsg {
	if rest, ok := strings.CutPrefix(name, "alt+"); ok {
		m := keyMsg(rest)
		m.Alt = true
		return m
	}
	if name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	for kind := tea.KeyF20; kind <= 127; kind++ {
		if kind != tea.KeyRunes && kind.String() == name {
			return tea.KeyMsg{Type: kind}
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

func runeMsg(each rune) tea.KeyMsg {
	if each == ' ' {
		return keyMsg(" ")
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{each}}
}

func pasteMsg(text string) tea.KeyMsg {
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true}
}

// updating tells whether pictures are to be written: go test -update.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}
