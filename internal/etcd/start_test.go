package etcd

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/kapi-dev/kapi/internal/fault"
)

func TestConfigIsRefused(t *testing.T) {
	t.Parallel()
	good := Config{Dir: "d", RunDir: "r"}
	for name, change := range map[string]func(*Config){
		"data directory is empty": func(c *Config) { c.Dir = "" },
		"sockets is empty":        func(c *Config) { c.RunDir = "" },
		`"a=b"`:                   func(c *Config) { c.Name = "a=b" },
		"quota -1":                func(c *Config) { c.QuotaBytes = -1 },
	} {
		c := good
		change(&c)
		_, err := Start(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), name) || fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s: error %v with code %d, want a usage error that says so", name, err, fault.Code(err))
		}
	}
}

func dial(t testing.TB, endpoint string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestBothClients(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	m := mustStart(t, c)
	if first := m.Client(); first != m.Client() {
		t.Error("Client returns a new client each time")
	}
	watch := m.Client().Watch(t.Context(), "a")
	if _, err := dial(t, m.Endpoint()).Put(t.Context(), "a", "over the socket"); err != nil {
		t.Fatal(err)
	}
	if ev := <-watch; len(ev.Events) != 1 || string(ev.Events[0].Kv.Value) != "over the socket" {
		t.Errorf("the in-process watch got %v", ev)
	}
	if got := content(t, m.Client()); got["a"] != "over the socket" {
		t.Errorf("the in-process client reads %v", got)
	}
	if _, err := m.Client().Put(t.Context(), "big", strings.Repeat("x", 1<<20)); err != nil {
		t.Errorf("writing 1 MiB: %v", err)
	}
	// What kube-apiserver's storage calls beside the plain KV.
	if _, err := m.Client().Grant(t.Context(), 60); err != nil {
		t.Errorf("granting a lease: %v", err)
	}
	if err := m.Client().RequestProgress(t.Context()); err != nil {
		t.Errorf("requesting progress: %v", err)
	}
	kc := kubernetes.Client{Client: m.Client()}
	kc.Kubernetes = &kc
	if r, err := kc.Get(t.Context(), "a", kubernetes.GetOptions{}); err != nil || r.KV == nil {
		t.Errorf("reading with the kubernetes interface: %v, %v", r, err)
	}
}

func TestNoTCPAndPrivateModes(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	m := mustStart(t, c)
	var addrs []net.Addr
	for _, l := range m.etcd.Clients {
		addrs = append(addrs, l.Addr())
	}
	for _, p := range m.etcd.Peers {
		addrs = append(addrs, p.Addr())
	}
	if len(addrs) != 2 || len(m.etcd.Config().ListenMetricsUrls) != 0 {
		t.Errorf("listens on %v, want two sockets", addrs)
	}
	for _, a := range addrs {
		if a.Network() != "unix" {
			t.Errorf("listens on %s %s", a.Network(), a)
		}
	}
	for _, dir := range []string{c.Dir, c.RunDir} {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			fi, err := d.Info()
			if err == nil && fi.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %s", p, fi.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	mustStop(t, m)
	if left := tree(t, c.RunDir); len(left) != 1 {
		t.Errorf("left after the stop: %v", left)
	}
}

// TestMovedDirectory: the same data, at another path, under another name.
func TestMovedDirectory(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	m := mustStart(t, c)
	if _, err := m.Client().Put(t.Context(), "a", "b"); err != nil {
		t.Fatal(err)
	}
	first, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, m)

	moved := testConfig(t)
	moved.Name = "other"
	if err := os.Rename(c.Dir, moved.Dir); err != nil {
		t.Fatal(err)
	}
	m = mustStart(t, moved)
	if got := content(t, m.Client()); got["a"] != "b" {
		t.Errorf("content after the move: %v", got)
	}
	second, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if first.ClusterID != second.ClusterID || first.Revision != second.Revision || !second.Leader {
		t.Errorf("status %+v, before the move %+v", second, first)
	}
	if got := content(t, dial(t, m.Endpoint())); got["a"] != "b" {
		t.Errorf("content over the new socket: %v", got)
	}
}

func TestLongRunDir(t *testing.T) {
	c := testConfig(t)
	c.RunDir = filepath.Join(c.RunDir, strings.Repeat("x", 100))
	base := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", base)
	// What a killed process leaves behind.
	stale := filepath.Join(base, shortPrefix+"1")
	if err := errors.Join(os.MkdirAll(c.RunDir, 0o700), os.Mkdir(stale, 0o700),
		os.Symlink(stale, filepath.Join(c.RunDir, socketsLink))); err != nil {
		t.Fatal(err)
	}
	leaveSocket(t, filepath.Join(stale, clientSocket))

	m := mustStart(t, c)
	if _, err := os.Lstat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old short directory is still there: %v", err)
	}
	short := filepath.Dir(strings.TrimPrefix(m.Endpoint(), "unix://"))
	if filepath.Dir(short) != base {
		t.Errorf("endpoint %s, want it below %s", m.Endpoint(), base)
	}
	if fi, err := os.Stat(short); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("short directory: %v, %v", fi, err)
	}
	if to, err := os.Readlink(filepath.Join(c.RunDir, socketsLink)); to != short {
		t.Errorf("link to %q, %v; want %s", to, err, short)
	}
	if _, err := dial(t, m.Endpoint()).Get(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	mustStop(t, m)
	if left, run := tree(t, base), tree(t, c.RunDir); len(left) != 1 || len(run) != 1 {
		t.Errorf("left after the stop: %v, %v", left, run)
	}
}

