package kapitest

import "syscall"

// parentDeath kills the child with the test binary. The kernel ties it to the
// thread that started the child, which the Go runtime may end only when its
// goroutine has locked it; tests don't.
func parentDeath() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
