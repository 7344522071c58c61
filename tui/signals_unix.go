//go:build unix

package tui

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/internal/fault"
)

// signalWatch sees to it that the terminal is in order before the process ends or
// stops.
type signalWatch struct {
	program *tea.Program
	// crashed gets what SIGQUIT asks for.
	crashed func(what string, value any, stack []byte)
	signals chan os.Signal
	done    chan struct{}
	group   sync.WaitGroup
	got     os.Signal
	// stopping lets one stop happen at a time.
	stopping sync.Mutex
}

func watchSignals(program *tea.Program, crashed func(string, any, []byte)) *signalWatch {
	w := &signalWatch{program: program, crashed: crashed, signals: make(chan os.Signal, 4), done: make(chan struct{})}
	signal.Notify(w.signals, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP)
	w.group.Go(w.run)
	return w
}

func (w *signalWatch) run() {
	for {
		select {
		case <-w.done:
			return
		case got := <-w.signals:
			switch got {
			case syscall.SIGTSTP:
				w.program.Send(w.suspend())
				continue
			case syscall.SIGQUIT:
				w.crashed("SIGQUIT", "all goroutines", allStacks())
			}
			w.got = got
			w.program.Send(quitMsg{})
		}
	}
}

// mostStacks is how much of them is kept.
const mostStacks = 4 << 20

func allStacks() []byte {
	stacks := make([]byte, mostStacks)
	return stacks[:runtime.Stack(stacks, true)]
}

// suspend gives the terminal back, stops the process and its children as ctrl-z
// does, and takes the terminal again when they go on. The signal is SIGSTOP: a Go
// program that has once caught SIGTSTP is not stopped by it any more.
func (w *signalWatch) suspend() tea.Msg {
	w.stopping.Lock()
	defer w.stopping.Unlock()
	if !hasShell() {
		return suspendedMsg{errors.New("there is no shell to go back to")}
	}
	if err := w.program.ReleaseTerminal(); err != nil {
		return suspendedMsg{fmt.Errorf("giving the terminal back: %w", err)}
	}
	// The signal stops the threads one after the other, this one perhaps last: what is
	// waited for is that they go on.
	goOn := make(chan os.Signal, 1)
	signal.Notify(goOn, syscall.SIGCONT)
	defer signal.Stop(goOn)
	err := syscall.Kill(0, syscall.SIGSTOP)
	if err == nil {
		<-goOn
	}
	if restored := w.program.RestoreTerminal(); err == nil {
		err = restored
	}
	return suspendedMsg{err}
}

// hasShell tells whether somebody is there who can let the process go on: a parent
// in the same session, and in another process group.
func hasShell() bool {
	parent := os.Getppid()
	session, err := getsid(parent)
	if err != nil {
		return false
	}
	own, err := getsid(0)
	if err != nil || own != session {
		return false
	}
	group, err := syscall.Getpgid(parent)
	return err == nil && group != syscall.Getpgrp()
}

// stop ends watching, and returns the signal that ended the run; nil if none did.
func (w *signalWatch) stop() os.Signal {
	signal.Stop(w.signals)
	close(w.done)
	w.group.Wait()
	return w.got
}

// signalError is a silent error with the exit code that shells give a signal.
func signalError(got os.Signal) error {
	number, ok := got.(syscall.Signal)
	if !ok {
		return nil
	}
	return fault.Silent(fault.WithCode(fmt.Errorf("ended by %s", number), 128+int(number)))
}
