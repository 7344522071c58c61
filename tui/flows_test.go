package tui

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/teatest"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
)

// watched is the application in a real program; every screen of it is looked at.
type watched struct {
	*app
	lock   sync.Mutex
	screen string
	wrong  error
	drawn  chan struct{}
}

func (w *watched) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := w.app.Update(message)
	return w, cmd
}

func (w *watched) View() string {
	screen := w.app.View()
	w.lock.Lock()
	defer w.lock.Unlock()
	if err := checkScreen(screen, w.width, w.height); err != nil && w.wrong == nil {
		w.wrong = err
	}
	w.screen = screen
	select {
	case w.drawn <- struct{}{}:
	default:
	}
	return screen
}

// flow is a run of the program by somebody who waits for what is to be seen.
type flow struct {
	t        *testing.T
	program  *teatest.TestModel
	model    *watched
	terminal *terminal
}

// terminal is what a terminal gets besides the screen.
type terminal struct {
	lock sync.Mutex
	got  bytes.Buffer
}

func (w *terminal) Write(p []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.got.Write(p)
}

func (w *terminal) String() string {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.got.String()
}

func newFlow(t *testing.T, settings ...setting) *flow {
	t.Helper()
	options := testOptions(t)
	options.Refresh = 20 * time.Millisecond
	for _, set := range settings {
		set(&options)
	}
	f := &flow{t: t, model: &watched{app: testApp(t, options), drawn: make(chan struct{}, 1)}, terminal: &terminal{}}
	f.model.clipboard.terminal = f.terminal
	f.program = teatest.NewTestModel(t, f.model, teatest.WithInitialTermSize(80, 24))
	t.Cleanup(f.close)
	return f
}

// close ends the run, unless it has ended, and what it has started.
func (f *flow) close() {
	_ = f.program.Quit()
	f.program.WaitFinished(f.t, teatest.WithFinalTimeout(time.Minute))
	if f.model.session != nil {
		f.model.session.close()
	}
	if f.model.wrong != nil {
		f.t.Errorf("a screen broke the rules: %v", f.model.wrong)
	}
}

// press presses keys, in the middle of which the terminal changes its size.
func (f *flow) press(names ...string) {
	for _, name := range names {
		f.program.Send(tea.WindowSizeMsg{Width: 41 + len(name)*7, Height: 13})
		f.program.Send(keyMsg(name))
		f.program.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
	}
}

// say types a text.
func (f *flow) say(text string) {
	for _, each := range text {
		f.program.Send(runeMsg(each))
	}
}

func (f *flow) command(line string) {
	f.press(":")
	f.say(line)
	f.press("enter")
}

// until waits for a screen on which something holds.
func (f *flow) until(what string, holds func(text string) bool) string {
	f.t.Helper()
	late := time.After(time.Minute)
	for {
		f.model.lock.Lock()
		text := ansi.Strip(f.model.screen)
		f.model.lock.Unlock()
		if strings.Count(text, "\n") == 23 && holds(text) {
			return text
		}
		select {
		case <-f.model.drawn:
		case <-late:
			f.t.Fatalf("%s is never seen:\n%s", what, text)
		}
	}
}

// sees waits until all of these can be seen, and none of those after "not".
func (f *flow) sees(texts ...string) string {
	f.t.Helper()
	return f.until(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if unwanted, ok := strings.CutPrefix(text, "not "); ok == strings.Contains(screen, strings.TrimPrefix(unwanted, "not ")) {
				return false
			}
		}
		return true
	})
}

// ends waits for the end of the run.
func (f *flow) ends() Outcome {
	f.t.Helper()
	f.program.WaitFinished(f.t, teatest.WithFinalTimeout(time.Minute))
	return f.model.outcome
}

func at(t *testing.T, place string) setting {
	t.Helper()
	start, err := page.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) { o.Start = start }
}

