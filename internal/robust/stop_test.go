package robust

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stopLimit is what a stop may take beyond its deadline on a busy machine.
const stopLimit = 45 * time.Second

// TestStopUnderLoad stops a server that 200 watches hang on while clients read
// and write: no request that it has taken may fail, watches end as a file does,
// and etcd, closed last, has nothing to repair afterwards.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	s := newServer(t, "-v=1")
	for range size(1, 5) {
		s.start()
		stopUnderLoad(t, s)
	}
}

func stopUnderLoad(t *testing.T, s *server) {
	t.Helper()
	ctx := deadline(t)
	client := s.client()
	_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap("first", ""), metav1.CreateOptions{})
	if outcomeOf(err) == unknown {
		t.Fatal(err)
	}
	watched := startWatches(ctx, t, []*wire{s.newWire(nil), s.newWire(nil), s.newWire(nil), s.newWire(http1)}, 50)

	w := &writing{refused: map[string]int{}, progress: make(chan struct{})}
	var clients sync.WaitGroup
	for _, kind := range []struct {
		name   string
		change func(*http.Transport)
		reads  bool
	}{
		{"two", nil, false},
		{"two-again", nil, false},
		{"each", http1Each, false},
		// On a connection that is being closed a request of HTTP/1 may get lost
		// before it is read; only what is safe to repeat is then repeated.
		{"one", http1, true},
	} {
		for i := range 2 {
			name := kind.name + "-" + string(rune('a'+i)) + "-" + time.Now().Format("150405.000000000")
			clients.Go(func() { w.work(ctx, s.newWire(kind.change), name, kind.reads) })
		}
	}
	ready := startProbe(ctx, s.newWire(nil))
	for range 200 {
		select {
		case <-w.progress:
		case <-ctx.Done():
			t.Fatal("the clients do not get on")
		}
	}
	begun := time.Now()
	s.signal(syscall.SIGTERM)
	if code := s.wait(30*time.Second + stopLimit); code != 0 {
		t.Errorf("exit code %d:\n%s", code, s.out)
	}
	took := time.Since(begun).Round(time.Millisecond)
	clients.Wait()
	watched.wg.Wait()
	lastReady := ready.wait()

	for _, err := range w.failed {
		t.Errorf("a request that was taken has failed: %v", err)
	}
	if n := watched.ends[""]; n != 200 {
		t.Errorf("%d of 200 watches have ended cleanly; ends: %v", n, watched.ends)
	}
	if lastReady.After(w.first) {
		t.Errorf("/readyz was asked %s after the first request was refused, and was ok", lastReady.Sub(w.first))
	}
	mustStopInOrder(t, s)
	t.Logf("stopped in %s: %d created, %d read, refused %v, %d watches closed after %d events",
		took, len(w.created), w.read, w.refused, watched.ends[""], watched.events)
	afterStop(t, s, w.created, w.dropped)
}

// repaired is what etcd says when it has found something that is not as it
// should be. What it says about a slow machine is something else.
var repaired = regexp.MustCompile(`cut off|repair|torn|damage|corrupt|truncat`)

// probe asks for /readyz all the time.
type probe struct {
	done sync.WaitGroup
	last time.Time // when the last one that was ok was asked
}

func startProbe(ctx context.Context, from *wire) *probe {
	p := &probe{}
	p.done.Go(func() {
		for {
			begun := time.Now()
			status, _, err := from.do(ctx, http.MethodGet, "/readyz", nil)
			if status == http.StatusOK {
				p.last = begun
			}
			if err != nil && status == 0 {
				return
			}
		}
	})
	return p
}

func (p *probe) wait() time.Time {
	p.done.Wait()
	return p.last
}

// mustStopInOrder reads in the log of a stop what was stopped when.
func mustStopInOrder(t *testing.T, s *server) {
	t.Helper()
	printed, last := s.out.String(), 0
	for _, component := range []string{"server chain", "etcd", "data directory"} {
		text := `stopped name="` + component + `"`
		if !strings.Contains(component, " ") {
			text = "stopped name=" + component
		}
		at := strings.Index(printed, text)
		if at < last {
			t.Errorf("%q does not stand where it should in the log (at %d, after %d):\n%s", text, at, last, printed)
		}
		last = at
	}
}

