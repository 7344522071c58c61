package datadir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/kapi-dev/kapi/internal/fault"
)

// LockedError says that another process works in the data directory.
type LockedError struct {
	Path string // the data directory
	PID  int    // the holder, 0 where it has not written its pid yet
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("data directory %s is in use by another kapi", e.Path)
	}
	return fmt.Sprintf("data directory %s is in use by kapi with pid %d", e.Path, e.PID)
}

// Lock takes the data directory for this process, or fails at once with a
// *LockedError in the chain if somebody has it. The kernel gives the lock back
// when the holder ends, however it ends; the pid in the file is for the message
// only. A lock that is held by another is not touched, and neither is anything
// else. release may be called more than once, and must be kept until then: a lock
// that nobody can release any more is given back by the garbage collector.
//
// With the lock taken, files that a killed kapi left half written are removed.
func (d *Dir) Lock() (release func() error, err error) {
	f, err := d.acquire()
	if err != nil {
		if locked := (*LockedError)(nil); errors.As(err, &locked) {
			return nil, fault.WithHint(err, "stop that kapi first, or choose another directory with --data-dir")
		}
		return nil, fmt.Errorf("locking data directory %s: %w", d.path, err)
	}
	if err := writePID(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("locking data directory %s: %w", d.path, withSpaceHint(err, d.path))
	}
	removeTemps(d.Path())
	removeTemps(d.PKI())
	return sync.OnceValue(func() error {
		// The pid goes first: while the lock is held the file never names
		// somebody who does not hold it. Closing would give the lock back too, but not
		// before a process that is being started has let go of what it inherits.
		return errors.Join(f.Truncate(0), syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
	}), nil
}

// acquire returns the locked file. It repeats when the file was removed between
// open and flock, since a lock on a file without a name keeps nobody out.
func (d *Dir) acquire() (*os.File, error) {
	for {
		f, err := os.OpenFile(d.LockFile(), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		err = flock(f)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			pid := readPID(f)
			f.Close()
			return nil, &LockedError{Path: d.path, PID: pid}
		}
		if err != nil {
			f.Close()
			return nil, fault.WithHint(err, "the file system may know no locks: choose a directory on a local disk with --data-dir")
		}
		same, err := sameFile(f, d.LockFile())
		if err != nil {
			f.Close()
			return nil, err
		}
		if same {
			return f, nil
		}
		f.Close()
	}
}

func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// sameFile tells whether name still leads to the open file f.
func sameFile(f *os.File, name string) (bool, error) {
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(name)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, named), err
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// readPID returns the pid in a lock file, 0 where there is none.
func readPID(f *os.File) int {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
