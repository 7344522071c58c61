package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages"
)

// state is one in which the application can be, whatever page is seen.
type state struct {
	name string
	// enter brings a rig at a page into it.
	enter func(r *rig)
	// wants can be seen then.
	wants []string
}

func states() []state {
	feed := func(change func(data.Frame) data.Frame) func(*rig) {
		return func(r *rig) { r.frame(change(r.app.frame)) }
	}
	return []state{
		{"stale", func(r *rig) {
			r.frame(allIn(r.app.frame, data.Stale, errRefused, true))
			r.now.forward(12 * time.Second)
			r.send(tickMsg(r.now.now()))
		}, []string{"stale 12s", "crds", "gadgets.lab.example"}},
		{"forbidden", feed(func(f data.Frame) data.Frame { return allIn(f, data.Forbidden, errForbidden, false) }), []string{"forbidden", "kapi:inspect"}},
		{"unauthorized", feed(func(f data.Frame) data.Frame { return allIn(f, data.Failed, errUnauthorized, false) }), []string{"error", "log in again"}},
		{"absent", feed(func(f data.Frame) data.Frame { return allIn(f, data.Absent, nil, false) }), []string{"not on this server", "does not say it"}},
		{"loading", feed(func(f data.Frame) data.Frame { return allIn(f, data.Loading, nil, false) }), []string{"loading"}},
		{"paused", func(r *rig) { r.press(" ") }, []string{"paused"}},
		{"fullscreen", func(r *rig) { r.press("f") }, []string{"gadgets.lab.example"}},
		{"toast", func(r *rig) { r.press("ctrl+c") }, []string{"once more to quit"}},
		{"help", func(r *rig) { r.press("?") }, []string{"help", "closes"}},
	}
}

func stateNames() []string {
	var names []string
	for _, s := range states() {
		names = append(names, "state-"+s.name+".txt")
	}
	return append(names, "state-connecting.txt", "state-connect-error.txt", "state-hopeless.txt", "state-past.txt", "state-panic.txt")
}

// TestStates: whatever happens is said in words, on the page that is seen, and the
// rules of a screen hold at any size.
func TestStates(t *testing.T) {
	t.Parallel()
	for _, s := range states() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := stage(t, scene{at: "crds"}, mono)
			s.enter(r)
			r.wants(s.wants...)
			r.picture("state-" + s.name + ".txt")
		})
	}
}

func mono(o *Options) { o.Theme = "mono" }

// picture compares the screen at two sizes with a file, and looks at it at all others.
func (r *rig) picture(name string) {
	r.t.Helper()
	var got strings.Builder
	for _, size := range [][2]int{{0, 0}, {1, 1}, {3, 50}, {39, 12}, {40, 11}, {40, 12}, {80, 24}, {300, 5}, {300, 100}} {
		r.resize(size[0], size[1])
		r.view()
		if size == [2]int{40, 12} || size == [2]int{80, 24} {
			fmt.Fprintf(&got, "==== %dx%d\n%s\n", size[0], size[1], trimmed(r.text()))
		}
	}
	t, ok := r.t.(*testing.T)
	if !ok {
		r.t.Fatal("pictures are of tests")
	}
	golden(t, name, got.String())
}

// All pages are seen in all states, at all sizes, and none fails.
func TestStatesOfPages(t *testing.T) {
	t.Parallel()
	for _, sc := range scenes() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			r := stage(t, sc)
			whole := r.app.frame
			for _, s := range states() {
				for _, size := range [][2]int{{40, 12}, {61, 17}, {160, 48}} {
					r.resize(size[0], size[1])
				}
				s.enter(r)
				r.app.panel, r.app.paused, r.app.fullscreen = nil, false, false
				for _, size := range [][2]int{{40, 12}, {61, 17}, {160, 48}} {
					r.resize(size[0], size[1])
				}
				r.press("j", "tab", "w", "k")
				r.frame(whole)
			}
			r.healthy()
		})
	}
}

func TestConnecting(t *testing.T) {
	t.Parallel()
	r := newRig(t, mono)
	r.resize(80, 24)
	r.wants("connecting")
	r.picture("state-connecting.txt")

	// Whatever is pressed now has nothing to work on.
	r.press("j", "enter", "esc", "/", "y", "d", "c", "Y", " ", "<", ">", "r", "1", "2", "[", "]", "tab", "ctrl+x", "m", "T", "f", "f")
	r.command("crds")
	r.wants("not connected yet")
	r.press("esc", "?", "esc")

	r.send(connectedMsg{attempt: r.app.attempt, name: "lab", err: errRefused})
	r.wants("connecting to lab", "connection refused", "is the server running?", "next try in", "tries now", ":ctx")
	r.picture("state-connect-error.txt")
	id := r.app.attempt
	r.press("r")
	if r.app.attempt == id {
		t.Error("r does not try again")
	}

	r = newRig(t, mono)
	r.resize(80, 24)
	r.send(connectedMsg{attempt: r.app.attempt, name: "lab", err: fault.WithHint(fault.Usagef("there is no context %q", "花子"), "there are: dev, prod")})
	r.wants("it will not get better by itself", "花子")
	r.lacks("next try")
	r.picture("state-hopeless.txt")
	if r.quits != 0 {
		t.Error("it gave up")
	}
	r.press("q")
	if r.quits != 1 {
		t.Error("q does not quit")
	}
}

