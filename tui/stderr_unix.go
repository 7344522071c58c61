//go:build unix

package tui

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// caughtStderr is standard error while it goes elsewhere. Libraries write to the
// file descriptor, so that is what is replaced.
type caughtStderr struct {
	original *os.File
	write    *os.File
	group    sync.WaitGroup
}

// catchStderr hands what is written to standard error to w, until restore. What
// the runtime says when it dies still goes to where it went before.
func catchStderr(w io.Writer) (*caughtStderr, error) {
	saved, err := unix.Dup(unix.Stderr)
	if err != nil {
		return nil, fmt.Errorf("keeping standard error: %w", err)
	}
	unix.CloseOnExec(saved)
	c := &caughtStderr{original: os.NewFile(uintptr(saved), "stderr")}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("catching standard error: %w", err)
	}
	if err := redirect(int(write.Fd()), unix.Stderr); err != nil {
		return nil, fmt.Errorf("catching standard error: %w", err)
	}
	c.write = write
	// What the runtime says when it dies may be more than a pipe holds, and nobody reads
	// then: better lost than a process that can't end.
	_ = unix.SetNonblock(unix.Stderr, true)
	_ = debug.SetCrashOutput(c.original, debug.CrashOptions{}) // without it such words are in the log only
	c.group.Go(func() {
		_, _ = io.Copy(w, read) // it ends when restore closes the other end
		_ = read.Close()
	})
	return c, nil
}

// restore puts it back and waits until everything that was caught is handed over.
func (c *caughtStderr) restore() {
	_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	_ = redirect(int(c.original.Fd()), unix.Stderr)
	_ = c.write.Close()
	c.group.Wait()
	_ = c.original.Close()
}
