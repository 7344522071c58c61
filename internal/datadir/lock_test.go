package datadir

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

// holdEnv makes the test binary a second kapi: it locks the named directory,
// says so, and holds it until its stdin ends.
const holdEnv = "KAPI_TEST_HOLD_LOCK"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		if err := hold(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func hold(path string) error {
	d, err := Open(path)
	if err != nil {
		return err
	}
	release, err := d.Lock()
	if err != nil {
		return err
	}
	fmt.Println("locked")
	io.Copy(io.Discard, os.Stdin)
	return release()
}

// holder starts a process that holds the lock of path.
func holder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), holdEnv+"="+path)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	must(t, err)
	t.Cleanup(func() { stdin.Close() })
	stdout, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the holder said %q, %v", line, err)
	}
	return cmd
}

// snapshot describes everything on disk below dir.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.Walk(dir, func(p string, fi os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, p, fi.Mode(), fi.ModTime().UnixNano())
		if fi.Mode().IsRegular() {
			content, err := os.ReadFile(p)
			b.Write(content)
			return err
		}
		return nil
	}))
	return b.String()
}

func TestLockIsHeldByAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kapi")
	cmd := holder(t, path)
	must(t, os.WriteFile(filepath.Join(path, ".kubeconfig.X"+tempSuffix), nil, 0o600))
	before := snapshot(t, path)

	d, err := Open(path)
	must(t, err)
	_, err = d.Lock()
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("got %v, want a LockedError", err)
	}
	if locked.PID != cmd.Process.Pid || locked.Path != d.Path() {
		t.Errorf("got %+v, the holder is %d", locked, cmd.Process.Pid)
	}
	if want := fmt.Sprintf("data directory %s is in use by kapi with pid %d", d.Path(), cmd.Process.Pid); err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if fault.Hint(err) == "" {
		t.Error("no hint")
	}
	if after := snapshot(t, path); after != before {
		t.Errorf("the refused kapi changed the directory:\n%s\nbefore:\n%s", after, before)
	}

	// kill -9: the lock is free at once, and the stale pid is no obstacle.
	must(t, cmd.Process.Kill())
	cmd.Wait()
	if got, _ := os.ReadFile(d.LockFile()); strings.TrimSpace(string(got)) != strconv.Itoa(cmd.Process.Pid) {
		t.Errorf("the killed holder's pid should be there still, got %q", got)
	}
	if (ServerInfo{PID: cmd.Process.Pid}).Alive() {
		t.Errorf("pid %d counts as alive", cmd.Process.Pid)
	}
	release, err := d.Lock()
	must(t, err)
	if got, _ := os.ReadFile(d.LockFile()); strings.TrimSpace(string(got)) != strconv.Itoa(os.Getpid()) {
		t.Errorf("lock file says %q", got)
	}
	if names := list(t, path); len(names) != 1 {
		t.Errorf("a half-written file was kept: %v", names)
	}
	must(t, release(), release())
	if got, _ := os.ReadFile(d.LockFile()); len(got) != 0 {
		t.Errorf("after release the file names %q", got)
	}
}

func TestLockTwiceInOneProcess(t *testing.T) {
	t.Parallel()
	d, err := Open(t.TempDir())
	must(t, err)
	release, err := d.Lock()
	must(t, err)
	if _, err := d.Lock(); err == nil {
		t.Error("locked twice")
	}
	must(t, release())
	release, err = d.Lock()
	must(t, err, release())
}

// Of many that start at once on a new directory, one gets it.
func TestLockRace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "kapi")
	var wg sync.WaitGroup
	var mu sync.Mutex
	var winners []func() error
	for range 16 {
		wg.Go(func() {
			d, err := Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			release, err := d.Lock()
			var locked *LockedError
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				winners = append(winners, release) // held to the end
			} else if !errors.As(err, &locked) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(winners) != 1 {
		t.Fatalf("%d hold the lock", len(winners))
	}
	must(t, winners[0]())
}

func TestLockFileContents(t *testing.T) {
	t.Parallel()
	tests := []struct {
		content string
		pid     int
		message string
	}{
		{"123\n", 123, "with pid 123"},
		{"", 0, "another kapi"},
		{"garbage", 0, "another kapi"},
		{"-1", 0, "another kapi"},
	}
	for _, tt := range tests {
		t.Run(tt.content, func(t *testing.T) {
			t.Parallel()
			d, err := Open(t.TempDir())
			must(t, err)
			f, err := os.Create(d.LockFile())
			must(t, err)
			defer f.Close()
			_, err = f.WriteString(tt.content)
			must(t, err, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
			_, err = d.Lock()
			var locked *LockedError
			if !errors.As(err, &locked) || locked.PID != tt.pid || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAlive(t *testing.T) {
	t.Parallel()
	for pid, want := range map[int]bool{os.Getpid(): true, 1: true, 0: false, -1: false} {
		if got := (ServerInfo{PID: pid}).Alive(); got != want {
			t.Errorf("pid %d: got %v", pid, got)
		}
	}
}