// Answers of tries that nobody waits for any more change nothing.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "crds"})
	before, session := r.text(), r.app.session
	late := start(Target{Name: "late"}, r.client, data.HubOptions{Source: newQuiet(r.app.frame.About)})
	r.send(connectedMsg{attempt: r.app.attempt - 1, session: late, name: "late"})
	r.send(frameMsg{session: late, frame: data.Frame{}, ok: true})
	r.send(retryMsg{attempt: r.app.attempt})
	r.send(answerMsg{visit: 99, answer: errRefused})
	r.send(toastOverMsg(77))
	r.send(resourcesMsg{session: late})
	r.send("nothing of ours")
	if r.app.session != session || r.text() != before {
		t.Errorf("a late answer changed the screen:\n%s", r.text())
	}
	if late.ctx.Err() == nil {
		t.Error("the session that nobody wants goes on")
	}
}

// Another server that can't be reached leaves the one there is.
func TestOtherServerFails(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "crds"}, func(o *Options) { o.Contexts = func() []string { return []string{"lab", "away"} } })
	session := r.app.session
	r.command("ctx away")
	r.wants("away", "no server in this test", "gadgets.lab.example")
	if r.app.session != session || session.ctx.Err() != nil {
		t.Error("the session has gone")
	}
	r.command("ctx nowhere")
	r.wants("there is no context")
}

func TestTooSmall(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "dashboard"})
	for _, size := range [][2]int{{39, 24}, {80, 11}, {1, 1}, {12, 3}} {
		r.resize(size[0], size[1])
	}
	r.resize(39, 24)
	r.wants("too small", "40x12")
	r.resize(80, 24)
	r.lacks("too small")
}

// A frame that comes while the screen is paused is not lost.
func TestPauseKeepsTheNews(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "crds"})
	r.press(" ")
	before := r.text()
	news := r.app.frame
	view := news.View(data.Definitions)
	view.Objects, view.Revision = view.Objects[:1], view.Revision+1
	news = news.With(view)
	news.Revision++
	r.frame(news)
	if got := r.text(); got != before {
		t.Errorf("the screen changed although it is paused:\n%s", got)
	}
	r.press(" ")
	r.lacks("paused")
	if got := len(r.app.frame.View(data.Definitions).Objects); got != 1 {
		t.Errorf("%d definitions: what came meanwhile is lost until something else changes", got)
	}
}

// broken is a page that fails where it is told to.
type broken struct{ in string }

func (b *broken) fails(in string) {
	if b.in == in {
		panic("a fault of the test")
	}
}

func (b *broken) Title() string               { b.fails("title"); return "broken" }
func (b *broken) Needs() []data.Key           { b.fails("needs"); return []data.Key{data.Definitions} }
func (b *broken) Update(data.Frame)           { b.fails("update") }
func (b *broken) Act(page.Action) page.Effect { b.fails("act"); return b.effect() }
func (b *broken) Offers(page.ActionID) bool   { b.fails("offers"); return true }
func (b *broken) View(p ink.Paper) []ink.Line {
	b.fails("view")
	return ink.Fill([]ink.Line{ink.L(ink.Text, "still there")}, p.Height)
}
func (b *broken) Filter(string) error { b.fails("filter"); return nil }
func (b *broken) Filtered() string    { b.fails("filtered"); return "x" }
func (b *broken) Status() string      { b.fails("status"); return "fine" }
func (b *broken) Selected() (page.Subject, bool) {
	b.fails("selected")
	return page.Subject{Kind: "thing", Name: "it"}, true
}
func (b *broken) Receive(any) page.Effect   { b.fails("receive"); return page.Effect{} }
func (b *broken) Memory() map[string]string { b.fails("memory"); return nil }
func (b *broken) Restore(map[string]string) { b.fails("restore") }

func (b *broken) effect() page.Effect { return page.Effect{} }

