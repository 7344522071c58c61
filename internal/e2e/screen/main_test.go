package screen_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/internal/kapitest/peer"
	"github.com/kapi-dev/kapi/internal/kapitest/polling"
)

const (
	pollEvery   = 25 * time.Millisecond
	kapiPackage = "github.com/kapi-dev/kapi/cmd/kapi"
)

var (
	given = flag.String("kapi", "", "the kapi to test, in place of one that is built")
	// patience decides only how long a broken program keeps the tests waiting, so it is
	// generous.
	patience = flag.Duration("patience", 90*time.Second, "how long to wait for what is expected")
)

// program is the kapi under test, built once for a test binary.
var program struct {
	once sync.Once
	dir  string
	path string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	err := errors.Join(closeLab(code != 0), peer.Clean())
	if program.dir != "" {
		err = errors.Join(err, os.RemoveAll(program.dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cleaning up:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// kapi is the path of the program.
func kapi(t testing.TB) string {
	t.Helper()
	program.once.Do(buildKapi)
	if program.err != nil {
		t.Fatalf("building kapi: %v", program.err)
	}
	return program.path
}

// buildKapi links it. `go run` keeps what it has linked in the build cache, which
// `go build` does not: so it is told to run a copy.
func buildKapi() {
	if *given != "" {
		program.path, program.err = filepath.Abs(*given)
		return
	}
	if program.dir, program.err = os.MkdirTemp("", "screen"); program.err != nil {
		return
	}
	program.path = filepath.Join(program.dir, "kapi")
	ctx := context.Background()
	flags, err := peer.BuildFlags(ctx, kapiPackage)
	if err == nil {
		args := append([]string{"run", "-exec", "cp"}, flags...)
		_, err = peer.Go(ctx, append(args, kapiPackage, program.path)...)
	}
	program.err = err
}

// poll calls check until it returns nil, and returns its last error when it has not
// after patience.
func poll(ctx context.Context, check func(context.Context) error) error {
	return polling.Until(ctx, *patience, pollEvery, check)
}

// eventually is poll for a test.
func eventually(t testing.TB, check func(context.Context) error) {
	t.Helper()
	if err := poll(t.Context(), check); err != nil {
		t.Fatal(err)
	}
}
