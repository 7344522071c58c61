package robust

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// output keeps what a process prints, while it prints.
type output struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	changed chan struct{} // closed and replaced by each Write
}

func newOutput() *output { return &output{changed: make(chan struct{})} }

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.changed)
	o.changed = make(chan struct{})
	return o.buf.Write(p)
}

func (o *output) String() string {
	text, _ := o.now()
	return text
}

// now returns what was printed, and a channel that is closed when there is more.
func (o *output) now() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String(), o.changed
}

// await returns when text has been printed; false: ctx or the process ended first.
func (o *output) await(ctx context.Context, text string, ended <-chan struct{}) bool {
	for {
		printed, changed := o.now()
		if strings.Contains(printed, text) {
			return true
		}
		select {
		case <-changed:
		case <-ended:
			return strings.Contains(o.String(), text)
		case <-ctx.Done():
			return false
		}
	}
}

// trace is what only a program that has lost control prints.
var trace = regexp.MustCompile(`(?m)goroutine \d+ \[|^\s*panic: |^fatal error: |runtime error:|^\s+\S+\.go:\d+ \+0x`)

// mustBeCalm fails the test if there is a stack trace in what was printed.
func mustBeCalm(t testing.TB, printed string) {
	t.Helper()
	if found := trace.FindString(printed); found != "" {
		t.Errorf("kapi printed a stack trace (%q):\n%s", found, printed)
	}
}