// TestPanickingPage: the page is out of order, and says so; everything else goes on.
func TestPanickingPage(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"title", "needs", "update", "act", "offers", "view", "filter", "filtered", "status", "selected", "receive", "memory"} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			r := stage(t, scene{at: "crds"}, mono)
			crashes := 0
			r.app.crashed = func(string, any, []byte) { crashes++ }
			r.run(r.app.enterPage(&broken{in: in}), 0)
			r.app.revision++
			r.frame(r.app.frame)
			r.press("j", "/", "x")
			if r.app.panel != nil {
				r.press("esc")
			}
			r.send(answerMsg{visit: r.app.top().id, answer: 1})
			if in != "memory" {
				r.wants("this page failed", "a fault of the test", "kapi's fault")
				if in == "view" {
					r.picture("state-panic.txt")
					r.resize(80, 24)
				}
			}
			r.press("esc")
			if v := r.app.top(); v.at.Page != "crds" || v.err != nil {
				t.Errorf("esc leads to %s (%v)", v.at, v.err)
			}
			r.press("2")
			if v := r.app.top(); v.at.Page != "chain" || v.err != nil {
				t.Errorf("2 leads to %s (%v)", v.at, v.err)
			}
			if crashes == 0 || r.app.broken != nil || r.quits != 0 {
				t.Errorf("%d crashes were reported; the end: %v, %d", crashes, r.app.broken, r.quits)
			}
		})
	}
}

// The work of a page may fail, too: it gets the failure as its answer.
func TestPanickingWork(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "crds"})
	p := &receiving{}
	r.run(r.app.enterPage(p), 0)
	r.run(r.app.apply(r.app.top(), page.Effect{Run: func(context.Context) any { panic("at work") }}), 0)
	err, ok := p.got.(error)
	if !ok || !strings.Contains(err.Error(), "at work") {
		t.Errorf("the page got %v", p.got)
	}
	r.healthy()
}

// A failure of the application itself ends it, in order.
func TestPanickingApplication(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*rig) tea.Cmd{
		"update": func(r *rig) tea.Cmd {
			r.app.keys.byKey["x"] = &action{id: "x", run: func(*app) tea.Cmd { panic("boom") }}
			_, cmd := r.app.Update(keyMsg("x"))
			return cmd
		},
		"view": func(r *rig) tea.Cmd {
			r.app.panel = &failing{}
			r.app.Update(tickMsg{})
			r.app.View()
			_, cmd := r.app.Update(tickMsg{})
			return cmd
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := stage(t, scene{at: "crds"})
			r.checks = false
			crashed := ""
			r.app.crashed = func(what string, value any, stack []byte) { crashed = fmt.Sprint(what, value, len(stack) > 0) }
			r.run(fail(r), 0)
			if r.quits != 1 || r.app.broken == nil || !strings.Contains(crashed, "boom") {
				t.Errorf("%d quits, %v, %q", r.quits, r.app.broken, crashed)
			}
		})
	}
}

type failing struct{ confirmPanel }

func (*failing) lines(*app, ink.Paper) []ink.Line { panic(errors.New("boom")) }

// Every page is made of any place that can be typed, or says what is wrong with it.
func TestAnyPlace(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "crds"})
	for _, entry := range pages.All() {
		for i, name := range append([]string{"", "a/b/c", "..", "%", "x?filter=%zz"}, strangers...) {
			query := []string{"filter", "prefix", "namespace", "view", "path", "verb", "version", "layer"}[i%8]
			r.run(r.app.enter(page.At(entry.Name, name, query, strangers[i%len(strangers)]+":", "path", "/x")), 0)
			r.app.revision++
			r.view()
			r.press("j", "enter")
		}
	}
	r.healthy()
	if len(r.app.stack) > deepest || len(r.app.old) > 2*deepest {
		t.Errorf("%d pages, %d places behind", len(r.app.stack), len(r.app.old))
	}
}

// receiving is a page that keeps the answer that it gets.
type receiving struct {
	broken
	got any
}

func (r *receiving) Receive(answer any) page.Effect { r.got = answer; return page.Effect{} }

// TestPast goes back in time: what changed is marked, the head says when, and esc
// comes back to now.
func TestPast(t *testing.T) {
	t.Parallel()
	r := historic(t, "crds", mono)
	// The last line may still say that there was nothing earlier.
	screen := func() string { text := r.text(); return text[:strings.LastIndex(strings.TrimRight(text, "\n"), "\n")] }
	now := screen()
	r.wants("stucks.lab.example", "live")
	r.lacks("gadgets.lab.example")
	r.press("<")
	r.wants("past", "ago", "gadgets.lab.example", "NamesConflict")
	r.picture("state-past.txt")
	r.resize(80, 24)
	r.press("<")
	r.wants("gadgets.lab.example")
	r.lacks("NamesConflict")
	r.press("<", "<", "<", "<")
	r.wants("past")
	r.press(">", ">", ">", ">", ">", ">")
	if got := screen(); got != now {
		t.Errorf("> does not lead to now:\n%s", got)
	}
	r.press("<", "esc")
	if got := screen(); got != now {
		t.Errorf("esc does not lead to now:\n%s", got)
	}
	r.healthy()
}