// afterStop looks at what a clean stop leaves, and at the next start.
func afterStop(t *testing.T, s *server, created, dropped []string) {
	t.Helper()
	for _, name := range []string{"server.json", "run/client.sock", "run/peer.sock", "../ready"} {
		if _, err := os.Lstat(filepath.Join(s.dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left after the stop (%v)", name, err)
		}
	}
	s.start()
	for line := range strings.Lines(s.out.String()) {
		if strings.Contains(line, " etcd ") && repaired.MatchString(line) {
			t.Errorf("the next start has something to say about etcd: %s", line)
		}
	}
	found := map[string]bool{}
	_, err := each(deadline(t), s.client(), 500, func(m *corev1.ConfigMap) { found[m.Name] = true })
	must(t, err)
	for _, name := range created {
		if !found[name] {
			t.Errorf("%s was created, and is gone", name)
		}
	}
	for _, name := range dropped {
		if found[name] {
			t.Errorf("%s is there: the request was taken, and got no answer", name)
		}
	}
	s.stop()
}

// TestStopDuringStart stops the server while it starts, at every stage: that is
// no failure, and leaves nothing that the next start trips over.
func TestStopDuringStart(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for round := range size(1, 5) {
		for _, stage := range []struct {
			name    string
			reached func() bool
		}{
			{"directory taken", s.locked},
			{"etcd listens", s.etcdListens},
			{"server answers", s.answers},
		} {
			s.launch()
			must(t, s.await(stage.reached))
			begun := time.Now()
			s.signal(syscall.SIGTERM)
			code := s.wait(30*time.Second + stopLimit)
			if printed := s.out.String(); code != 0 || strings.Contains(printed, "error: ") {
				t.Errorf("round %d, when %q: exit code %d:\n%s", round, stage.name, code, printed)
			}
			t.Logf("stopped when %q in %s", stage.name, time.Since(begun).Round(time.Millisecond))
		}
	}
	s.start()
	s.stop()
}

// locked tells whether the process holds the data directory.
func (s *server) locked() bool {
	held, err := os.ReadFile(filepath.Join(s.dir, "lock"))
	return err == nil && strings.TrimSpace(string(held)) == strconv.Itoa(s.cmd.Process.Pid)
}

// etcdListens tells whether somebody answers on etcd's socket.
func (s *server) etcdListens() bool {
	conn, err := net.Dial("unix", filepath.Join(s.dir, "run", "client.sock"))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// TestStopWithStuckReaders stops a server whose watchers have stopped reading.
// They must not keep it.
func TestStopWithStuckReaders(t *testing.T) {
	t.Parallel()
	if !full() {
		t.Skip("sends hundreds of megabytes to nobody: KAPI_ROBUST=full")
	}
	s := newServer(t, "-v=1")
	s.start()
	ctx, client := deadline(t), s.client()
	for _, change := range []func(*http.Transport){nil, http1} {
		from := s.newWire(change)
		for range 10 {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, from.url+"/api/v1/namespaces/default/configmaps?watch=1", nil)
			must(t, err)
			response, err := from.http.Do(request)
			must(t, err)
			t.Cleanup(func() { _ = response.Body.Close() })
		}
	}
	// More than all buffers between the server and the readers hold.
	value := strings.Repeat("x", 500_000)
	for i := range 20 {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap("big-"+strconv.Itoa(i), value), metav1.CreateOptions{})
		must(t, err)
	}
	begun := time.Now()
	s.signal(syscall.SIGTERM)
	code := s.wait(30*time.Second + stopLimit)
	t.Logf("stopped with stuck readers in %s, code %d", time.Since(begun).Round(time.Millisecond), code)
	if code != 0 {
		t.Errorf("exit code %d:\n%s", code, lastLines(s.out.String(), 30))
	}
}
