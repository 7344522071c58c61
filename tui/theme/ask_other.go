//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package theme

import (
	"context"
	"os"
)

// ask asks nobody: how a terminal is read for a moment is not known here.
func ask(context.Context, *os.File, *os.File) Detected { return Detected{} }
