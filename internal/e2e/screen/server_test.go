package screen_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kapi-dev/kapi/internal/kapitest/parentdeath"
)

// server is a kapi in a process of its own. Package kapitest has the same, and links
// the whole server for it.
type server struct {
	binary string
	home   string
	args   []string

	cmd    *exec.Cmd
	output *os.File
	done   chan struct{}
	err    error // valid after done
}

// newServer is not started yet. home is an empty directory.
func newServer(binary, home string, args ...string) *server {
	return &server{binary: binary, home: home, args: args}
}

// startServer starts one, and stops it at the end of the test.
func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	s := newServer(kapi(t), t.TempDir(), args...)
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("stopping kapi: %v", err)
		}
	})
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) dir() string        { return filepath.Join(s.home, "data") }
func (s *server) kubeconfig() string { return filepath.Join(s.dir(), "kubeconfig") }
func (s *server) logFile() string    { return filepath.Join(s.home, "log") }
func (s *server) readyFile() string  { return filepath.Join(s.home, "ready") }

// serve are the arguments with which this server is started.
func (s *server) serve(more ...string) []string {
	args := []string{"serve", "--data-dir", s.dir(), "--secure-port", "0", "--ready-file", s.readyFile(), "--etcd-unsafe-no-fsync"}
	return append(append(args, s.args...), more...)
}

// start starts it, again if it was stopped, and returns when it is ready.
func (s *server) start() error {
	if err := os.Remove(s.readyFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var err error
	if s.output, err = os.Create(s.logFile()); err != nil {
		return err
	}
	s.cmd = exec.CommandContext(context.Background(), s.binary, s.serve()...)
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr, s.cmd.SysProcAttr = environment(s.home), s.output, s.output, parentdeath.Attributes()
	if err := s.cmd.Start(); err != nil {
		return errors.Join(err, s.output.Close())
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		s.err = errors.Join(s.cmd.Wait(), s.output.Close())
	}()
	return poll(context.Background(), func(context.Context) error {
		_, err := os.Stat(s.readyFile())
		return err
	})
}

// stop ends it as a service manager would. One that does not run is no error.
func (s *server) stop() error {
	if s.done == nil {
		return nil
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.done:
		s.done = nil
		return s.err
	case <-time.After(*patience):
		return errors.Join(fmt.Errorf("still running %s after SIGTERM", *patience), s.cmd.Process.Kill())
	}
}

func (s *server) log() string {
	raw, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// config is the administrator's, without a rate limit of the client.
func (s *server) config() (*rest.Config, error) { return configOf(s.kubeconfig()) }

func configOf(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// kubectl runs it against the server.
func (s *server) kubectl(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, s.binary, append([]string{"kubectl"}, args...)...)
	cmd.Env = environment(s.home, "KUBECONFIG="+s.kubeconfig())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// shared is the one server that most tests look at, with its load. It outlives them.
var shared struct {
	once   sync.Once
	server *server
	stop   context.CancelFunc
	load   sync.WaitGroup
	err    error
}

// lab is the shared server. Tests do not stop it.
func lab(t testing.TB) *server {
	t.Helper()
	findTmux(t)
	if testing.Short() {
		t.Skip("builds and starts kapi")
	}
	binary := kapi(t)
	shared.once.Do(func() { shared.err = openLab(binary) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

func openLab(binary string) error {
	home, err := os.MkdirTemp("", "screen")
	if err != nil {
		return err
	}
	shared.server = newServer(binary, home)
	if err := shared.server.start(); err != nil {
		return err
	}
	var ctx context.Context
	ctx, shared.stop = context.WithCancel(context.Background())
	if err := poll(ctx, func(ctx context.Context) error { // widgets are known a moment after their definition
		return shared.server.kubectl(ctx, "apply", "-f", filepath.Join("testdata", "scene.yaml"))
	}); err != nil {
		return err
	}
	config, err := shared.server.config()
	if err != nil {
		return err
	}
	return startLoad(ctx, &shared.load, config)
}

// closeLab stops load and server. The log is shown where tests have failed.
func closeLab(show bool) error {
	s := shared.server
	if s == nil {
		return nil
	}
	if shared.stop != nil {
		shared.stop()
	}
	shared.load.Wait()
	err := s.stop()
	if show {
		fmt.Fprintf(os.Stderr, "what the shared server has printed:\n%s", s.log())
	}
	return errors.Join(err, os.RemoveAll(s.home))
}