// TestFlowOfATable goes through what one does with a table.
func TestFlowOfATable(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t, "lab", troubledFrame(t))
	f := newFlow(t, connects(server), at(t, "crds"))
	f.sees("gadgets.lab.example", "widgets.lab.example", "live")

	// Filter: it counts at once, enter keeps it, esc clears it before it leaves.
	f.press("/")
	f.say("stuck")
	f.sees("/stuck", "stucks.lab.example", "not gadgets.lab.example")
	f.press("esc")
	f.sees("gadgets.lab.example")
	f.press("/")
	f.say("!stuck")
	f.press("enter")
	f.sees("gadgets.lab.example", "not stucks.lab.example")
	f.press("esc")
	f.sees("stucks.lab.example")

	// In and out; the cursor is where it was.
	f.press("G", "enter")
	f.sees("widgets.lab.example", "What it is", "not stucks.lab.example")
	f.press("esc")
	text := f.sees("stucks.lab.example", "gadgets.lab.example")
	if !strings.Contains(text, "❯ widgets.lab.example") {
		t.Errorf("the cursor has moved:\n%s", text)
	}

	// Sort, and the other way round.
	order := func(names ...string) func(string) bool {
		return func(text string) bool {
			last := -1
			for _, name := range names {
				i := strings.Index(text, name)
				if i <= last {
					return false
				}
				last = i
			}
			return true
		}
	}
	for range 30 { // until it is by name
		if f.model.top() == nil {
			break
		}
		f.press("s")
		f.model.lock.Lock()
		sorted := strings.Contains(ansi.Strip(f.model.screen), "NAME ▲")
		f.model.lock.Unlock()
		if sorted {
			break
		}
	}
	f.press("S")
	f.until("another order", func(text string) bool {
		return order("widgets.", "stucks.", "gadgets.")(text) || order("gadgets.", "stucks.", "widgets.")(text) || order("gadgets.", "widgets.", "stucks.")(text)
	})

	// Yank: through the terminal.
	f.press("g", "c")
	f.sees("copied through the terminal")
	f.until("the name in the terminal's clipboard", func(string) bool {
		return strings.Contains(f.terminal.String(), base64.StdEncoding.EncodeToString([]byte(f.selected())))
	})

	// Palette and theme.
	f.press(":")
	f.say("flo")
	f.press("tab", "enter")
	f.sees("kapi › flow")
	f.command("apis/v1.tls.lab.example")
	f.sees("v1.tls.lab.example")
	f.press("[")
	f.sees("kapi › flow")
	before := f.colors()
	f.command("theme light")
	f.until("other colours", func(string) bool { return f.colors() != before })
	f.press("T")
	f.sees("theme mono")

	f.press("q")
	f.ends()
}

// selected is the name under the cursor, as the model has it.
func (f *flow) selected() string {
	f.model.lock.Lock()
	defer f.model.lock.Unlock()
	for line := range strings.Lines(ansi.Strip(f.model.screen)) {
		if rest, ok := strings.CutPrefix(line, "❯ "); ok {
			return strings.Fields(rest)[0]
		}
	}
	return "nothing is selected"
}

func (f *flow) colors() string {
	f.model.lock.Lock()
	defer f.model.lock.Unlock()
	return strings.Join(sgr.FindAllString(f.model.screen, 5), "")
}

// Without a clipboard the text is in a file, whose name is said.
func TestCopyToAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := stage(t, scene{at: "crds"}, func(o *Options) {
		o.Getenv = func(name string) string { return map[string]string{"TERM": "linux", "XDG_RUNTIME_DIR": dir}[name] }
	})
	r.press("c")
	r.wants("there is no clipboard; written to")
	files, err := filepath.Glob(filepath.Join(dir, "kapi-copied-*.txt"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	subject, _ := r.app.subject()
	if got, _ := os.ReadFile(files[0]); string(got) != subject.Name {
		t.Errorf("the file holds %q, want %q", got, subject.Name)
	}
	if r.terminal.Len() != 0 {
		t.Errorf("the terminal got %q", r.terminal.String())
	}
	if info, _ := os.Stat(files[0]); info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v", info.Mode())
	}
}

// Programs of the desktop come first, and are passed over where they fail.
func TestCopyWithAProgram(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "crds"}, func(o *Options) {
		o.Getenv = func(name string) string { return map[string]string{"TERM": "xterm", "DISPLAY": ":0"}[name] }
	})
	var fed []string
	r.app.clipboard.look = func(name string) (string, error) { return "/bin/" + name, nil }
	r.app.clipboard.run = func(_ context.Context, stdin, name string, _ ...string) error {
		fed = append(fed, name+" "+stdin)
		if name == "/bin/xclip" {
			return errors.New("no display")
		}
		return nil
	}
	r.press("c")
	r.wants("copied: ")
	subject, _ := r.app.subject()
	if len(fed) != 2 || fed[1] != "/bin/xsel "+subject.Name || r.terminal.Len() != 0 {
		t.Errorf("fed %q, the terminal got %q", fed, r.terminal.String())
	}
}

// TestFlowOfALostServer: what is there stays, and says how old it is; the server that
// comes back is seen without a key.
func TestFlowOfALostServer(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t, "lab", troubledFrame(t))
	f := newFlow(t, connects(server), at(t, "crds"))
	f.sees("gadgets.lab.example", "live")
	server.stop()
	f.sees("stale", "gadgets.lab.example", "not live")
	f.press("j", "enter")
	f.sees("stale", "lab.example")
	f.press("esc")

	frame := troubledFrame(t)
	view := frame.View(data.Definitions)
	view.Objects = view.Objects[1:]
	server.lock.Lock()
	server.frame = frame.With(view)
	server.lock.Unlock()
	server.start()
	f.press("r")
	f.sees("live", "widgets.lab.example", "not stale", "not gadgets.lab.example")
}

// A server that is not there yet is waited for.
func TestFlowOfALateServer(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t, "lab", troubledFrame(t))
	server.stop()
	f := newFlow(t, connects(server), at(t, "crds"))
	f.sees("connecting to lab", "refused")
	server.start()
	f.press("r")
	f.sees("gadgets.lab.example", "live")
}

