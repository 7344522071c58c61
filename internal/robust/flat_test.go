package robust

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mustBeFlat makes and deletes definitions with an object, again and again: no
// goroutine of theirs, and no thread, may be left. The server serves profiles.
func mustBeFlat(t *testing.T, s *server, first, cycles int) {
	t.Helper()
	client := s.dynamic()
	cycle := func(i int) {
		_, err := client.Resource(crdResource).Create(deadline(t), crd(i), metav1.CreateOptions{})
		must(t, err)
		createThing(t, s, client, i, "only")
		deleteCRD(deadline(t), t, s, client, i)
	}
	cycle(first) // what the first one brings may stay
	profile := s.newWire(nil)
	before, threads := s.goroutines(profile), s.threads()
	for i := range cycles {
		cycle(first + 1 + i)
	}
	// What is being taken down needs a moment; what leaks stays.
	var grown map[string]int
	err := s.await(func() bool {
		grown = map[string]int{}
		for start, n := range s.goroutines(profile) {
			if more := n - before[start]; more >= cycles {
				grown[start] = more
			}
		}
		return len(grown) == 0
	})
	after := s.goroutines(profile)
	t.Logf("%d definitions made and deleted: %d goroutines before, %d after; %d threads before, %d after; %s",
		cycles, total(before), total(after), threads, s.threads(), s.usage())
	if err != nil {
		for start, more := range grown {
			t.Errorf("%d goroutines more after %d cycles: %s", more, cycles, start)
		}
	}
	if now := s.threads(); now > threads+cycles {
		t.Errorf("%d threads after %d cycles, %d before", now, cycles, threads)
	}
}

func total(goroutines map[string]int) int {
	n := 0
	for _, count := range goroutines {
		n += count
	}
	return n
}

// goroutines returns how many goroutines were started where: by the function that
// they began with and the one that it calls, as what they do just now changes.
func (s *server) goroutines(from *wire) map[string]int {
	s.t.Helper()
	status, text, err := from.do(deadline(s.t), http.MethodGet, "/debug/pprof/goroutine?debug=1", nil)
	must(s.t, err)
	if status != http.StatusOK {
		s.t.Fatalf("reading the goroutine profile: %d %s", status, text)
	}
	found := map[string]int{}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		count := 0
		var stack []string
		for line := range strings.Lines(block) {
			// "12 @ 0x… 0x…", then "#	0x…	function+0x…	file:line", innermost first.
			if n, _, ok := strings.Cut(line, " @ "); ok {
				count, _ = strconv.Atoi(n)
			} else if fields := strings.Fields(line); len(fields) >= 4 && fields[0] == "#" {
				name, _, _ := strings.Cut(fields[2], "+0x")
				stack = append(stack, name)
			}
		}
		if count > 0 {
			found[strings.Join(stack[max(0, len(stack)-2):], " called by ")] += count
		}
	}
	return found
}

// threads returns the number of threads of the server, 0 where /proc is missing.
func (s *server) threads() int {
	n, _ := strconv.Atoi(s.status("Threads"))
	return n
}

// usage describes what the server uses.
func (s *server) usage() string {
	return fmt.Sprintf("%s resident, %s threads", s.status("VmRSS"), s.status("Threads"))
}

// status returns a line of /proc/PID/status.
func (s *server) status(key string) string {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return "unknown"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), key+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
