package robust

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// notice is a message to the service manager, and what was true when it came.
type notice struct {
	text      string
	announced bool // the ready-file was there
}

// TestSystemd plays the service manager of a service with a user of its own: it hears that the server is ready when
// it is, not before, and once; and that it stops when it does.
func TestSystemd(t *testing.T) {
	t.Parallel()
	s := unprivileged(t)
	dir := shortDir(t)
	socket := filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	must(t, err)
	must(t, errors.Join(os.Chmod(dir, 0o755), os.Chmod(socket, 0o777)))
	s.env = []string{"NOTIFY_SOCKET=" + socket, "WATCHDOG_USEC=200000"}
	notices := make(chan notice, 10_000)
	go func() {
		defer close(notices)
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			_, missing := os.Stat(s.ready())
			notices <- notice{string(buf[:n]), missing == nil}
		}
	}()
	s.launch()
	var all []notice
	ready, watched := awaitNotices(deadline(t), s, notices, &all)
	if ready == nil {
		t.Fatalf("READY=1 has not come; came: %+v\n%s", all, s.out)
	}
	if !ready.announced || !strings.Contains(ready.text, fmt.Sprintf("MAINPID=%d", s.cmd.Process.Pid)) {
		t.Errorf("READY=1 came before the server was ready: %+v", *ready)
	}
	if status, text, err := s.newWire(nil).do(deadline(t), http.MethodGet, "/readyz", nil); status != http.StatusOK || err != nil {
		t.Errorf("/readyz after READY=1: %d %s %v", status, text, err)
	}
	if !watched {
		t.Errorf("the watchdog has heard nothing; came: %+v", all)
	}
	mustBePrivate(t, s.dir)
	s.stop()
	must(t, conn.Close())
	for n := range notices {
		all = append(all, n)
	}
	counts := map[string]int{}
	for _, n := range all {
		for line := range strings.Lines(n.text) {
			counts[strings.TrimSpace(line)]++
		}
	}
	if counts["READY=1"] != 1 || counts["STOPPING=1"] != 1 {
		t.Errorf("the manager was told %v", counts)
	}
}

// awaitNotices returns READY=1 when it and a sign of life after it have come.
func awaitNotices(ctx context.Context, s *server, notices <-chan notice, all *[]notice) (ready *notice, watched bool) {
	for {
		select {
		case n := <-notices:
			*all = append(*all, n)
			if strings.Contains(n.text, "READY=1") {
				ready = &n
			}
			if ready != nil && n.text == "WATCHDOG=1" {
				return ready, true
			}
		case <-s.ended:
			return nil, false
		case <-ctx.Done():
			return ready, errors.Is(ctx.Err(), context.Canceled)
		}
	}
}
