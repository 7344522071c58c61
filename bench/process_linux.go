package main

import "syscall"

// processAttributes also has the kernel kill the servers if the bench itself is
// killed: nothing else would.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
