package kapitest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// faultyBuild is kapi built with the tag kapifaults: a server that goes wrong when
// it is told to. It is made once for a test binary.
type faultyBuild struct {
	once sync.Once
	dir  string
	err  error
}

var faulty faultyBuild

// Faulty is New for a server with faults, which package chain names in the files
// with the tag kapifaults ("hang", "fail"). It always has the paths /faults/hang
// and /faults/panic.
func Faulty(t testing.TB, faults []string, args ...string) *Server {
	t.Helper()
	faulty.once.Do(faulty.build)
	if faulty.err != nil {
		t.Fatal(faulty.err)
	}
	s := New(t, args...)
	s.Binary, s.Env = faulty.path(), []string{"FAULTS=" + strings.Join(faults, ",")}
	return s
}

func (f *faultyBuild) path() string { return filepath.Join(f.dir, commandName) }

// build links it. `go run` keeps what it has linked in the build cache, which
// `go build` does not: so it is told to run a copy.
func (f *faultyBuild) build() {
	if f.dir, f.err = os.MkdirTemp("", "kapitest"); f.err != nil {
		return
	}
	cmd := exec.CommandContext(context.Background(), "go", "run", "-exec", "cp", "-tags", "kapifaults", "github.com/kapi-dev/kapi/cmd/kapi", f.path())
	if out, err := cmd.CombinedOutput(); err != nil {
		f.err = fmt.Errorf("building kapi with faults: %w\n%s", err, out)
	}
}

// close removes it.
func (f *faultyBuild) close() error {
	if f.dir == "" {
		return nil
	}
	return os.RemoveAll(f.dir)
}
