package e2e_test

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestOneListener is `ss -ltn` for the server's process: the secure port, and
// nothing else.
func TestOneListener(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	address, err := url.Parse(server.Config(t).Host)
	if err != nil {
		t.Fatal(err)
	}
	listeners := listening(t, server.PID())
	if len(listeners) != 1 || strconv.Itoa(listeners[0]) != address.Port() {
		t.Errorf("the process listens on TCP ports %v, want %s alone", listeners, address.Port())
	}
}

// listening returns the TCP ports on which a process listens.
func listening(t testing.TB, pid int) (ports []int) {
	t.Helper()
	own := map[string]bool{}
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(links) == 0 {
		t.Fatalf("reading the files of process %d: %v", pid, err)
	}
	for _, link := range links {
		// A file may have been closed meanwhile.
		if target, err := os.Readlink(link); err == nil {
			own[target] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		file, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		// Columns: 1 local address:port in hex, 3 state (0A listens), 9 inode.
		for lines := bufio.NewScanner(file); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) < 10 || fields[3] != "0A" || !own["socket:["+fields[9]+"]"] {
				continue
			}
			_, hex, _ := strings.Cut(fields[1], ":")
			port, err := strconv.ParseInt(hex, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			ports = append(ports, int(port))
		}
	}
	return ports
}
