package etcd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kapi-dev/kapi/internal/fault"
)

const (
	clientSocket = "client.sock"
	peerSocket   = "peer.sock"
	// socketsLink is the symbolic link in RunDir to the short directory, where
	// one was needed. It also tells the next start what a killed process left.
	socketsLink = "sockets"
	// shortPrefix begins the name of each short directory.
	shortPrefix = "kapi-etcd-"
)

// maxSocketPath is the number of bytes that fit sockaddr_un.sun_path without
// its terminating zero.
func maxSocketPath() int {
	if runtime.GOOS == "linux" {
		return 107
	}
	return 103
}

// sockets is the directory that holds both sockets of a member. link is empty
// where that is RunDir itself.
type sockets struct {
	dir  string
	link string
}

func (s sockets) client() string { return filepath.Join(s.dir, clientSocket) }
func (s sockets) peer() string   { return filepath.Join(s.dir, peerSocket) }

func (s sockets) paths() []string { return []string{s.client(), s.peer()} }

// openSockets makes runDir and decides where the sockets go. Sockets of a
// process that was killed are removed. The caller guarantees that no other
// process uses runDir.
func openSockets(runDir string) (sockets, error) {
	if err := os.MkdirAll(runDir, 0o700); err != nil {
		return sockets{}, fault.WithHint(fmt.Errorf("making the directory of etcd's sockets: %w", err),
			"Make %s writable for this user, or choose another directory.", runDir)
	}
	if err := removeStale(runDir); err != nil {
		return sockets{}, err
	}
	if s := (sockets{dir: runDir}); len(s.client()) <= maxSocketPath() {
		return s, nil
	}
	return openShort(runDir)
}

// openShort makes a private directory whose name is short enough.
func openShort(runDir string) (sockets, error) {
	var tried []error
	for _, base := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if base == "" {
			continue
		}
		dir, err := os.MkdirTemp(base, shortPrefix)
		if err != nil {
			tried = append(tried, err)
			continue
		}
		s := sockets{dir: dir, link: filepath.Join(runDir, socketsLink)}
		if n := len(s.client()); n > maxSocketPath() {
			tried = append(tried, fmt.Errorf("%s: %d bytes", s.client(), n), os.Remove(dir))
			continue
		}
		if err := os.Symlink(dir, s.link); err != nil {
			return sockets{}, errors.Join(fmt.Errorf("linking the directory of etcd's sockets: %w", err), os.Remove(dir))
		}
		return s, nil
	}
	return sockets{}, fault.WithHint(
		fmt.Errorf("finding a path of at most %d bytes for etcd's socket: %w", maxSocketPath(), errors.Join(tried...)),
		"Choose a shorter data directory, or set XDG_RUNTIME_DIR to a short private one.")
}

// restrict lets nobody but the owner connect. The directory is 0700 already;
// this holds if it is opened up by hand.
func (s sockets) restrict() error {
	for _, p := range s.paths() {
		if err := os.Chmod(p, 0o600); err != nil {
			return fmt.Errorf("restricting etcd's socket: %w", err)
		}
	}
	return nil
}

// close removes what is left of the sockets, and the short directory.
func (s sockets) close() error {
	if s.dir == "" {
		return nil
	}
	var errs []error
	for _, p := range s.paths() {
		errs = append(errs, removeSocket(p))
	}
	if s.link != "" {
		errs = append(errs, remove(s.dir), remove(s.link))
	}
	return errors.Join(errs...)
}

// removeStale removes the sockets of an earlier process from runDir, and from
// the short directory that runDir links to.
func removeStale(runDir string) error {
	old := sockets{dir: runDir}
	for _, p := range old.paths() {
		if err := removeSocket(p); err != nil {
			return err
		}
	}
	link := filepath.Join(runDir, socketsLink)
	target, err := os.Readlink(link)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.WithHint(fmt.Errorf("reading the link to etcd's sockets: %w", err), "Move %s away: it is not kapi's.", link)
	}
	// Nothing but a short directory of ours is emptied, whatever the link says.
	if strings.HasPrefix(filepath.Base(target), shortPrefix) {
		old = sockets{dir: target, link: link}
		if err := old.close(); err != nil {
			return fmt.Errorf("removing the sockets of an earlier process: %w", err)
		}
		return nil
	}
	return remove(link)
}

// removeSocket removes the socket p. Anything else by that name is not kapi's
// and stays.
func removeSocket(p string) error {
	fi, err := os.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for an old socket: %w", err)
	}
	if fi.Mode().Type() != fs.ModeSocket {
		return fault.WithHint(fmt.Errorf("making etcd's socket %s: a file of that name exists and is not a socket", p),
			"Move it away.")
	}
	return remove(p)
}

func remove(p string) error {
	if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
