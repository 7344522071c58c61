package robust

import "syscall"

// childAttributes let no server outlive a test binary that is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
