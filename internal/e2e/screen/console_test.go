package screen_test

import (
	"context"
	"net/url"
	"testing"
)

// openConsole runs `kapi serve --tui` for a server that does not run.
func openConsole(t testing.TB, server *server, more ...string) *terminal {
	t.Helper()
	args := server.serve(append([]string{"--tui"}, more...)...)
	return openTerminal(t, compact, nil, append([]string{server.binary}, args...)...)
}

// ready waits until a server answers.
func ready(t testing.TB, server *server) {
	t.Helper()
	eventually(t, func(ctx context.Context) error { return server.kubectl(ctx, "get", "--raw", "/readyz") })
}

// TestConsole keeps the server, and then starts it again and stops it.
func TestConsole(t *testing.T) {
	findTmux(t)
	t.Parallel()
	server := newServer(kapi(t), t.TempDir())

	m := openConsole(t, server)
	m.await(full(compact), head("live"), has("dashboard", "checks ok"))
	m.command("logs")
	m.await(full(compact), head("logs"), has("kapi is ready after"), lacks("elsewhere"))
	m.press("q")
	m.see("the server runs in this process", "stop the server and quit", "keep the server")
	m.press("Escape")
	m.await(full(compact), head("logs"))
	m.press("q")
	m.see("keep the server")
	m.press("k")
	m.await(lacks("keep the server", "? help"))
	m.isPlain()
	ready(t, server)
	// What the server says from now on comes to the terminal.
	m.press("C-c")
	m.see("stopping")
	m.ends(0)

	m = openConsole(t, server) // the data directory is free
	m.await(full(compact), head("live"), has("checks ok"))
	ready(t, server)
	m.press("q")
	m.see("stop the server and quit")
	m.press("y")
	m.ends(0)
	if err := server.start(); err != nil {
		t.Errorf("starting it without its console afterwards: %v", err)
	}
	if err := server.stop(); err != nil {
		t.Errorf("stopping it: %v", err)
	}
}

// TestConsoleEnds holds that signals end the server in order, and that one that
// ends by itself takes the screen with it.
func TestConsoleEnds(t *testing.T) {
	t.Parallel()
	shared := lab(t)
	t.Run("ctrl-c twice", func(t *testing.T) {
		server := newServer(kapi(t), t.TempDir())
		m := openConsole(t, server)
		m.await(head("live"))
		m.press("C-c", "C-c")
		m.ends(0)
	})
	t.Run("locked data directory", func(t *testing.T) {
		m := openConsole(t, shared)
		m.see("error: starting data directory", "is in", "hint: stop that kapi first")
		m.ends(1)
	})
	t.Run("port taken", func(t *testing.T) {
		config, err := shared.config()
		if err != nil {
			t.Fatal(err)
		}
		at, err := url.Parse(config.Host)
		if err != nil {
			t.Fatal(err)
		}
		m := openConsole(t, newServer(kapi(t), t.TempDir()), "--secure-port", at.Port())
		m.see("error:", at.Port())
		m.ends(1)
	})
}
