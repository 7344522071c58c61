package robust

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// full says whether the long form runs.
func full() bool { return os.Getenv("KAPI_ROBUST") == "full" }

// size is how much of something a test does: in short, or in the long form.
func size(short, long int) int {
	if full() {
		return long
	}
	return short
}

// patience is for a machine that does something else at the same time: nothing
// here takes as long, unless it hangs.
const patience = 3 * time.Minute

// programs are the paths of what the tests start.
type programs struct {
	kapi string
	etcd string // a server of its own, for --etcd-servers
}

// bin builds what the environment does not name, once.
var bin = sync.OnceValues(func() (programs, error) {
	p := programs{kapi: os.Getenv("KAPI_BIN"), etcd: os.Getenv("KAPI_ETCD_BIN")}
	args := []string{"build", "-ldflags=-s -w", "-o", binDir}
	for _, program := range []struct {
		path *string
		pkg  string
	}{{&p.kapi, "cmd/kapi"}, {&p.etcd, "bench/peer/etcd"}} {
		if *program.path == "" {
			args = append(args, "github.com/kapi-dev/kapi/"+program.pkg)
			*program.path = filepath.Join(binDir, filepath.Base(program.pkg))
		}
	}
	if p.kapi == os.Getenv("KAPI_BIN") && p.etcd == os.Getenv("KAPI_ETCD_BIN") {
		return p, nil
	}
	out, err := exec.CommandContext(context.Background(), "go", args...).CombinedOutput()
	if err != nil {
		return p, fmt.Errorf("building kapi: %w\n%s", err, bytes.TrimSpace(out))
	}
	return p, nil
})

// binDir is open to all users: some tests run kapi as another one.
var binDir string

func TestMain(m *testing.M) {
	// The client libraries have something to say about each broken connection.
	klog.SetLogger(logr.Discard())
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if binDir, err = os.MkdirTemp("", "kapi-robust"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(binDir)
	if err := os.Chmod(binDir, 0o755); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// binaries returns the programs, or ends the test.
func binaries(t testing.TB) programs {
	t.Helper()
	p, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// must ends the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shortDir is a directory whose name leaves room for that of a socket.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kapi")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
