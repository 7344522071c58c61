//go:build !unix

package tui

import (
	"errors"
	"os"

	tea "github.com/charmbracelet/bubbletea"
)

// signalWatch is empty where there are no such signals.
type signalWatch struct{}

func watchSignals(*tea.Program, func(string, any, []byte)) *signalWatch { return &signalWatch{} }

func (*signalWatch) suspend() tea.Msg {
	return suspendedMsg{errors.New("this system can't suspend a program")}
}

func (*signalWatch) stop() os.Signal { return nil }

func suspend() tea.Msg { return tea.SuspendMsg{} }

func signalError(os.Signal) error { return nil }
