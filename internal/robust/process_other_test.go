//go:build !linux

package robust

import "syscall"

func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
