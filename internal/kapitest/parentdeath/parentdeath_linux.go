package parentdeath

import "syscall"

// Attributes are what makes a process die with the test binary that starts it.
// The kernel ties it to the thread that did so, which the Go runtime ends only
// where a goroutine has locked it; tests don't.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
