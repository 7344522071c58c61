package storage

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/kapi-dev/kapi/internal/etcd"
)

// patience is how long a test waits for what must happen, before it fails.
const patience = 30 * time.Second

// sharedEtcd is for tests that neither compact nor count revisions. Each has a
// prefix of its own in it. TestMain sets it.
var sharedEtcd *etcd.Member

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	klog.SetLogger(logr.Discard())
	flag.Parse()
	// Most tests wait, for a lease to end or a cache to compact.
	if err := flag.Set("test.parallel", strconv.Itoa(max(8, runtime.GOMAXPROCS(0)))); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "kapi-storage")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if sharedEtcd, err = startEtcd(context.Background(), dir); err != nil {
		return 1, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		err = errors.Join(err, sharedEtcd.Stop(ctx))
	}()
	return m.Run(), nil
}

func startEtcd(ctx context.Context, dir string) (*etcd.Member, error) {
	return etcd.Start(ctx, etcd.Config{
		Dir: filepath.Join(dir, "etcd"), RunDir: filepath.Join(dir, "run"), UnsafeNoFsync: true,
	})
}

// ownEtcd starts an etcd for one test.
func ownEtcd(t testing.TB) *etcd.Member {
	t.Helper()
	m, err := startEtcd(t.Context(), t.TempDir())
	if err != nil {
		t.Fatalf("starting etcd: %v", err)
	}
	t.Cleanup(func() { stopEtcd(t, m) })
	return m
}

// stopEtcd may be called more than once.
func stopEtcd(t testing.TB, m *etcd.Member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.Stop(ctx); err != nil {
		t.Errorf("stopping etcd: %v", err)
	}
}

// eventually waits until ready says so, and fails with what it said last.
func eventually(t testing.TB, what string, ready func() error) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("waiting until %s: %v", what, err)
		case <-tick.C:
		}
	}
}
