package robust

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestSynced watches the system calls of a server: no write is acknowledged
// before the log has been synced. A kill -9 can't show that, since the system
// keeps what a killed process has written.
func TestSynced(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("watching system calls needs strace")
	}
	s := newServer(t)
	s.start()
	client := s.client()
	file := filepath.Join(t.TempDir(), "calls")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, strace, "-f", "-e", "trace=fdatasync,fsync", "-o", file, "-p", strconv.Itoa(s.cmd.Process.Pid))
	out := newOutput()
	cmd.Stderr = out
	must(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	if !out.await(ctx, " attached", ended) {
		t.Skipf("strace can't attach to the server: %s", out)
	}
	const writes = 20
	for i := range writes {
		before := syncs(t, file)
		_, err := client.CoreV1().ConfigMaps(namespace).Create(deadline(t), configMap("synced-"+strconv.Itoa(i), ""), metav1.CreateOptions{})
		must(t, err)
		if syncs(t, file) == before {
			t.Errorf("write %d was acknowledged without a sync", i)
		}
	}
	t.Logf("%d writes, one after the other: %d syncs", writes, syncs(t, file))
	must(t, cmd.Process.Signal(os.Interrupt)) // lets go of the server
	<-ended
	s.stop()
}

// syncs returns how many calls strace has written down as done.
func syncs(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	return strings.Count(string(text), " = 0\n")
}
