package e2e_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// inspectCmd returns `kapi inspect` with args, as somebody types it who has set
// KAPI_DATADIR; it is still to be started.
func inspectCmd(t testing.TB, server *kapitest.Server, args ...string) *exec.Cmd {
	t.Helper()
	cmd := kapitest.Command(t.Context(), t.TempDir(), append([]string{"inspect"}, args...)...)
	cmd.Env = append(cmd.Env, "KAPI_DATADIR="+server.Dir)
	return cmd
}

// ending is how a process has ended, and what it has printed.
type ending struct {
	code           int // -1 if a signal has ended it
	stdout, stderr string
}

// runToEnd runs a process to its end.
func runToEnd(t testing.TB, cmd *exec.Cmd) ending {
	t.Helper()
	var out bytes.Buffer
	end := runInto(t, cmd, &out)
	end.stdout = out.String()
	return end
}

// runInto is runToEnd for a stdout that is not kept.
func runInto(t testing.TB, cmd *exec.Cmd, stdout io.Writer) ending {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ending{code: cmd.ProcessState.ExitCode(), stderr: stderr.String()}
}

// followed is a command that goes on while a test reads what it prints.
type followed struct {
	cmd            *exec.Cmd
	stdout, stderr output
}

func startWatch(t testing.TB, cmd *exec.Cmd) *followed {
	t.Helper()
	w := &followed{cmd: cmd}
	cmd.Stdout, cmd.Stderr = &w.stdout, &w.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

// interrupt is Ctrl-C; it returns the exit code.
func (w *followed) interrupt(t testing.TB) int {
	t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := w.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return w.cmd.ProcessState.ExitCode()
}

// inShell returns a script of a shell that finds kapi in its PATH. The test is
// skipped where the shell is not installed.
func inShell(t testing.TB, server *kapitest.Server, shell string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("%s is not installed here", shell)
	}
	cmd := kapitest.Command(t.Context(), t.TempDir())
	cmd.Path, cmd.Args = path, append([]string{shell}, args...)
	cmd.Env = append(cmd.Env, "KAPI_DATADIR="+server.Dir, pathWith(kapitest.Link(t)))
	return cmd
}

// pathWith is the variable PATH with a directory before the others.
func pathWith(dir string) string {
	return "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")
}
