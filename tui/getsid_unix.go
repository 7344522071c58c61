//go:build unix

package tui

import "golang.org/x/sys/unix"

// getsid is the session of a process; 0 is this one.
func getsid(pid int) (int, error) { return unix.Getsid(pid) }
