package kapitest

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// sharedServer is the one server of a test binary. It outlives the tests that
// use it, so its directory is not one of theirs.
type sharedServer struct {
	once   sync.Once
	server *Server
	err    error
}

var shared sharedServer

// Shared returns the server that all tests of this package share; the first
// call starts it, with default flags. Tests must use names of their own and
// must not stop it.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() {
		home, err := os.MkdirTemp("", "kapitest")
		if err != nil {
			shared.err = err
			return
		}
		shared.server = &Server{Home: home, Dir: filepath.Join(home, "data")}
		shared.err = shared.server.Start()
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// close stops the server. Its log is shown where tests have failed.
func (s *sharedServer) close(show bool) error {
	if s.server == nil {
		return nil
	}
	defer os.RemoveAll(s.server.Home)
	err := s.server.Stop()
	if show {
		fmt.Fprintf(os.Stderr, "what the shared server has printed:\n%s", s.server.Log())
	}
	return err
}
