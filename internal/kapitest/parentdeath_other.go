//go:build !linux

package kapitest

import "syscall"

// ParentDeath has no equivalent here: a test binary that is killed leaves its processes behind.
func ParentDeath() *syscall.SysProcAttr { return nil }
