// Package kapitest runs a real kapi for tests: the real main, in a process of
// its own, on a free port of 127.0.0.1 and in a directory of the test.
//
// A test package that uses it links the whole server, which is slow: share one
// server in a package (Shared) where tests don't get in each other's way, and
// keep such packages few.
//
//	func TestMain(m *testing.M) { kapitest.Main(m) }
//
//	func TestX(t *testing.T) {
//		server := kapitest.Shared(t)
//		client := server.Client(t)
//	}
package kapitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// startTimeout is for a machine that does something else at the same time.
	startTimeout = 2 * time.Minute
	stopTimeout  = time.Minute
)

// Server is a running kapi.
type Server struct {
	// Dir is the data directory, Home the home directory of the process.
	Dir, Home string
	// Args are the arguments after "serve" of each start.
	Args []string
	// Binary is run in place of the test binary, if it is set.
	Binary string
	// Env are further variables of the process.
	Env []string

	cmd    *exec.Cmd
	done   chan struct{}
	err    error
	stderr *lockedBuffer
}

// Start starts `kapi serve` with args on a free port in a new data directory,
// waits until it is ready, and stops it when the test ends. fsync is off unless
// args say otherwise.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := New(t, args...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// New is Start without the start.
func New(t testing.TB, args ...string) *Server {
	t.Helper()
	s := &Server{Home: t.TempDir(), Args: args}
	s.Dir = filepath.Join(s.Home, "data")
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stopping kapi: %v", err)
		}
		if t.Failed() {
			t.Logf("what kapi has printed since its last start:\n%s", s.Log())
		}
	})
	return s
}

// Start starts the server, again if it has been stopped or killed, and returns
// when it is ready or has ended.
func (s *Server) Start() error {
	if err := s.Launch(); err != nil {
		return err
	}
	return s.waitReady(s.readyFile())
}

func (s *Server) readyFile() string { return filepath.Join(s.Home, "ready") }

// Launch starts the process, and does not wait for anything.
func (s *Server) Launch() error {
	if err := os.Remove(s.readyFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	args := append([]string{"serve", "--data-dir", s.Dir, "--secure-port", "0", "--ready-file", s.readyFile(), "--etcd-unsafe-no-fsync"}, s.Args...)
	s.cmd = Command(context.Background(), s.Home, args...)
	if s.Binary != "" {
		s.cmd.Path = s.Binary
	}
	s.cmd.Env = append(s.cmd.Env, s.Env...)
	s.stderr = &lockedBuffer{}
	s.cmd.Stderr, s.cmd.Stdout = s.stderr, s.stderr
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		s.err = s.cmd.Wait()
	}()
	return nil
}

func (s *Server) waitReady(file string) error {
	deadline := time.NewTimer(startTimeout)
	defer deadline.Stop()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("kapi ended before it was ready: %w\n%s", s.ended(), s.Log())
		case <-deadline.C:
			return fmt.Errorf("kapi is not ready after %s\n%s", startTimeout, s.Log())
		case <-poll.C:
		}
	}
}

func (s *Server) ended() error {
	if s.err == nil {
		return errors.New("exit status 0")
	}
	return s.err
}

// Stop ends the server as a service manager would, and returns what it has
// exited with. A server that has ended already is no error.
func (s *Server) Stop() error {
	if s.done == nil || !s.Running() {
		return nil
	}
	if err := s.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.done:
		return s.err
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("still running %s after SIGTERM", stopTimeout), s.Kill())
	}
}

// Signal sends a signal to the process.
func (s *Server) Signal(signal os.Signal) error { return s.cmd.Process.Signal(signal) }

// Kill is kill -9; it returns when the process is gone.
func (s *Server) Kill() error {
	if err := s.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-s.done
	return nil
}

// Wait returns when the process has ended, with its exit code.
func (s *Server) Wait() int {
	<-s.done
	return s.cmd.ProcessState.ExitCode()
}

// Running tells whether the process has not ended.
func (s *Server) Running() bool {
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// PID returns the id of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Log returns what the process has printed since its last start.
func (s *Server) Log() string {
	if s.stderr == nil {
		return ""
	}
	return s.stderr.String()
}

// EtcdEndpoint is where clients on this machine reach the embedded etcd.
func (s *Server) EtcdEndpoint() string {
	run := filepath.Join(s.Dir, "run")
	// Where the path is too long for a socket there is a link to a short directory.
	if short := filepath.Join(run, "sockets"); exists(short) {
		run = short
	}
	if target, err := filepath.EvalSymlinks(run); err == nil {
		run = target
	}
	return "unix://" + filepath.Join(run, "client.sock")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Kubeconfig is the file with which clients reach the server.
func (s *Server) Kubeconfig() string { return filepath.Join(s.Dir, "kubeconfig") }

// Config returns the client configuration of the administrator, without a
// client-side rate limit.
func (s *Server) Config(t testing.TB) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// Client returns a typed client of the administrator.
func (s *Server) Client(t testing.TB) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Run runs kapi with args against the server's data directory and returns what
// it has printed on stdout. A failure ends the test with what is on stderr.
func (s *Server) Run(t testing.TB, args ...string) string {
	t.Helper()
	out, stderr, err := s.Try(t, "", args...)
	if err != nil {
		t.Fatalf("kapi %q: %v\n%s%s", args, err, out, stderr)
	}
	return out
}

// Try is Run with input, and with the error left to the caller.
func (s *Server) Try(t testing.TB, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := Command(t.Context(), s.Home, args...)
	cmd.Env = append(cmd.Env, "KAPI_DATADIR="+s.Dir)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewBufferString(stdin), &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}
