package etcd

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kapi-dev/kapi/internal/fault"
)

// TestMain runs the test binary as one of the children that tests start, or
// the tests.
func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(runChild(role))
	}
	os.Exit(m.Run())
}

// testConfig is the Config of a new member in a directory of its own.
func testConfig(t testing.TB) Config {
	t.Helper()
	dir := t.TempDir()
	return Config{Dir: filepath.Join(dir, "etcd"), RunDir: filepath.Join(dir, "run")}
}

func mustStart(t testing.TB, c Config) *Member {
	t.Helper()
	m, err := Start(t.Context(), c)
	if err != nil {
		t.Fatalf("starting: %v", err)
	}
	// Harmless after a Stop in the test itself.
	t.Cleanup(func() { _ = m.Stop(context.Background()) })
	return m
}

func mustStop(t testing.TB, m *Member) {
	t.Helper()
	if err := m.Stop(context.Background()); err != nil {
		t.Fatalf("stopping: %v", err)
	}
}

// fill writes n keys, key-000000 and so on, with the value that valueOf gives.
func fill(t testing.TB, kv clientv3.KV, n int, valueOf func(int) string) {
	t.Helper()
	var wg sync.WaitGroup
	next := make(chan int)
	for range 64 {
		wg.Go(func() {
			for i := range next {
				if _, err := kv.Put(t.Context(), keyOf(i), valueOf(i)); err != nil {
					t.Errorf("writing key %d: %v", i, err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func keyOf(i int) string { return fmt.Sprintf("key-%06d", i) }

// content reads all keys.
func content(t testing.TB, kv clientv3.KV) map[string]string {
	t.Helper()
	r, err := kv.Get(t.Context(), "", clientv3.WithPrefix())
	if err != nil {
		t.Fatalf("reading everything: %v", err)
	}
	all := map[string]string{}
	for _, kv := range r.Kvs {
		all[string(kv.Key)] = string(kv.Value)
	}
	return all
}

// tree lists everything below dir with its mode and a hash of its content.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		all[p] = fi.Mode().String()
		if d.Type().IsRegular() {
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			all[p] += fmt.Sprintf(" %x", sha256.Sum256(b))
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatalf("listing %s: %v", dir, err)
	}
	return all
}

// mustRefuse starts on c, which must fail with an error that contains all of
// want and has a hint, and must leave everything below the directory as it is.
func mustRefuse(t *testing.T, c Config, want ...string) error {
	t.Helper()
	parent := filepath.Dir(c.Dir)
	before := tree(t, parent)
	m, err := Start(t.Context(), c)
	if err == nil {
		_ = m.Stop(context.Background())
		t.Fatal("started, want an error")
	}
	t.Logf("error: %v\nhint: %s", err, fault.Hint(err))
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q, want it to contain %q", err, w)
		}
	}
	if fault.Hint(err) == "" {
		t.Errorf("error %q has no hint", err)
	}
	if strings.Contains(err.Error(), "goroutine ") || strings.Contains(err.Error(), ".go:") {
		t.Errorf("error %q has a stack trace", err)
	}
	after := tree(t, parent)
	for p := range after {
		if _, ok := before[p]; !ok {
			t.Errorf("%s was made", p)
		}
	}
	for p, h := range before {
		if after[p] != h {
			t.Errorf("%s changed: %s, before %s", p, after[p], h)
		}
	}
	return err
}

// copyDir copies the tree src to dst.
func copyDir(t testing.TB, src, dst string) {
	t.Helper()
	if err := os.CopyFS(dst, os.DirFS(src)); err != nil {
		t.Fatalf("copying %s: %v", src, err)
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// onlyWAL returns the path of the log's only file.
func onlyWAL(t testing.TB, dir string) string {
	t.Helper()
	names, err := walNames(walDir(dir))
	if err != nil || len(names) != 1 {
		t.Fatalf("log files: %v, %v; want one", names, err)
	}
	return filepath.Join(walDir(dir), names[0])
}
