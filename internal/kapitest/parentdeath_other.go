//go:build !linux

package kapitest

import "syscall"

// parentDeath has no equivalent here.
func parentDeath() *syscall.SysProcAttr { return nil }
