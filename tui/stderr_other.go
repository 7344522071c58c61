//go:build !unix

package tui

import "io"

// caughtStderr catches nothing where descriptors can't be replaced.
type caughtStderr struct{}

func catchStderr(io.Writer) (*caughtStderr, error) { return &caughtStderr{}, nil }

func (*caughtStderr) restore() {}
