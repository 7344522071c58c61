package screen_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// size is that of a terminal, in cells.
type size struct{ width, height int }

func (s size) String() string { return fmt.Sprintf("%dx%d", s.width, s.height) }

var (
	compact = size{80, 24}
	wide    = size{160, 48}
)

// terminal is one that a program runs in: a tmux of its own, on a socket of its own.
type terminal struct {
	t    testing.TB
	size size
	tmux string
	// dir has the socket, and the files that the wrapper writes.
	dir string
	// home is the program's home directory.
	home string
	env  []string
}

// tmuxConf leaves all lines of the terminal to the program.
const tmuxConf = "set -g status off\nset -g default-terminal tmux-256color\nset -g focus-events off\n"

// wrapper runs a program, says how it has ended, and keeps what stty says before and
// after. A ctrl-c is the program's, which leaves this shell to tell.
const wrapper = `
trap : INT
stty -g >"$DIR/before"
sh -c 'echo $$ >"$DIR/pid"; exec "$@"' sh "$@"
code=$?
stty -g >"$DIR/after"
echo "ended with $code"
exec sleep 1000
`

// environment is what programs of these tests have: nothing of whoever runs them.
func environment(home string, more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8", "TERM=xterm-256color", "GOCOVERDIR=" + home,
	}, more...)
}

// openTerminal starts a program in a terminal. More are variables of its environment.
func openTerminal(t testing.TB, at size, more []string, program ...string) *terminal {
	t.Helper()
	return startTerminal(t, at, more, append([]string{"sh", "-c", wrapper, "sh"}, program...)...)
}

// startTerminal is openTerminal without the wrapper.
func startTerminal(t testing.TB, at size, more []string, program ...string) *terminal {
	t.Helper()
	dir, err := os.MkdirTemp("", "tmux") // t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, size: at, tmux: findTmux(t), dir: dir, home: t.TempDir()}
	term.env = environment(term.home)
	t.Cleanup(func() {
		term.hasNotCrashed()
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", term.capture())
		}
		_, _ = term.run("kill-server") // nothing can be done about one that has gone
		_ = os.RemoveAll(dir)          // it is in the directory for such things
	})
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(tmuxConf), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"new-session", "-d", "-s", "screen", "-x", strconv.Itoa(at.width), "-y", strconv.Itoa(at.height)}
	for _, variable := range append([]string{"DIR=" + dir}, more...) {
		args = append(args, "-e", variable)
	}
	if out, err := term.run(append(args, program...)...); err != nil {
		t.Fatalf("starting tmux: %v\n%s", err, out)
	}
	return term
}

// hasNotCrashed looks for the file that tells of a failure.
func (m *terminal) hasNotCrashed() {
	if raw, err := os.ReadFile(filepath.Join(m.home, ".local", "state", "kapi", "tui-crash.txt")); err == nil {
		m.t.Errorf("something has failed:\n%s", raw)
	}
}

// findTmux skips the test where there is none.
func findTmux(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed: it is the terminal of these tests")
	}
	return path
}

