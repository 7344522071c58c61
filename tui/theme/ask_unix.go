//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package theme

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// ask asks a terminal for its background until ctx ends. Its descriptors are used
// as they are: Fd would make the files blocking for all who use them.
func ask(ctx context.Context, in, out *os.File) (d Detected) {
	if in == nil || out == nil {
		return Detected{}
	}
	rawIn, err := in.SyscallConn()
	if err != nil {
		return Detected{}
	}
	rawOut, err := out.SyscallConn()
	if err != nil {
		return Detected{}
	}
	// The errors say that a file is closed: then nothing has been asked.
	_ = rawIn.Control(func(in uintptr) {
		_ = rawOut.Control(func(out uintptr) { d = askTerminal(ctx, int(in), int(out)) })
	})
	return d
}

func askTerminal(ctx context.Context, in, out int) Detected {
	if !term.IsTerminal(in) || !term.IsTerminal(out) || !foreground(in) {
		return Detected{}
	}
	before, err := term.MakeRaw(in) // an answer is not echoed, and not kept until enter
	if err != nil {
		return Detected{}
	}
	defer func() { _ = term.Restore(in, before) }() // nothing can be done about it
	if !write(ctx, out, question) {
		return Detected{}
	}
	var a answers
	buf := make([]byte, 1024)
	for !a.attributes && wait(ctx, in, false) {
		n, err := unix.Read(in, buf)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		a.read(buf[:n])
	}
	if key(a.rest) {
		a.typed, a.rest = append(a.typed, a.rest...), nil
	}
	return Detected{Background: brightness(a.background), Typed: a.typed, Pending: !a.attributes, rest: a.rest}
}

// foreground tells whether the process may talk to its terminal: one in the
// background would be stopped for it.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // not our controlling terminal stops nobody
}

// write writes all of a text, and tells whether it could: a terminal that has been
// stopped (ctrl-s) takes nothing.
func write(ctx context.Context, fd int, text string) bool {
	for text != "" {
		if !wait(ctx, fd, true) {
			return false
		}
		n, err := unix.Write(fd, []byte(text))
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case err != nil:
			return false
		default:
			text = text[n:]
		}
	}
	return true
}

// wait waits until a file can be read or written, and tells whether it can: not if
// ctx has ended. It waits with select, since poll does not know terminals on macOS.
func wait(ctx context.Context, fd int, writing bool) bool {
	const slice = 20 * time.Millisecond // an interrupt is noticed this soon
	for fd < unix.FD_SETSIZE && ctx.Err() == nil {
		var set unix.FdSet
		set.Zero()
		set.Set(fd)
		readable, writable := &set, (*unix.FdSet)(nil)
		if writing {
			readable, writable = nil, &set
		}
		timeout := unix.NsecToTimeval(slice.Nanoseconds())
		n, err := unix.Select(fd+1, readable, writable, nil, &timeout)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return false
		case n > 0:
			return true
		}
	}
	return false
}
