//go:build unix && !linux

package tui

import "golang.org/x/sys/unix"

// redirect makes one file descriptor another name of an open file.
func redirect(from, to int) error { return unix.Dup2(from, to) }
