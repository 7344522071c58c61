package etcd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kapi-dev/kapi/internal/fault"
)

// The environment of a child.
const (
	childRole  = "KAPI_ETCD_TEST_CHILD" // what to do: see runChild
	childDir   = "KAPI_ETCD_TEST_DIR"   // holds the data directory and the sockets
	childFirst = "KAPI_ETCD_TEST_FIRST" // number of the first key
	childBytes = "KAPI_ETCD_TEST_BYTES" // size of a value
)

// runChild is the main of a child. It ends as a server would: with the error
// and its hint on stderr, and 1.
func runChild(role string) int {
	var err error
	dir := os.Getenv(childDir)
	c := Config{Dir: filepath.Join(dir, "etcd"), RunDir: filepath.Join(dir, "run")}
	switch role {
	case "write":
		err = childWrites(c, func(*Member) {})
	case "write much log":
		err = childWrites(c, growLog)
	case "begin":
		err = childBegins(c)
	case "start as nobody":
		err = errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
		if err == nil {
			_, err = Start(context.Background(), c)
		}
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\nhint: %s\n", err, fault.Hint(err))
		return 1
	}
	return 0
}

// nobody is a user who owns nothing.
const nobody = 65534

// childBegins starts without looking at the data directory first.
func childBegins(c Config) error {
	if err := c.validate(); err != nil {
		return err
	}
	s, err := openSockets(c.RunDir)
	if err != nil {
		return err
	}
	return newMember(c, s).begin(context.Background(), dataDir{empty: true})
}

// growLog makes an entry of the log that changes nothing in the database: a
// transaction whose condition does not hold.
func growLog(m *Member) {
	never := clientv3.Compare(clientv3.Version("no such key"), ">", 0)
	_, _ = m.Client().Txn(context.Background()).If(never).Then(clientv3.OpPut("x", strings.Repeat("x", 1<<20))).Commit()
}

// childWrites starts a member, writes keys from several goroutines and reports
// each write that was acknowledged, until it is killed or the member fails. On
// stdout: "starting", "ready REVISION", "ack KEY REVISION" and so on.
func childWrites(c Config, between func(*Member)) error {
	first, err := strconv.Atoi(os.Getenv(childFirst))
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(os.Getenv(childBytes))
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	fmt.Println("starting")
	c.OnFatal = func(err error) { failed <- err }
	m, err := Start(context.Background(), c)
	if err != nil {
		return err
	}
	s, err := m.Status(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("ready", s.Revision)
	next := make(chan int)
	for range 8 {
		go childWriter(m, size, next, between)
	}
	for i := first; ; i++ {
		select {
		case next <- i:
		case err := <-failed:
			return errors.Join(childStops(m, err), err)
		}
	}
}

// childWriter ends when a write fails: then failed has the reason.
func childWriter(m *Member, size int, next <-chan int, between func(*Member)) {
	for i := range next {
		between(m)
		r, err := m.Client().Put(context.Background(), keyOf(i), childValue(i, size))
		if err != nil {
			return
		}
		// One write each: lines of several goroutines don't mix.
		fmt.Printf("ack %s %d\n", keyOf(i), r.Header.Revision)
	}
}

func childValue(i, size int) string {
	v := fmt.Sprintf("value of %s ", keyOf(i))
	return v + strings.Repeat("x", max(0, size-len(v)))
}

// childStops checks what a member that has failed still does.
func childStops(m *Member, cause error) error {
	if err := <-m.Err(); err != cause { //nolint:errorlint // the same one
		return fmt.Errorf("Err has %w, want what OnFatal got", err)
	}
	if _, err := m.Status(context.Background()); !errors.Is(err, cause) {
		return fmt.Errorf("status after the failure: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := m.Stop(ctx); !errors.Is(err, cause) {
		return fmt.Errorf("stop after the failure: %w", err)
	}
	return nil
}

// child is a process that writes.
type child struct {
	cmd    *exec.Cmd
	out    *bufio.Scanner
	stderr strings.Builder

	ready    int64 // revision that it began with; -1 before that
	acked    map[string]int64
	killOnce sync.Once
}

// startChild starts a process of the given role, which writes keys from number
// first on.
func startChild(t *testing.T, role, dir string, first, size int) *child {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	c := &child{cmd: exec.CommandContext(t.Context(), exe), ready: -1, acked: map[string]int64{}}
	c.cmd.Env = append(os.Environ(), childRole+"="+role, childDir+"="+dir,
		fmt.Sprintf("%s=%d", childFirst, first), fmt.Sprintf("%s=%d", childBytes, size))
	c.cmd.Stderr = &c.stderr
	out, err := c.cmd.StdoutPipe()
	must(t, err)
	c.out = bufio.NewScanner(out)
	must(t, c.cmd.Start())
	return c
}

// kill is SIGKILL.
func (c *child) kill() { c.killOnce.Do(func() { _ = c.cmd.Process.Kill() }) }

// line reads one line, and reports false when there are no more.
func (c *child) line(t *testing.T) bool {
	t.Helper()
	if !c.out.Scan() {
		return false
	}
	var key string
	var rev int64
	switch l := c.out.Text(); {
	case l == "starting":
	case strings.HasPrefix(l, "ready "):
		_, err := fmt.Sscanf(l, "ready %d", &c.ready)
		must(t, err)
	default:
		_, err := fmt.Sscanf(l, "ack %s %d", &key, &rev)
		must(t, err)
		c.acked[key] = rev
	}
	return true
}

// wait reads the rest, waits for the end and returns the exit code, which is
// -1 for a child that was killed.
func (c *child) wait(t *testing.T) int {
	t.Helper()
	for c.line(t) {
	}
	_ = c.cmd.Wait() // its error is the exit code
	return c.cmd.ProcessState.ExitCode()
}
