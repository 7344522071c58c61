package client

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kapi-dev/kapi/internal/datadir"
	"github.com/kapi-dev/kapi/internal/fault"
)

const privateFile fs.FileMode = 0o600

// target is a kubeconfig that is read, changed and written under a lock.
type target struct {
	path   string // as it was named; lock and backup lie beside it
	file   string // where the symlinks end
	exists bool
	info   fs.FileInfo // of file, if it exists
	data   []byte      // its content
}

// openTarget locks and reads the file. The lock is that of client-go's
// clientcmd: a `kubectl config` that runs at the same time keeps out too.
func openTarget(path string) (*target, error) {
	file, err := followLinks(path)
	if err != nil {
		return nil, err
	}
	for _, p := range []string{path, file} {
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			return nil, err
		}
	}
	t := &target{path: path, file: file}
	lock, err := os.OpenFile(t.lockPath(), os.O_CREATE|os.O_EXCL, privateFile)
	if errors.Is(err, fs.ErrExist) {
		return nil, fault.WithHint(fmt.Errorf("another program is changing it: %s exists", t.lockPath()),
			"try again; if nothing is changing it, remove %s", t.lockPath())
	}
	if err != nil {
		return nil, err
	}
	lock.Close()
	if err := t.read(); err != nil {
		t.unlock()
		return nil, err
	}
	return t, nil
}

func (t *target) lockPath() string { return t.path + ".lock" }

func (t *target) unlock() { os.Remove(t.lockPath()) }

func (t *target) read() error {
	info, err := os.Stat(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fault.Usagef("%s is not a regular file", t.file)
	}
	if err != nil {
		return err
	}
	t.exists, t.info = true, info
	t.data, err = os.ReadFile(t.file)
	return err
}

// isSame tells whether path leads to the same file.
func (t *target) isSame(path string) bool {
	info, err := os.Stat(path)
	return err == nil && t.exists && os.SameFile(info, t.info)
}

// load returns the content, and the form in which it would be written if nothing
// changed; that is nil for a file that does not exist.
func (t *target) load() (*clientcmdapi.Config, []byte, error) {
	config, err := clientcmd.Load(bytes.TrimSpace(t.data))
	if err != nil {
		return nil, nil, fault.WithHint(fault.Usagef("it can't be read: %w", err), "repair the file, or name another one")
	}
	if !t.exists {
		return config, nil, nil
	}
	normal, err := clientcmd.Write(*config)
	return config, normal, err
}

// backup copies the old content to a new file beside the named one, and returns
// its path, "" where there was no file.
func (t *target) backup(now func() time.Time) (string, error) {
	if !t.exists {
		return "", nil
	}
	if now == nil {
		now = time.Now
	}
	base := t.path + ".kapi-backup-" + now().UTC().Format("20060102T150405Z")
	path := base
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, t.replace(path, t.data, privateFile)
		} else if err != nil {
			return "", err
		}
		path = base + "-" + strconv.Itoa(n)
	}
}

// write replaces the file. A mode that is tighter than 0600 stays.
func (t *target) write(data []byte) error {
	mode := privateFile
	if t.exists {
		mode &= t.info.Mode().Perm()
	}
	return t.replace(t.file, data, mode)
}

// replace keeps root from taking a user's file away from him (sudo kapi ...).
func (t *target) replace(path string, data []byte, mode fs.FileMode) error {
	uid, gid := -1, -1
	if t.exists && os.Geteuid() == 0 {
		if st, ok := t.info.Sys().(*syscall.Stat_t); ok {
			uid, gid = int(st.Uid), int(st.Gid)
		}
	}
	return datadir.WriteFileAtomicAs(path, data, mode, uid, gid)
}

// followLinks returns where the symlinks at path end, whether there is a file or
// not: dotfiles are often links, and one may be the first to write through them.
func followLinks(path string) (string, error) {
	file := path
	for range 40 { // as many as Linux follows
		link, err := os.Readlink(file)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EINVAL) {
			return file, nil // nothing there, or no link
		}
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(link) {
			// The directory may be a link itself: ".." goes up from where it leads.
			dir, err := filepath.EvalSymlinks(filepath.Dir(file))
			if err != nil {
				return "", err
			}
			link = filepath.Join(dir, link)
		}
		file = link
	}
	return "", fault.Usagef("%s has too many levels of symlinks", path)
}
