package tui

import "golang.org/x/sys/unix"

// redirect makes one file descriptor another name of an open file. Not every
// architecture of Linux has dup2.
func redirect(from, to int) error { return unix.Dup3(from, to, 0) }
