package robust

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server is `kapi serve`, started as often as a test wants.
type server struct {
	t   testing.TB
	dir string // the data directory, as kapi is told
	// args stand behind those that every start has.
	args []string
	env  []string
	// before is what a shell does first, such as "umask 000".
	before string
	// workDir is the working directory; "" is the home.
	workDir string
	as      *syscall.Credential // another user; nil is this one

	home  string
	cmd   *exec.Cmd
	ended chan struct{}
	out   *output
}

// newServer returns a server on a new data directory. It waits for data to be
// on disk, as a user's does, and takes a free port.
func newServer(t testing.TB, args ...string) *server {
	t.Helper()
	binaries(t)
	home := t.TempDir()
	s := &server{t: t, dir: filepath.Join(home, "data"), home: home, args: args}
	t.Cleanup(s.cleanup)
	return s
}

func (s *server) cleanup() {
	if s.cmd == nil {
		return
	}
	if s.running() {
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
	if s.t.Failed() {
		s.t.Logf("the last output of kapi:\n%s", s.out)
	}
}

// ready is the file by which a server tells that it is ready.
func (s *server) ready() string { return filepath.Join(s.home, "ready") }

// command returns the start of kapi with these arguments.
func (s *server) command(args ...string) *exec.Cmd {
	name := binaries(s.t).kapi
	if s.before != "" {
		args = append([]string{"-c", s.before + `; exec "$0" "$@"`, name}, args...)
		name = "/bin/sh"
	}
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Dir = s.home
	if s.workDir != "" {
		cmd.Dir = s.workDir
	}
	for _, v := range os.Environ() {
		if key, _, _ := strings.Cut(v, "="); !strings.HasPrefix(key, "KAPI_") && !strings.HasPrefix(key, "XDG_") && key != "KUBECONFIG" && key != "NOTIFY_SOCKET" {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, "HOME="+s.home), s.env...)
	cmd.SysProcAttr = childAttributes()
	cmd.SysProcAttr.Credential = s.as
	return cmd
}

// launch starts the server and does not wait for anything.
func (s *server) launch() {
	s.t.Helper()
	if err := os.Remove(s.ready()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	args := []string{"serve", "--data-dir", s.dir, "--secure-port=0", "--ready-file", s.ready()}
	s.cmd = s.command(append(args, s.args...)...)
	s.out = newOutput()
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	must(s.t, s.cmd.Start())
	ended := make(chan struct{})
	s.ended = ended
	go func(cmd *exec.Cmd) {
		defer close(ended)
		_ = cmd.Wait() // its state is asked for where it matters
	}(s.cmd)
}

// start starts the server and returns when it is ready.
func (s *server) start() {
	s.t.Helper()
	s.launch()
	if err := s.await(func() bool { _, err := os.Stat(s.ready()); return err == nil }); err != nil {
		s.t.Fatalf("waiting until kapi is ready: %v\n%s", err, s.out)
	}
}

// await polls until is true. The error says that the process has ended, or that
// it took too long.
func (s *server) await(is func() bool) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for !is() {
		select {
		case <-s.ended:
			return fmt.Errorf("it has ended: %s", s.cmd.ProcessState)
		case <-deadline.C:
			return fmt.Errorf("not after %s", patience)
		case <-poll.C:
		}
	}
	return nil
}

// awaitOutput returns when the server has printed text.
func (s *server) awaitOutput(text string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !s.out.await(ctx, text, s.ended) {
		s.t.Fatalf("kapi does not print %q:\n%s", text, s.out)
	}
}

func (s *server) running() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

func (s *server) signal(signal os.Signal) {
	s.t.Helper()
	must(s.t, s.cmd.Process.Signal(signal))
}

// kill is kill -9. It returns when the process is gone.
func (s *server) kill() {
	s.t.Helper()
	s.signal(syscall.SIGKILL)
	<-s.ended
	mustBeCalm(s.t, s.out.String())
}

// wait returns the exit code, and ends the test if the process lives longer
// than limit.
func (s *server) wait(limit time.Duration) int {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(limit):
		s.signal(syscall.SIGKILL)
		<-s.ended
		s.t.Fatalf("kapi has not ended after %s:\n%s", limit, s.out)
	}
	mustBeCalm(s.t, s.out.String())
	return s.cmd.ProcessState.ExitCode()
}

// stop ends the server as a service manager does; it must end with 0.
func (s *server) stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	if code := s.wait(patience); code != 0 {
		s.t.Fatalf("kapi has ended with code %d after SIGTERM:\n%s", code, s.out)
	}
}
