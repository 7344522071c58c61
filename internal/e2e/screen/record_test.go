package screen_test

import (
	"bufio"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestRecord plays a recording of a screen, which is the same screen.
func TestRecord(t *testing.T) {
	t.Parallel()
	server := lab(t)
	file := filepath.Join(t.TempDir(), "recording.json.gz")
	m := openTUI(t, compact, server.kubeconfig(), nil, "crds", "--record", file)
	seen := m.await(full(compact), head("live"), has("gadgets.example.com", "NamesConflict", "widgets.example.com"), lacks(" ?  ", " <1s"))
	m.press("6")
	m.await(full(compact), head("live"), has("v1.apps", "Available"))
	m.press("C-c", "C-c")
	m.ends(0)

	m = openTUI(t, compact, filepath.Join(t.TempDir(), "none"), nil, "crds", "--replay", file)
	m.await(full(compact), head("recording"), has("gadgets.example.com"), sameBody(seen))
	m.press("6")
	m.await(full(compact), head("recording"), has("v1.apps", "Available"))
	m.press("q")
	m.ends(0)
}

// lastWord is the age at the end of a line, which goes on.
var lastWord = regexp.MustCompile(`\s+\S+$`)

// sameBody wants what another screen has between its head and its foot, but for ages.
func sameBody(other screen) check {
	body := func(s screen) []string {
		lines := s.lines()[1:]
		lines = slices.Clone(lines[:len(lines)-1])
		for i := range lines {
			lines[i] = lastWord.ReplaceAllString(lines[i], "")
		}
		return lines
	}
	return func(s screen) error {
		if !slices.Equal(body(s), body(other)) {
			return errors.New("the screen is not\n" + string(other))
		}
		return nil
	}
}

// TestReplaySnapshot shows what `kapi inspect snapshot` has written.
func TestReplaySnapshot(t *testing.T) {
	t.Parallel()
	server := lab(t)
	file := filepath.Join(t.TempDir(), "snapshot.json")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `"$0" inspect snapshot >"$1"`, kapi(t), file)
	cmd.Env = environment(t.TempDir(), "KUBECONFIG="+server.kubeconfig())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m := openTUI(t, compact, filepath.Join(t.TempDir(), "none"), nil, "apiservices", "--replay", file)
	m.await(full(compact), has("v1beta1.metrics.k8s.io", "Unavailable", "v1.apps"))
	m.press("q")
	m.ends(0)
}

// lines runs `kapi tui --plain` and hands out what it prints.
func lines(t *testing.T, kubeconfig string, args ...string) (*exec.Cmd, *bufio.Scanner, *strings.Builder) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), kapi(t), append([]string{"tui", "--plain"}, args...)...)
	cmd.Env = environment(t.TempDir(), "KUBECONFIG="+kubeconfig)
	stderr := &strings.Builder{}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended, unless the test has failed
		_, _ = io.Copy(io.Discard, out)
	})
	return cmd, bufio.NewScanner(out), stderr
}

// TestPlain prints lines until it is interrupted, as `kapi inspect --watch` does.
func TestPlain(t *testing.T) {
	t.Parallel()
	server := lab(t)
	cmd, out, stderr := lines(t, server.kubeconfig(), "health")
	all := readUntil(t, out, "shutdown")
	if !strings.HasPrefix(all, "health, ") || !strings.Contains(all, "informer-sync") || strings.Contains(all, "\x1b") {
		t.Errorf("it has printed\n%s", all)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for out.Scan() { // until its end
	}
	err := cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || (!status.Signaled() || status.Signal() != syscall.SIGINT) && cmd.ProcessState.ExitCode() != 130 || stderr.String() != "" {
		t.Errorf("after an interrupt: %v, %s", err, stderr)
	}
}

// readUntil reads lines up to one that has a text.
func readUntil(t *testing.T, out *bufio.Scanner, last string) string {
	t.Helper()
	var all strings.Builder
	for out.Scan() {
		all.WriteString(out.Text() + "\n")
		if strings.Contains(out.Text(), last) {
			return all.String()
		}
	}
	t.Fatalf("%q has not come: %v\n%s", last, out.Err(), &all)
	return ""
}

// TestPlainEnds holds that a page which can't change any more is printed and that is
// all, and that a reader who goes away is no error.
func TestPlainEnds(t *testing.T) {
	t.Parallel()
	server := lab(t)
	sh := func(line string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Env = environment(t.TempDir(), "KUBECONFIG="+server.kubeconfig(), "KAPI="+kapi(t), "DIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := sh("$KAPI tui requests --plain | head -1"); err != nil || out != strings.SplitAfter(out, "\n")[0] || !strings.HasPrefix(out, "requests") {
		t.Errorf("into head: %v\n%s", err, out)
	}
	out, err := sh("$KAPI inspect snapshot >$DIR/one.json && $KAPI tui crds --plain --replay $DIR/one.json")
	if err != nil || !strings.Contains(out, "NamesConflict") {
		t.Errorf("of a snapshot: %v\n%s", err, out)
	}
}
