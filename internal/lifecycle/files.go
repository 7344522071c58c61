package lifecycle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/kapi-dev/kapi/internal/fault"
)

// filePerm is the mode of the pid-file and the ready-file: others may read them.
const filePerm = 0o644

// The files hold our pid. By it we know them again: what holds anything else is
// somebody's file at a mistyped path, and is neither replaced nor removed.
const (
	kindPID   = "pid-file"
	kindReady = "ready-file"
)

// claimPIDFile writes our pid to path. It refuses a file of another living
// process; a stale one is replaced.
func claimPIDFile(path string) error {
	if path == "" {
		return nil
	}
	other, err := readPID(kindPID, path)
	if err != nil {
		return err
	}
	if other != 0 && other != os.Getpid() && alive(other) {
		return fault.WithHint(
			fmt.Errorf("claiming pid-file %s: process %d is running", path, other),
			"stop process %d, or remove the file if that process is another program", other)
	}
	return writeFile(kindPID, path)
}

// prepareReadyFile makes sure that the ready-file can be written later, and is
// not there yet: a path that is wrong shall cost nothing, and a crash may have
// left the file.
func prepareReadyFile(path string) error {
	if path == "" {
		return nil
	}
	if _, err := readPID(kindReady, path); err != nil {
		return err
	}
	probe, err := os.CreateTemp(filepath.Dir(path), tempPattern(path))
	if err != nil {
		return explainWrite(kindReady, path, err)
	}
	err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	if err != nil {
		return explainWrite(kindReady, path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing stale ready-file: %w", err)
	}
	return nil
}

// release removes a file if it is still ours. What can't be removed is stale
// for the next start.
func release(path string) {
	if path == "" {
		return
	}
	if pid, err := readPID("", path); err == nil && pid == os.Getpid() {
		_ = os.Remove(path)
	}
}

// readPID returns the pid in the file; 0 where there is no file or nothing in it.
func readPID(kind, path string) (int, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("reading %s: %w", kind, err)
	}
	s := strings.TrimSpace(string(text))
	if s == "" {
		return 0, nil
	}
	pid, err := strconv.Atoi(s)
	if err != nil || pid <= 0 {
		return 0, fault.Usagef("%s %s holds something else than a pid: name another file, or remove this one", kind, path)
	}
	return pid, nil
}

// alive reports whether there is a process pid. One that we may not signal is.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func pidText() string { return strconv.Itoa(os.Getpid()) + "\n" }

// writeFile puts our pid at path in one step: a reader sees all of it or nothing.
func writeFile(kind, path string) error {
	if err := replaceFile(path, pidText()); err != nil {
		return explainWrite(kind, path, err)
	}
	return nil
}

func explainWrite(kind, path string, err error) error {
	// The system's reason alone: the name in err is that of a temporary file.
	var named *fs.PathError
	var renamed *os.LinkError
	switch {
	case errors.As(err, &named):
		err = named.Err
	case errors.As(err, &renamed):
		err = renamed.Err
	}
	return fault.WithHint(fmt.Errorf("writing %s %s: %w", kind, path, err),
		"the directory of the %s must exist and be writable", kind)
}

// tempPattern names the files in which the content of path is prepared.
func tempPattern(path string) string { return "." + filepath.Base(path) + ".*" }

func replaceFile(path, text string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), tempPattern(path))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(filePerm), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