func (m *terminal) run(args ...string) (string, error) {
	args = append([]string{"-S", filepath.Join(m.dir, "socket"), "-f", filepath.Join(m.dir, "conf"), "-u"}, args...)
	cmd := exec.CommandContext(context.WithoutCancel(m.t.Context()), m.tmux, args...) // kill-server comes at the end of the test
	cmd.Env = m.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// press sends keys as tmux names them: Enter, C-c, Escape, 5.
func (m *terminal) press(keys ...string) {
	m.t.Helper()
	if out, err := m.run(append([]string{"send-keys", "-t", "screen"}, keys...)...); err != nil {
		m.t.Fatalf("pressing %q: %v\n%s", keys, err, out)
	}
}

// write types text as it stands.
func (m *terminal) write(text string) {
	m.t.Helper()
	m.press("-l", text)
}

// command opens the palette and goes to a place.
func (m *terminal) command(line string) {
	m.t.Helper()
	m.write(":" + line)
	m.press("Enter")
}

// resize makes it another size.
func (m *terminal) resize(to size) {
	m.t.Helper()
	m.size = to
	if out, err := m.run("resize-window", "-t", "screen", "-x", strconv.Itoa(to.width), "-y", strconv.Itoa(to.height)); err != nil {
		m.t.Fatalf("resizing: %v\n%s", err, out)
	}
}

// capture is what is on the screen, without the blanks at the ends of lines.
func (m *terminal) capture() screen {
	out, err := m.run("capture-pane", "-p", "-t", "screen")
	if err != nil {
		return screen("no screen: " + out)
	}
	return screen(strings.TrimSuffix(out, "\n"))
}

// attributes is capture with the escape sequences that give it its look.
func (m *terminal) attributes() string {
	m.t.Helper()
	out, err := m.run("capture-pane", "-p", "-e", "-t", "screen")
	if err != nil {
		m.t.Fatalf("capturing the screen: %v\n%s", err, out)
	}
	return out
}

// mode tells a format variable of the terminal.
func (m *terminal) mode(name string) string {
	m.t.Helper()
	out, err := m.run("display-message", "-p", "-t", "screen", "#{"+name+"}")
	if err != nil {
		m.t.Fatalf("asking tmux for %s: %v\n%s", name, err, out)
	}
	return strings.TrimSpace(out)
}

// try waits until a screen passes the checks twice, since the first can be one that is
// half drawn, and returns the last one.
func (m *terminal) try(checks ...check) (screen, error) {
	var seen screen
	passed := false
	err := poll(m.t.Context(), func(context.Context) error {
		seen = m.capture()
		err := seen.passes(checks)
		if err == nil && !passed {
			passed = true
			return errors.New("it was there for a moment only")
		}
		passed = err == nil
		return err
	})
	return seen, err
}

// await is try where nothing can go on without it.
func (m *terminal) await(checks ...check) screen {
	m.t.Helper()
	seen, err := m.try(checks...)
	if err != nil {
		m.t.Fatalf("%v\n%s", err, seen)
	}
	return seen
}

// see waits until all texts are on the screen.
func (m *terminal) see(texts ...string) screen {
	m.t.Helper()
	return m.await(has(texts...))
}

// pid is the process id of the program.
func (m *terminal) pid() int {
	m.t.Helper()
	var pid int
	eventually(m.t, func(context.Context) error {
		raw, err := os.ReadFile(filepath.Join(m.dir, "pid"))
		if err != nil {
			return err
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		return err
	})
	return pid
}

// ends waits until the program has ended with a code, and checks that the terminal is
// as it was: its settings, the screen that was there before, a cursor, no mouse.
func (m *terminal) ends(code int) screen {
	m.t.Helper()
	seen := m.see(fmt.Sprintf("ended with %d", code))
	m.isRestored()
	return seen
}

func (m *terminal) isRestored() {
	m.t.Helper()
	before, err := os.ReadFile(filepath.Join(m.dir, "before"))
	after, err2 := os.ReadFile(filepath.Join(m.dir, "after"))
	if err := errors.Join(err, err2); err != nil {
		m.t.Fatal(err)
	}
	if string(before) != string(after) {
		m.t.Errorf("stty has %s after the end, and had %s before", after, before)
	}
	m.isPlain()
}

// isPlain checks the modes of the terminal that stty does not know.
func (m *terminal) isPlain() {
	m.t.Helper()
	for name, want := range map[string]string{"alternate_on": "0", "cursor_flag": "1", "mouse_any_flag": "0", "keypad_flag": "0"} {
		if got := m.mode(name); got != want {
			m.t.Errorf("the terminal is left with %s %s, want %s", name, got, want)
		}
	}
}

// gone returns nil when a process has ended. One that only waits for its parent has.
func gone(ctx context.Context, pid int) error {
	out, _ := exec.CommandContext(ctx, "ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output() // no such process is an error
	if state := strings.TrimSpace(string(out)); state != "" && !strings.HasPrefix(state, "Z") {
		return fmt.Errorf("process %d is still there (%s)", pid, state)
	}
	return nil
}