// TestFlowOfContexts goes from one server to the other, and stays where the other
// can't be reached.
func TestFlowOfContexts(t *testing.T) {
	t.Parallel()
	few := troubledFrame(t)
	view := few.View(data.Definitions)
	view.Objects = view.Objects[2:]
	one, two := newAPIServer(t, "one", troubledFrame(t)), newAPIServer(t, "two", few.With(view))
	gone := newAPIServer(t, "gone", few)
	gone.stop()
	f := newFlow(t, connects(one, two, gone), at(t, "crds"))
	f.sees("gadgets.lab.example", "live")
	f.command("ctx two")
	f.sees("connected to two", "not gadgets.lab.example", "widgets.lab.example", "kapi › crds")
	f.command("ctx gone")
	f.sees("ctx gone", "refused", "widgets.lab.example")
	f.command("ctx one")
	f.sees("connected to one", "gadgets.lab.example")
	f.press("ctrl+c", "ctrl+c")
	f.ends()
}

// TestFlowOfPause: the screen stays as it is, until the key.
func TestFlowOfPause(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t, "lab", troubledFrame(t))
	f := newFlow(t, connects(server), at(t, "crds"))
	f.sees("gadgets.lab.example", "live")
	f.press(" ")
	f.sees("paused")
	frame := troubledFrame(t)
	view := frame.View(data.Definitions)
	view.Objects = view.Objects[1:]
	server.lock.Lock()
	server.frame = frame.With(view)
	asked := server.asked
	server.lock.Unlock()
	f.press("r")
	f.until("a list that was paused", func(string) bool {
		server.lock.Lock()
		defer server.lock.Unlock()
		return server.asked > asked
	})
	f.sees("paused", "gadgets.lab.example")
	f.press(" ")
	f.sees("not paused", "not gadgets.lab.example", "live")
}

// TestQuit are the ways out.
func TestQuit(t *testing.T) {
	t.Parallel()
	stopped := func(o *Options) { o.StopServer = func() {} }
	for name, test := range map[string]struct {
		keys  []string
		set   setting
		quits int
		want  Outcome
		sees  string
	}{
		"q":                          {keys: []string{"q"}, quits: 1},
		"esc does not":               {keys: []string{"esc", "esc"}},
		"q goes back first":          {keys: []string{"enter", "q"}, sees: "kapi › crds "},
		"q q from a detail":          {keys: []string{"enter", "q", "q"}, quits: 1},
		"ctrl-c asks":                {keys: []string{"ctrl+c"}, sees: "once more to quit"},
		"ctrl-c twice":               {keys: []string{"ctrl+c", "ctrl+c"}, quits: 1},
		"ctrl-c with a key between":  {keys: []string{"ctrl+c", "j", "ctrl+c"}},
		"ctrl-c twice in a panel":    {keys: []string{":", "x", "ctrl+c", "ctrl+c"}, quits: 1},
		":q":                         {keys: []string{":", "q", "enter"}, quits: 1},
		":quit from a detail":        {keys: []string{"enter", ":", "q", "u", "i", "t", "enter"}, quits: 1},
		"q in the palette is a rune": {keys: []string{":", "q"}},
		"q closes the help":          {keys: []string{"?", "q"}},
		"serving asks":               {keys: []string{"q"}, set: stopped, sees: "the server runs in this process"},
		"serving, esc":               {keys: []string{"q", "esc"}, set: stopped},
		"serving, stop":              {keys: []string{"q", "y"}, set: stopped, quits: 1},
		"serving, keep":              {keys: []string{"q", "k"}, set: stopped, quits: 1, want: Outcome{KeepServer: true}},
		"serving, by enter":          {keys: []string{"q", "down", "enter"}, set: stopped, quits: 1, want: Outcome{KeepServer: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := test.set
			if set == nil {
				set = func(*Options) {}
			}
			r := stage(t, scene{at: "crds"}, set)
			r.press(test.keys...)
			if r.quits != test.quits || r.app.outcome != test.want {
				t.Errorf("%d quits, %+v; want %d, %+v", r.quits, r.app.outcome, test.quits, test.want)
			}
			if test.sees != "" {
				r.wants(test.sees)
			}
		})
	}
}

// Where one was is remembered, however the run ends.
func TestStateIsKept(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "crds"})
	r.press("w", "S", "T", "enter", "q", "q")
	state := r.app.options.State
	if state.Page != "crds" || state.Theme == "" || len(state.Pages["crds"]) == 0 {
		t.Errorf("kept: %+v", state)
	}
	again := stage(t, scene{at: "crds"}, func(o *Options) { o.State = state })
	again.wants("wide")
}

// A click opens the page whose tab it hits, and the wheel moves.
func TestMouse(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "crds"})
	line := strings.Split(r.text(), "\n")[1]
	x := ansi.StringWidth(line[:strings.Index(line, "flow")])
	r.send(tea.MouseMsg{X: x, Y: 1, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	if r.place() != "flow" {
		t.Errorf("the click leads to %s", r.place())
	}
	before := r.text()
	r.send(tea.MouseMsg{X: 3, Y: 10, Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress})
	if r.text() == before {
		t.Error("the wheel does nothing")
	}
}

var _ io.Writer = &terminal{}
