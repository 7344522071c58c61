package tui

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages"
)

// randomKeys is how many keys are pressed with the fixed seed; a quarter with the other.
const randomKeys = 20_000

// TestRandomKeys presses keys at random, among frames, resizes, pastes and the mouse.
// No page fails, every screen keeps the rules, and nothing grows without end.
func TestRandomKeys(t *testing.T) {
	t.Parallel()
	clock := uint64(time.Now().UnixNano())
	t.Logf("the seeds are 1 and %d", clock)
	count := randomKeys / slowly
	if testing.Short() {
		count /= 20
	}
	for seed, count := range map[uint64]int{1: count, clock: count / 4} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			m := newMonkey(t, seed)
			for range count {
				m.step()
			}
			// A short run with any seed may well never be where q ends the program.
			if seed == 1 && m.quits == 0 {
				t.Error("the program was never ended: this is no random run")
			}
			m.ended()
		})
	}
}

// monkey presses keys.
type monkey struct {
	*rig
	random *rand.Rand
	keys   []string
	frames []data.Frame
	// last are the messages that came last, for the report.
	last []string
}

func newMonkey(t testing.TB, seed uint64, settings ...setting) *monkey {
	t.Helper()
	whole := troubledFrame(t)
	for view := range objectViews() {
		whole = whole.With(view)
	}
	m := &monkey{rig: staged(t, whole, settings...), random: rand.New(rand.NewPCG(seed, 7))}
	m.checks = false
	for i := range m.app.keys.actions {
		m.keys = append(m.keys, m.app.keys.actions[i].keys...)
	}
	// Those that lead on are what is interesting.
	m.keys = append(m.keys, "enter", "enter", "enter", "enter", "j", "j", "k", "tab", "/", ":", "down", "backspace", "delete", "ctrl+w", "alt+j", "f1", "shift+up")
	m.frames = []data.Frame{
		whole, kapiFrame(t), foreignFrame(t), allIn(whole, data.Forbidden, errForbidden, false), allIn(whole, data.Stale, errRefused, true),
		allIn(whole, data.Absent, nil, false), allIn(whole, data.Failed, errRefused, true), {}, whole,
	}
	return m
}

// words are typed into what is open at the moment.
var words = []string{
	"crds", "ev", "status:", "!a", "-l a=b", "花子", "e\u0301", "שלום", "route GET /api/v1/pods --as 花子", "theme light", "theme mono", "help",
	"configmaps -n default", "chain/authorization", "delete configmaps web -n default", "delete", "gadgets.lab.example", "ctx other", "q", "\x1b[2J", "\t\n",
	"etcd?prefix=%2Fregistry%2F", "object/configmaps/花子?version=v1&namespace=default&view=yaml",
}

// step does one thing.
func (m *monkey) step() {
	m.t.Helper()
	message := m.message()
	m.last = append(m.last, fmt.Sprintf("%T %v", message, message))
	m.last = m.last[max(0, len(m.last)-12):]
	_, cmd := m.app.Update(message)
	m.run(cmd, 0)
	screen := m.app.View()
	if err := checkScreen(screen, m.app.width, m.app.height); err != nil {
		m.report(err)
	}
	for _, v := range m.app.stack {
		if v.err != nil {
			m.report(fmt.Errorf("%s: %w", v.at, v.err))
		}
	}
	switch {
	case m.app.broken != nil:
		m.report(m.app.broken)
	case len(m.app.stack) > deepest, len(m.app.old) > 2*deepest, len(m.app.fresh) > 2*deepest:
		m.report(fmt.Errorf("%d pages, %d places behind, %d in front", len(m.app.stack), len(m.app.old), len(m.app.fresh)))
	}
}

func (m *monkey) report(err error) {
	m.t.Helper()
	m.t.Fatalf("at %s, %dx%d: %v\nafter %s\n%s", m.place(), m.app.width, m.app.height, err, strings.Join(m.last, "\n      "), m.app.View())
}

// message is what happens next.
func (m *monkey) message() tea.Msg {
	switch n := m.random.IntN(100); {
	case n < 70:
		return keyMsg(pick(m, m.keys))
	case n < 80:
		return runeMsg(rune(' ' + m.random.IntN('~'-' '+1)))
	case n < 84:
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(pick(m, words))} // typed fast
	case n < 86:
		return pasteMsg(pick(m, words))
	case n < 88:
		sizes := [][2]int{{80, 24}, {80, 24}, {40, 12}, {120, 40}, {200, 60}, {0, 0}, {1, 1}, {39, 11}, {m.random.IntN(200), m.random.IntN(60)}}
		size := pick(m, sizes)
		return tea.WindowSizeMsg{Width: size[0], Height: size[1]}
	case n < 93:
		frame := pick(m, m.frames)
		m.now.forward(time.Second)
		frame.Now = m.now.now()
		return frameMsg{session: m.app.session, frame: frame, ok: true}
	case n < 97:
		buttons := []tea.MouseButton{tea.MouseButtonWheelDown, tea.MouseButtonWheelUp, tea.MouseButtonLeft, tea.MouseButtonRight}
		return tea.MouseMsg{X: m.random.IntN(200) - 1, Y: m.random.IntN(4) - 1, Button: pick(m, buttons), Action: tea.MouseActionPress}
	case n < 98:
		return effectMsg{Open: page.At(pick(m, pages.All()).Name, pick(m, append(strangers, "", "")))}
	default:
		return tickMsg(m.now.now())
	}
}

func pick[T any](m *monkey, from []T) T { return from[m.random.IntN(len(from))] }

// ended leaves nothing behind.
func (m *monkey) ended() {
	m.t.Helper()
	session := m.app.session
	session.close()
	if _, ok := session.hub.Next(m.t.Context()); ok {
		m.t.Error("the hub goes on after its end")
	}
}

// Nothing that a run starts is left behind: as many goroutines as before.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	m := newMonkey(t, 3)
	for range 500 {
		m.step()
	}
	m.ended()
	// Those that are about to end need a moment.
	deadline := time.Now().Add(time.Minute)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		buffer := make([]byte, 1<<20)
		t.Errorf("%d goroutines, %d before\n%s", after, before, buffer[:runtime.Stack(buffer, true)])
	}
	if slices.ContainsFunc(m.app.stack, func(v *visit) bool { return v.err != nil }) {
		t.Error("a page failed")
	}
}
