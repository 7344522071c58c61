package tui

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/sys/unix"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/settings"
	"github.com/kapi-dev/kapi/tui/theme"
)

// child is the program of the tests of terminals. It returns the exit code.
func child(mode string) int {
	if mode == "shell" {
		return shell()
	}
	if err := drawn(mode); err != nil {
		if err.Error() != "" {
			fmt.Fprintln(os.Stderr, "error:", err, fault.Hint(err))
		}
		return fault.Code(err)
	}
	return 0
}

// drawn shows a recording. In some modes x makes something fail.
func drawn(mode string) error {
	_ = os.Setenv("TERM", "xterm-256color")
	replay, err := data.OpenReplay(kapiFile)
	if err != nil {
		return err
	}
	defer replay.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	options := Options{
		In: os.Stdin, Out: os.Stdout, Getenv: os.Getenv, Replay: replay, ReplayName: "kapi.json", ReadOnly: true, Mouse: true, Theme: "dark",
		Refresh: 200 * time.Millisecond, Start: page.At("dashboard", ""), Dirs: settings.Dirs{State: os.Getenv("XDG_STATE_HOME")}, Command: "kapi",
	}
	fails := map[string]func(*app) tea.Cmd{
		"page":    func(a *app) tea.Cmd { return a.enterPage(&broken{in: "view"}) },
		"context": func(*app) tea.Cmd { cancel(); return nil },
		"update":  func(*app) tea.Cmd { panic("boom") },
		"view":    func(a *app) tea.Cmd { a.panel = &failing{}; return nil },
	}[mode]
	if fails == nil {
		_, err = Run(ctx, options)
		return err
	}
	keys, err := newKeymap(nil)
	if err != nil {
		return err
	}
	keys.byKey["x"] = &action{id: "x", run: fails}
	themes := func(name string) (*theme.Theme, error) {
		return theme.Load(theme.Options{Name: name, Profile: theme.ANSI256, Background: theme.Dark})
	}
	first, err := themes("dark")
	if err != nil {
		return err
	}
	_, err = runProgram(ctx, options, newApp(options, keys, themes, first), theme.Detected{})
	return err
}

// shell runs the program in the foreground of its terminal, as a shell with job
// control does. It says what happens on descriptor 4, and takes orders on 3.
func shell() int {
	signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN)
	orders, reports := bufio.NewScanner(os.NewFile(3, "orders")), os.NewFile(4, "reports")
	program, err := os.Executable()
	if err != nil {
		return 2
	}
	command := exec.Command(program)
	command.Env = append(os.Environ(), childVariable+"=run")
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: 0}
	if err := command.Start(); err != nil {
		fmt.Fprintln(reports, err)
		return 2
	}
	pid := command.Process.Pid
	fmt.Fprintln(reports, pid)
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil {
			if err == syscall.EINTR {
				continue
			}
			fmt.Fprintln(reports, err)
			return 2
		}
		foreground(syscall.Getpgrp())
		if !status.Stopped() {
			fmt.Fprintln(reports, "ended", status.ExitStatus())
			return 0
		}
		fmt.Fprintln(reports, "stopped")
		if !orders.Scan() {
			return 2
		}
		foreground(pid)
		_ = syscall.Kill(-pid, syscall.SIGCONT)
	}
}

func foreground(group int) { _ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, group) }
