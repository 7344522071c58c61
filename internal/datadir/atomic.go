package datadir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/kapi-dev/kapi/internal/fault"
)

const tempSuffix = ".kapi-tmp"

// WriteFileAtomic replaces the file at path by data with exactly mode,
// whatever the umask is. A reader, and a machine that loses power, sees the old
// content or the new one. A symlink at path is replaced, never followed.
// The directory must exist. After an error the old content is in place, unless
// it was the very last step, syncing the directory, that failed.
func WriteFileAtomic(path string, data []byte, mode fs.FileMode) error {
	return WriteFileAtomicAs(path, data, mode, -1, -1)
}

// WriteFileAtomicAs is WriteFileAtomic for a file that shall belong to uid and
// gid; -1 leaves either as it comes. Only root can give files away.
func WriteFileAtomicAs(path string, data []byte, mode fs.FileMode, uid, gid int) error {
	dir, base := filepath.Split(filepath.Clean(path))
	if dir == "" {
		dir = "."
	}
	temp := filepath.Join(dir, "."+base+"."+rand.Text()+tempSuffix)
	err := writeTemp(temp, data, mode, uid, gid)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp) // the first error is the one to tell
		return fmt.Errorf("writing %s: %w", path, withSpaceHint(cause(err), dir))
	}
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// writeTemp leaves a complete, synced file at a name that did not exist before.
func writeTemp(temp string, data []byte, mode fs.FileMode, uid, gid int) (err error) {
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	if uid != -1 || gid != -1 {
		if err := f.Chown(uid, gid); err != nil {
			return err
		}
	}
	// Before the content: nobody may read it through a mode that is too wide.
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes the names in a directory durable. File systems that can't sync
// a directory say EINVAL or ENOTSUP, and there is nothing more to do on them.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // a parent that we may search but not read, and have not changed
	}
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// removeTemps removes what a killed WriteFileAtomic left in dir. Only the holder
// of the lock may call it. What can't be removed does no harm.
func removeTemps(dir string) {
	found, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range found {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), tempSuffix) {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// cause drops the name of the temporary file, which says nothing to a reader.
func cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	if le := (*os.LinkError)(nil); errors.As(err, &le) {
		return le.Err
	}
	return err
}

func withSpaceHint(err error, dir string) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fault.WithHint(err, "make room on the file system of %s", filepath.Clean(dir))
	}
	return err
}
