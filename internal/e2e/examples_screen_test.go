package e2e_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// screenExample runs an example that draws: in a terminal, until something of the
// server is on the screen, and then quits with the key.
func screenExample(t *testing.T, cmd *exec.Cmd, line string) {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Logf("NOT RUN, tmux is not installed here: %s", line)
		return
	}
	socket := filepath.Join(t.TempDir(), "tmux")
	run := func(args ...string) (string, error) {
		each := exec.CommandContext(t.Context(), tmux, append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
		each.Dir, each.Env = cmd.Dir, cmd.Env
		out, err := each.CombinedOutput()
		return string(out), err
	}
	if out, err := run("-u", "new-session", "-d", "-x", "100", "-y", "30", line+`; echo "ended with $?"; exec sleep 1000`); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	defer func() { _, _ = run("kill-server") }() // nothing can be done about one that has gone
	screen := func(want string) func(context.Context) error {
		return func(context.Context) error {
			text, err := run("capture-pane", "-p")
			if err != nil || !strings.Contains(text, want) {
				return errors.Join(err, errors.New("not on the screen: "+want+"\n"+text))
			}
			return nil
		}
	}
	eventually(t, screen("live"))
	if _, err := run("send-keys", "q"); err != nil {
		t.Fatal(err)
	}
	eventually(t, screen("ended with 0"))
	t.Logf("$ %s: drawn, and left with q", line)
}
