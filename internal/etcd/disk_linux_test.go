package etcd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallDisk mounts a tmpfs of the given size. resize gives it another one.
func smallDisk(t *testing.T, size string) (dir string, resize func(size string)) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount a small file system")
	}
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("needs to mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	})
	return dir, func(size string) {
		t.Helper()
		must(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size="+size))
	}
}

// TestDiskFull: the disk fills up under a running member. The process ends
// with a clear error, and with room all that was acknowledged is there.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, role, size, what string }{
		// The log has reserved two segments of 61 MiB.
		{"database", "write", "150m", "member/snap/db:"},
		// A third segment has no room, which shows when it is needed, unless the
		// database wants some while etcd tries to reserve it.
		{"log", "write much log", "150m", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir, resize := smallDisk(t, tc.size)
			const value = 16 << 10
			ch := startChild(t, tc.role, dir, 0, value)
			code := ch.wait(t)
			mustSayDiskFull(t, code, ch.stderr.String(), tc.what)

			// Full as it is, it may start for a while, or say the same again.
			again := startChild(t, tc.role, dir, 1_000_000, value)
			mustSayDiskFull(t, again.wait(t), again.stderr.String())
			for k, rev := range again.acked {
				ch.acked[k] = rev
			}

			resize("400m")
			c := Config{Dir: filepath.Join(dir, "etcd"), RunDir: filepath.Join(dir, "run")}
			mustHaveAcked(t, c, ch.acked, value)
		})
	}
}

func mustSayDiskFull(t *testing.T, code int, stderr string, also ...string) {
	t.Helper()
	t.Logf("exit code %d, stderr:\n%s", code, stderr)
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for _, want := range append(also, "error: ", "disk full: ", "no space left on device", "hint: Make room") {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr has no %q", want)
		}
	}
	for _, bad := range []string{"goroutine ", "panic", ".go:"} {
		if strings.Contains(stderr, bad) {
			t.Errorf("stderr has %q", bad)
		}
	}
}

func TestNoRoomToBegin(t *testing.T) {
	t.Parallel()
	dir, resize := smallDisk(t, "8m")
	c := Config{Dir: filepath.Join(dir, "etcd"), RunDir: filepath.Join(dir, "run")}
	err := mustRefuse(t, c, "disk full", c.Dir, "8 MB are free")
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v is not ENOSPC", err)
	}
	resize("200m")
	mustStop(t, mustStart(t, c))
}

// TestStartFailsHalfway: room for the log, but not for the rest. Nothing of
// the failed start is left, so that the next one is a first start again.
func TestStartFailsHalfway(t *testing.T) {
	t.Parallel()
	dir, _ := smallDisk(t, "200m")
	ballast := filepath.Join(dir, "ballast")
	writeFile(t, ballast, make([]byte, 150<<20))
	ch := startChild(t, "begin", dir, 0, 0) // past the check of the room
	mustSayDiskFull(t, ch.wait(t), ch.stderr.String())
	c := Config{Dir: filepath.Join(dir, "etcd"), RunDir: filepath.Join(dir, "run")}
	if left := tree(t, c.Dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	must(t, os.Remove(ballast))
	mustStop(t, mustStart(t, c))
}

func TestReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	dir, _ := smallDisk(t, "200m")
	c := Config{Dir: filepath.Join(dir, "etcd"), RunDir: filepath.Join(t.TempDir(), "run")}
	mustStop(t, mustStart(t, c))
	must(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	err := mustRefuse(t, c, c.Dir)
	if !errors.Is(err, syscall.EROFS) {
		t.Errorf("error %v is not EROFS", err)
	}
}
