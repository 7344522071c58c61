//go:build !linux

package parentdeath

import "syscall"

// Attributes have no equivalent here: a test binary that is killed leaves its processes behind.
func Attributes() *syscall.SysProcAttr { return nil }
