package robust

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// quickly is what "at once" may take on a busy machine. It only ends what hangs.
const quickly = time.Minute

// TestHungRequest stops a server in which a request waits for a webhook.
func TestHungRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t, "--stop-timeout=60s")
	s.start()
	w := newSlowWebhook(t, s)

	// A first signal waits for the request, up to the deadline. A second doesn't:
	// the code tells, since the webhook ends a request that is waited for.
	result := w.create(t, s, "second-signal")
	s.signal(syscall.SIGTERM)
	s.awaitOutput("stopping; a second signal ends at once")
	begun := time.Now()
	s.signal(syscall.SIGTERM)
	if code := s.wait(quickly); code != 1 {
		t.Errorf("exit code %d after a second signal, want 1", code)
	}
	t.Logf("ended %s after the second signal", time.Since(begun).Round(time.Millisecond))
	if err := <-result; err == nil {
		t.Error("a request that was cut off has succeeded")
	}
	if _, err := net.Dial("unix", s.dir+"/run/client.sock"); err == nil {
		t.Error("etcd's socket still answers")
	}

	// Without a second signal the deadline holds.
	s.args = []string{"--stop-timeout=6s"}
	s.start()
	result = w.create(t, s, "deadline")
	begun = time.Now()
	s.signal(syscall.SIGTERM)
	code := s.wait(quickly)
	took := time.Since(begun)
	if code != 0 || !strings.Contains(s.out.String(), "closing connections whose requests have not ended connections=") {
		t.Errorf("exit code %d after a stop that cut a request off:\n%s", code, s.out)
	}
	t.Logf("ended %s after the signal, with --stop-timeout=6s:\n%s", took.Round(time.Millisecond), lastLines(s.out.String(), 6))
	if err := <-result; err == nil {
		t.Error("a request that was cut off has succeeded")
	}

	// A request that ends in time is answered.
	s.args = []string{"--stop-timeout=60s"}
	s.start()
	for _, name := range []string{"second-signal", "deadline"} {
		if _, err := s.client().CoreV1().ConfigMaps(namespace).Get(deadline(t), name, metav1.GetOptions{}); outcomeOf(err) != missing {
			t.Errorf("looking for %s, whose request was cut off: %v", name, err)
		}
	}
	result = w.create(t, s, "in-time")
	address := strings.TrimPrefix(s.config().Host, "https://")
	s.signal(syscall.SIGTERM)
	must(t, s.await(func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	}))
	w.release()
	if err := <-result; err != nil {
		t.Errorf("a request that was taken before the stop has failed: %v", err)
	}
	if code := s.wait(patience); code != 0 {
		t.Errorf("exit code %d after a clean stop:\n%s", code, s.out)
	}

}

// lastLines returns the last n lines of text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
