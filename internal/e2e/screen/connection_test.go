package screen_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

// TestServerRestarts holds that what was seen stays while the server is away, and
// goes on when it is back.
func TestServerRestarts(t *testing.T) {
	findTmux(t)
	t.Parallel()
	port, err := peer.FreePort() // nobody takes it while the server is away
	if err != nil {
		t.Fatal(err)
	}
	server := startServer(t, "--secure-port", strconv.Itoa(port))
	m := openTUI(t, compact, server.kubeconfig(), nil, "apiservices")
	m.await(full(compact), head("live"), has("v1.apps", "Available"))
	pid := m.pid()

	if err := server.stop(); err != nil {
		t.Fatal(err)
	}
	m.await(full(compact), head("stale"), has("v1.apps", "Available"))
	// A page that was not seen yet has nothing, and says so.
	m.press("9")
	m.await(full(compact), head("flow"), lacks("LEVEL"), lacks("live"))
	m.press("6")
	m.await(full(compact), head("stale"), has("v1.apps", "Available"))

	if err := server.start(); err != nil {
		t.Fatal(err)
	}
	m.await(full(compact), head("live"), lacks("stale"), has("v1.apps", "Available"))
	m.press("9")
	m.await(full(compact), head("live"), has("workload-low"))
	if m.pid() != pid {
		t.Error("it is another process")
	}
	if err := gone(context.Background(), pid); err == nil {
		t.Error("the process has ended")
	}
	m.press("q")
	m.ends(0)
}

// TestServerComesLate holds that a server that is not there yet is waited for.
func TestServerComesLate(t *testing.T) {
	t.Parallel()
	server := lab(t)
	config, err := server.config()
	if err != nil {
		t.Fatal(err)
	}
	late := lateServer(t, server.kubeconfig(), config.Host)
	m := openTUI(t, compact, late.kubeconfig, nil, "crds")
	m.see("connecting to", "refused", "tries now")
	late.open(t)
	m.press("r")
	m.await(full(compact), head("live"), has("gadgets.example.com"))
	m.press("q")
	m.ends(0)
}
