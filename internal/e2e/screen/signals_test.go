package screen_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
)

// TestSignals holds that the terminal is as it was after each end, and the process
// gone.
func TestSignals(t *testing.T) {
	t.Parallel()
	server := lab(t)
	for _, end := range []struct {
		name string
		end  func(testing.TB, *terminal)
		code int
	}{
		{"q", func(_ testing.TB, m *terminal) { m.press("q") }, 0},
		{"ctrl-c twice", func(_ testing.TB, m *terminal) { m.press("C-c", "C-c") }, 0},
		{"palette", func(_ testing.TB, m *terminal) { m.command("quit") }, 0},
		{"SIGTERM", kill(syscall.SIGTERM), 128 + int(syscall.SIGTERM)},
		{"SIGHUP", kill(syscall.SIGHUP), 128 + int(syscall.SIGHUP)},
		{"SIGINT", kill(syscall.SIGINT), 128 + int(syscall.SIGINT)},
	} {
		t.Run(end.name, func(t *testing.T) {
			m := openTUI(t, compact, server.kubeconfig(), nil, "crds")
			m.await(full(compact), head("live"), has("gadgets.example.com"))
			pid := m.pid()
			end.end(t, m)
			m.ends(end.code)
			if err := gone(t.Context(), pid); err != nil {
				t.Error(err)
			}
		})
	}
}

func kill(signal syscall.Signal) func(testing.TB, *terminal) {
	return func(t testing.TB, m *terminal) {
		t.Helper()
		if err := syscall.Kill(m.pid(), signal); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTerminalGone closes the terminal under the program.
func TestTerminalGone(t *testing.T) {
	t.Parallel()
	server := lab(t)
	for _, kill := range []string{"kill-session", "kill-server"} {
		m := openTUI(t, compact, server.kubeconfig(), nil, "requests")
		m.await(head("live"))
		pid := m.pid()
		if out, err := m.run(kill); err != nil {
			t.Fatalf("%s: %v\n%s", kill, err, out)
		}
		eventually(t, func(ctx context.Context) error { return gone(ctx, pid) })
	}
}

// TestSuspend goes to the shell and back, in a shell as users have it.
func TestSuspend(t *testing.T) {
	t.Parallel()
	server := lab(t)
	const prompt = "prompt>"
	m := startTerminal(t, compact, []string{"KUBECONFIG=" + server.kubeconfig(), "ENV=", "PS1=" + prompt + " ", "KAPI=" + kapi(t)}, "sh", "-i")
	shell := func(line string, checks ...check) {
		t.Helper()
		m.write(line)
		m.press("Enter")
		m.await(checks...)
	}
	m.see(prompt)
	shell("clear; stty -g >$DIR/before; $KAPI tui crds", full(compact), head("live"), has("gadgets.example.com"))
	for i := range 2 {
		m.press("C-z")
		m.await(has(prompt), lacks("? help"))
		m.isPlain()
		shell(fmt.Sprintf("stty -g >$DIR/after; echo shell-$((%d+40))", i), has(fmt.Sprintf("shell-%d", 40+i)))
		m.isRestored()
		shell("fg", full(compact), head("live"), has("gadgets.example.com"))
		m.press("6")
		m.await(full(compact), head("apiservices"), has("v1.apps"))
		m.press("5")
		m.await(full(compact), head("crds"))
	}
	m.press("q")
	m.await(has(prompt), lacks("? help"))
	shell("clear; stty -g >$DIR/after; echo code-$?", has("code-0"))
	m.isRestored()
}

// TestResize draws a full screen in each size, and says so where there is no room.
func TestResize(t *testing.T) {
	t.Parallel()
	server := lab(t)
	m := openTUI(t, compact, server.kubeconfig(), nil, "apiservices")
	m.await(full(compact), head("live"), has("v1.apps"))
	for _, at := range []size{wide, {100, 30}, {60, 16}, {40, 12}, {200, 60}} {
		m.resize(at)
		m.await(full(at), head("live"), has("v1beta1.metri", "Unavailable"))
	}
	m.resize(size{39, 11})
	m.see("too small", "40x12")
	m.resize(compact)
	m.await(full(compact), has("v1.apps"))
	m.press("q")
	m.ends(0)
}
