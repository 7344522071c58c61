package datadir

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

const nobody = 65534

// asNobody runs f on a thread that has dropped root, and throws the thread away.
// Without root it just runs f: the rights are what the test needs already.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan syscall.Errno)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		// The raw call changes this thread only, which the portable one must not.
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody)
		if errno == 0 {
			f()
		}
		done <- errno
	}()
	if errno := <-done; errno != 0 {
		t.Skipf("dropping root: %v", errno)
	}
}

// openDir makes a directory that nobody, too, can reach by name.
func openDir(t *testing.T) string {
	t.Helper()
	tmp := t.TempDir()
	must(t, os.Chmod(filepath.Dir(tmp), 0o755), os.Chmod(tmp, 0o755))
	return tmp
}

func TestOpenRefusesReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(openDir(t), "kapi")
	must(t, os.Mkdir(path, 0o500))
	if os.Geteuid() == 0 {
		must(t, os.Chown(path, nobody, -1))
	}
	var err error
	asNobody(t, func() { _, err = Open(path) })
	if err == nil || !strings.Contains(err.Error(), path+" is not writable") || fault.Hint(err) == "" {
		t.Errorf("got %v with hint %q", err, fault.Hint(err))
	}
	if got := modeOf(t, path); got != 0o500 {
		t.Errorf("the directory was changed to %04o", got)
	}
}

func TestOpenBelowForeignDirectory(t *testing.T) {
	t.Parallel()
	parent := openDir(t)
	if os.Geteuid() != 0 {
		must(t, os.Chmod(parent, 0o500))
	}
	var err error
	asNobody(t, func() { _, err = Open(filepath.Join(parent, "kapi")) })
	if err == nil || !strings.Contains(err.Error(), "permission denied") || fault.Hint(err) == "" {
		t.Errorf("got %v with hint %q", err, fault.Hint(err))
	}
}

func TestOpenRefusesPlanted(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can make files of another user")
	}
	t.Run("private directory of root", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(openDir(t), "kapi")
		must(t, os.Mkdir(path, 0o700))
		var err error
		asNobody(t, func() { _, err = Open(path) })
		if err == nil || !strings.Contains(err.Error(), "belongs to uid 0") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("entry of another user", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir()
		pki := filepath.Join(path, "pki")
		must(t, os.Mkdir(pki, 0o777), os.Chown(pki, nobody, -1))
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "belongs to uid 65534") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("data directory is a symlink of another user", func(t *testing.T) {
		t.Parallel()
		tmp := t.TempDir()
		link := filepath.Join(tmp, "link")
		must(t, os.Mkdir(filepath.Join(tmp, "real"), 0o700), os.Symlink("real", link), os.Lchown(link, nobody, -1))
		if _, err := Open(link); err == nil || !strings.Contains(err.Error(), "symlink that belongs to uid 65534") {
			t.Errorf("got %v", err)
		}
	})
}

// mountTmpfs mounts a small file system, or skips where that is not allowed.
func mountTmpfs(t *testing.T, flags uintptr, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
		t.Skipf("mounting a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	})
	return dir
}

func TestReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	dir := mountTmpfs(t, syscall.MS_RDONLY, "mode=0700")
	_, err := Open(dir)
	if err == nil || !strings.Contains(err.Error(), "read-only file system") || !strings.Contains(fault.Hint(err), "read-write") {
		t.Errorf("got %v with hint %q", err, fault.Hint(err))
	}
}

func TestFullFileSystem(t *testing.T) {
	t.Parallel()
	d, err := Open(mountTmpfs(t, 0, "mode=0700,size=64k"))
	must(t, err, WriteFileAtomic(d.Kubeconfig(), []byte("old"), 0o600))
	err = WriteFileAtomic(d.Kubeconfig(), make([]byte, 1<<20), 0o600)
	if err == nil || !strings.Contains(err.Error(), "no space left") || !strings.Contains(fault.Hint(err), "make room") {
		t.Errorf("got %v with hint %q", err, fault.Hint(err))
	}
	if got, _ := os.ReadFile(d.Kubeconfig()); string(got) != "old" {
		t.Errorf("the old content is gone, got %d bytes", len(got))
	}
	if names := list(t, d.Path()); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
	// After room was made it goes on.
	must(t, WriteFileAtomic(d.Kubeconfig(), []byte("new"), 0o600))
}
