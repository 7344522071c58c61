package etcd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"go.etcd.io/etcd/server/v3/storage/wal"
	"golang.org/x/sys/unix"

	"github.com/kapi-dev/kapi/internal/fault"
)

// roomForStart is what a first start needs: two segments of the log, which etcd
// reserves in full (64 MB each), and the beginning of the database. The second
// one is not needed at once, but where it does not fit, the attempt takes all
// the room there is for a moment, and the database fails.
func roomForStart() uint64 { return uint64(2*wal.SegmentSizeBytes) + 8<<20 }

// checkAccess makes sure that etcd can read and write what it will open. It
// asks the system (access(2), which knows read-only file systems too) instead
// of trying, and so leaves no trace.
func checkAccess(dir string) error {
	for _, p := range dataFiles(dir) {
		fi, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			if p != dir {
				continue
			}
			// It will be made: its nearest ancestor must allow that.
			if p, fi, err = ancestor(dir); err == nil && !fi.IsDir() {
				err = fmt.Errorf("making %s: %w", dir, &fs.PathError{Op: "mkdir", Path: p, Err: syscall.ENOTDIR})
			}
		}
		if err != nil {
			return fmt.Errorf("looking at %s: %w", p, err)
		}
		mode := uint32(unix.R_OK | unix.W_OK)
		if fi.IsDir() {
			mode |= unix.X_OK
		}
		if err := unix.Access(p, mode); err != nil {
			return accessError(p, fi, err)
		}
	}
	return nil
}

// accessError says whose p is where that is the reason.
func accessError(p string, fi fs.FileInfo, cause error) error {
	err := fmt.Errorf("opening %s for writing: %w", p, cause)
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && errors.Is(cause, fs.ErrPermission) {
		if uid := os.Geteuid(); int(st.Uid) != uid {
			return fault.WithHint(fmt.Errorf("%w: it belongs to user %d, and this is user %d", err, st.Uid, uid),
				"Run as user %d, give the directory to user %d, or choose another one.", st.Uid, uid)
		}
	}
	return err
}

// ancestor returns the nearest parent of dir that exists.
func ancestor(dir string) (string, fs.FileInfo, error) {
	for {
		dir = filepath.Dir(dir)
		fi, err := os.Stat(dir)
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir, fi, err
		}
	}
}

// checkRoom refuses a start that could not finish for want of room.
func checkRoom(dir string, need uint64) error {
	at := dir
	if _, err := os.Stat(dir); err != nil {
		if at, _, err = ancestor(dir); err != nil {
			return fmt.Errorf("looking at %s: %w", at, err)
		}
	}
	var st unix.Statfs_t
	if err := unix.Statfs(at, &st); err != nil {
		return fmt.Errorf("asking for the room in %s: %w", at, err)
	}
	if free := st.Bavail * uint64(st.Bsize); free < need {
		return fault.WithHint(
			fmt.Errorf("disk full: etcd needs %d MB in %s to start, and %d MB are free: %w", need/1_000_000, dir, free/1_000_000, syscall.ENOSPC),
			"Make room on that file system, or choose another data directory.")
	}
	return nil
}
