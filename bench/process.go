package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// logTail is how many lines of a failed process's output an error shows.
const logTail = 20

// process is a started server. Its output goes to a file, never to a pipe: a
// reader in the bench would cost CPU time that the servers need.
type process struct {
	name    string
	log     string
	started time.Time
	cmd     *exec.Cmd
	done    chan struct{} // closed when the process is gone
	waitErr error         // valid after done
}

// startProcess starts bin in a process group of its own, so that a ^C at the
// terminal reaches only the bench, which then stops its processes in order.
func startProcess(name, bin string, args, env []string, log string) (*process, error) {
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		return nil, fmt.Errorf("making the log directory: %w", err)
	}
	out, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	defer out.Close() // the process has its own copy
	p := &process{name: name, log: log, done: make(chan struct{}), cmd: exec.CommandContext(context.Background(), bin, args...)}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.Dir = filepath.Dir(log)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = processAttributes()
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.waitErr = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// exited returns an error with the end of the log if the process is gone, nil if it runs.
func (p *process) exited() error {
	select {
	case <-p.done:
		reason := p.waitErr
		if reason == nil {
			reason = errors.New("exit status 0")
		}
		return p.failure("%s ended by itself: %w", p.name, reason)
	default:
		return nil
	}
}

// failure formats an error and adds the end of the process's log.
func (p *process) failure(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	tail, readErr := lastLines(p.log, logTail)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	if tail == "" {
		return fmt.Errorf("%w (%s printed nothing)", err, p.name)
	}
	return fmt.Errorf("%w\nthe last lines of %s:\n%s", err, p.name, tail)
}

// stop asks with SIGTERM and returns when the process is gone. At the deadline
// of ctx it is killed, and that is an error.
func (p *process) stop(ctx context.Context) error {
	if err := p.exited(); err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping %s: %w", p.name, err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.kill()
		return p.failure("%s did not stop after SIGTERM: %w", p.name, context.Cause(ctx))
	}
}

// kill ends the process, whatever its state, and waits for that.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // already gone is as good
	<-p.done
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// lastLines returns the last n lines of a file, without the final newline.
func lastLines(file string, n int) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading a log: %w", err)
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n"), nil
}