// leaveSocket makes a socket file without a listener.
func leaveSocket(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOldSockets(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	if err := os.MkdirAll(c.RunDir, 0o700); err != nil {
		t.Fatal(err)
	}
	leaveSocket(t, filepath.Join(c.RunDir, clientSocket))
	leaveSocket(t, filepath.Join(c.RunDir, peerSocket))
	mustStop(t, mustStart(t, c))

	writeFile(t, filepath.Join(c.RunDir, clientSocket), []byte("somebody's file"))
	mustRefuse(t, c, clientSocket, "not a socket")
}

func TestStatusAndQuota(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	c.QuotaBytes = 4 << 20
	c.UnsafeNoFsync = true
	m := mustStart(t, c)
	var err error
	n := 0
	for ; err == nil; n++ {
		_, err = m.Client().Put(t.Context(), keyOf(n), strings.Repeat("x", 256<<10))
	}
	if !strings.Contains(err.Error(), "database space exceeded") {
		t.Fatalf("writing beyond the quota: %v", err)
	}
	check := func(m *Member) {
		t.Helper()
		s, err := m.Status(t.Context())
		if err != nil || len(s.Alarms) != 1 || s.Alarms[0] != "NOSPACE" {
			t.Errorf("status %+v, %v; want the alarm NOSPACE", s, err)
		}
		if s.QuotaBytes != c.QuotaBytes || s.DBSize < s.DBSizeInUse || s.DBSizeInUse == 0 || s.Revision == 0 || s.AppliedIndex == 0 {
			t.Errorf("status %+v", s)
		}
		// etcd may apply the write that it answers with the error.
		if got := content(t, m.Client()); len(got) != n-1 && len(got) != n {
			t.Errorf("%d keys are readable, want %d, or one more", len(got), n-1)
		}
	}
	check(m)
	mustStop(t, m)
	check(mustStart(t, c))
}

// TestLocked: the database is open in another process, before the start and
// while it is under way.
func TestLocked(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	mustStop(t, mustStart(t, c))
	// It is never closed: the start that is given up below would go on, and make
	// files while the directory is being removed.
	fd, err := unix.Open(dbPath(c.Dir), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(fd, unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, c, dbPath(c.Dir), "another process")

	// A shared lock passes the check, and then keeps bbolt waiting.
	if err := unix.Flock(fd, unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("the deadline of this test")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(cause) })
	if _, err := Start(ctx, c); !errors.Is(err, cause) || fault.Hint(err) == "" {
		t.Errorf("starting on a locked database: %v, want %v with a hint", err, cause)
	}
}

func TestStopDeadline(t *testing.T) {
	t.Parallel()
	m := mustStart(t, testConfig(t))
	tx := m.etcd.Server.Backend().BatchTx()
	tx.LockOutsideApply() // as a commit to a disk that hangs
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := m.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stopping with the database locked: %v", err)
	}
	tx.Unlock()
	<-m.etcd.Server.StopNotify()
}

func TestStopTwiceAndErr(t *testing.T) {
	t.Parallel()
	m := mustStart(t, testConfig(t))
	stream := dial(t, m.Endpoint()).Watch(t.Context(), "x", clientv3.WithCreatedNotify())
	<-stream // holds a stream open that nobody ends
	mustStop(t, m)
	mustStop(t, m)
	if err, ok := <-m.Err(); ok {
		t.Errorf("Err has %v after a stop, want it closed", err)
	}
	if _, err := m.Client().Put(t.Context(), "a", "b"); err == nil {
		t.Error("a write passed after the stop")
	}
}

// TestNoGoroutineLeak is not parallel: it counts.
func TestNoGoroutineLeak(t *testing.T) {
	c := testConfig(t)
	mustStop(t, mustStart(t, c)) // what is started once for a process
	before := etcdGoroutines()
	for range 3 {
		m := mustStart(t, c)
		remote, err := clientv3.New(clientv3.Config{Endpoints: []string{m.Endpoint()}, Logger: zap.NewNop()})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		<-remote.Watch(ctx, "x", clientv3.WithCreatedNotify())
		<-m.Client().Watch(ctx, "x", clientv3.WithCreatedNotify())
		if _, err := m.Client().Put(t.Context(), "a", "b"); err != nil {
			t.Fatal(err)
		}
		mustStop(t, m)
		cancel()
		_ = remote.Close()
	}
	// Those that were told to end need a moment to be gone.
	var after []string
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for range 6000 {
		if after = etcdGoroutines(); len(after) <= len(before) {
			return
		}
		<-look.C
	}
	t.Errorf("%d goroutines of etcd, %d before:\n%s", len(after), len(before), strings.Join(after, "\n\n"))
}

// etcdGoroutines returns the stacks that mention etcd, without this one.
func etcdGoroutines() []string {
	buf := make([]byte, 16<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var found []string
	for _, s := range strings.Split(string(buf), "\n\n") {
		if strings.Contains(s, "go.etcd.io") && !strings.Contains(s, "etcdGoroutines") {
			found = append(found, s)
		}
	}
	return found
}
