package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/kapi-dev/kapi/internal/kapitest/parentdeath"
)

const stopTimeout = time.Minute

// process is one of the two servers.
type process struct {
	name   string
	cmd    *exec.Cmd
	output buffer
	done   chan struct{} // closed when the process is gone
	err    error         // valid after done
}

func startProcess(name, binary string, args []string) (*process, error) {
	p := &process{name: name, cmd: exec.CommandContext(context.Background(), binary, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	p.cmd.SysProcAttr = parentdeath.Attributes()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		defer close(p.done)
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

// await returns when the URL is answered 200, or the process has ended.
func (p *process) await(ctx context.Context, client *http.Client, url string) error {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		last := answers(ctx, client, url)
		if last == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended before it was ready: %w\n%s", p.name, p.ended(), p.output.String())
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (last answer: %w)", url, context.Cause(ctx), last)
		case <-poll.C:
		}
	}
}

func (p *process) ended() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// stop asks with SIGTERM and returns when the process is gone. One that was never
// started, or has ended, is no error.
func (p *process) stop() error {
	if p == nil {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping %s: %w", p.name, err)
	}
	deadline := time.NewTimer(stopTimeout)
	defer deadline.Stop()
	select {
	case <-p.done:
		return nil
	case <-deadline.C:
		err := p.cmd.Process.Kill()
		<-p.done
		return errors.Join(fmt.Errorf("%s still ran %s after SIGTERM", p.name, stopTimeout), err)
	}
}

// buffer is written by the process while the test reads it.
type buffer struct {
	mu   sync.Mutex
	data bytes.Buffer
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data.Write(p)
}

// String returns what has been written.
func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data.String()
}
