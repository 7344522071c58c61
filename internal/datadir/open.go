package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/kapi-dev/kapi/internal/fault"
)

const privateMode fs.FileMode = 0o700

// entries lists what kapi itself puts into a data directory, and which of it
// are directories.
var entries = []struct {
	name string
	dir  bool
}{
	{lockName, false}, {kubeconfigName, false}, {serverInfoName, false}, {bootsName, false},
	{pkiName, true}, {etcdName, true}, {runName, true},
}

// Open checks the data directory at path, creates it (0700) where it is missing,
// and returns it resolved to an absolute path without symlinks.
//
// It refuses what can't be a private directory of ours: something that is not a
// directory, belongs to another user, is read-only, or holds a symlink, or
// somebody else's file, under one of kapi's names. A directory of ours that
// others may enter becomes 0700. A directory that is refused, and one that is in
// order already, is left as it is. Every error carries a hint.
func Open(path string) (*Dir, error) {
	if path == "" {
		return nil, fault.WithHint(fault.Usagef("opening data directory: the path is empty"), "name a directory with --data-dir")
	}
	d, err := open(path)
	if err != nil {
		// An inner hint is more exact than this one.
		if fault.Hint(err) == "" {
			err = fault.WithHint(err, "choose another directory with --data-dir")
		}
		return nil, fmt.Errorf("opening data directory: %w", err)
	}
	return d, nil
}

func open(path string) (*Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := create(abs); err != nil {
		return nil, err
	}
	resolved, err := resolve(abs)
	if err != nil {
		return nil, err
	}
	// From here on the checks are made on one open directory: a name that is
	// exchanged under us can't redirect the chmod.
	f, err := os.OpenFile(resolved, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return nil, fmt.Errorf("%s is not a directory", resolved)
	case errors.Is(err, fs.ErrPermission):
		// Who owns it says more than "permission denied".
		if fi, serr := os.Stat(resolved); serr == nil {
			if oerr := checkOwner(resolved, fi); oerr != nil {
				return nil, oerr
			}
		}
		return nil, err
	case err != nil:
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkOwner(resolved, fi); err != nil {
		return nil, err
	}
	if err := checkWritable(resolved); err != nil {
		return nil, err
	}
	if err := checkEntries(resolved); err != nil {
		return nil, err
	}
	if err := tighten(f, fi); err != nil {
		return nil, err
	}
	return &Dir{path: resolved}, nil
}

// create makes the directory where nothing has its name.
func create(abs string) error {
	if _, err := os.Lstat(abs); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(abs)
	if err := os.MkdirAll(parent, 0o755); err != nil { //nolint:gosec // directories above ours are as public as usual
		return err
	}
	// Two kapi may start at once: the lock decides between them, not this.
	if err := os.Mkdir(abs, privateMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// What etcd will acknowledge is only durable if the way to it is.
	return syncDir(parent)
}

// resolve follows symlinks. The link at the directory's own name must be ours or
// root's: anybody else's could send our keys where he likes.
func resolve(abs string) (string, error) {
	fi, err := os.Lstat(abs)
	if err != nil {
		return "", err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		if uid := ownerOf(fi); uid != 0 && uid != os.Geteuid() {
			return "", fmt.Errorf("%s is a symlink that belongs to uid %d, kapi runs as uid %d", abs, uid, os.Geteuid())
		}
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.WithHint(fmt.Errorf("%s is a symlink to something that does not exist", abs),
			"create the directory that it points to, or remove the link")
	}
	return resolved, err
}

func checkOwner(path string, fi fs.FileInfo) error {
	if uid := ownerOf(fi); uid != os.Geteuid() {
		return fault.WithHint(fmt.Errorf("%s belongs to uid %d, kapi runs as uid %d", path, uid, os.Geteuid()),
			"run kapi as the owner, or choose another directory with --data-dir")
	}
	return nil
}

func checkWritable(path string) error {
	const write, search = 2, 1 // W_OK, X_OK of access(2)
	err := syscall.Access(path, write|search)
	switch {
	case errors.Is(err, syscall.EROFS):
		return fault.WithHint(fmt.Errorf("%s is not writable: %w", path, err),
			"mount the file system read-write, or choose another directory with --data-dir")
	case err != nil:
		return fault.WithHint(fmt.Errorf("%s is not writable: %w", path, err),
			"make it writable (chmod u+rwx %s), or choose another directory with --data-dir", path)
	}
	return nil
}

// checkEntries refuses to work through names that somebody may have planted
// while the directory was open to others.
func checkEntries(path string) error {
	for _, e := range entries {
		name := filepath.Join(path, e.name)
		fi, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := checkEntry(name, fi, e.dir); err != nil {
			return fault.WithHint(err, "remove %s, or choose another directory with --data-dir", name)
		}
	}
	return nil
}

func checkEntry(name string, fi fs.FileInfo, dir bool) error {
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symlink, which kapi does not follow inside its data directory", name)
	case dir && !fi.IsDir():
		return fmt.Errorf("%s is not a directory", name)
	case !dir && !fi.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", name)
	}
	return checkOwner(name, fi)
}

// tighten makes the directory 0700 where group or others have any access. It
// does so to a directory of kapi's only: `--data-dir /` must not lock everybody
// else out of the machine.
func tighten(f *os.File, fi fs.FileInfo) error {
	if fi.Mode().Perm()&0o077 == 0 {
		return nil
	}
	ours, err := looksOurs(f)
	if err != nil {
		return err
	}
	if !ours {
		return fault.WithHint(fmt.Errorf("%s is open to other users (mode %04o) and holds files that are not kapi's", f.Name(), fi.Mode().Perm()),
			"choose an empty or new directory with --data-dir, or make this one private (chmod 700 %s)", f.Name())
	}
	return f.Chmod(privateMode)
}

// looksOurs tells whether a directory is a data directory of kapi's or an empty
// one: it has our lock file, or nothing but names of ours in it.
func looksOurs(f *os.File) (bool, error) {
	names, err := f.Readdirnames(-1)
	if err != nil {
		return false, err
	}
	known := map[string]bool{"lost+found": true} // the root of a fresh file system
	for _, e := range entries {
		known[e.name] = true
	}
	foreign := false
	for _, n := range names {
		if n == lockName {
			return true, nil // checkEntries has seen that it is a regular file of ours
		}
		foreign = foreign || !known[n]
	}
	return !foreign, nil
}

// ownerOf returns the uid of a file, and one that nobody has where the system
// does not say.
func ownerOf(fi fs.FileInfo) int {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return int(st.Uid)
}
