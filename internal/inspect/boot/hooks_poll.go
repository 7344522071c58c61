package boot

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// How often hooks that can only be polled are looked at: one that takes longer
// than a start should is not looked at as often as the others.
const (
	pollEvery     = 2 * time.Millisecond
	pollSlowEvery = 100 * time.Millisecond
	pollSlowAfter = 10 * time.Second
)

// Poll looks after the hooks that don't tell how they go, until all of these have
// ended or ctx is done. It returns the first failure, or why it has not seen the end.
// It is called after Attach.
func (h *Hooks) Poll(ctx context.Context) error {
	begun := time.Now()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for slow := false; ; {
		if open := h.look(); open == 0 {
			h.checkDone()
			return h.firstFailure()
		}
		if !slow && time.Since(begun) > pollSlowAfter {
			slow = true
			ticker.Reset(pollSlowEvery)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("polling post-start hooks: %w", context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

func (h *Hooks) firstFailure() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failure == nil {
		return nil
	}
	return *h.failure
}

// look asks the health checks of hooks that have not ended, and returns how many
// of those there are still. The checks look at a channel, nothing else.
func (h *Hooks) look() int {
	open := 0
	request := noRequest()
	for _, k := range h.polled() {
		if k.check.Check(request) != nil {
			open++
			continue
		}
		h.noteStarted(time.Now()) // if that was not known, it was a poll ago at most
		h.end(k, nil)
	}
	return open
}

func (h *Hooks) polled() []*hook {
	h.mu.Lock()
	defer h.mu.Unlock()
	var polled []*hook
	for _, k := range h.order {
		if !k.exact && k.check != nil && !k.ended() {
			polled = append(polled, k)
		}
	}
	return polled
}

// noRequest is for checks that want a request and don't look at it.
func noRequest() *http.Request {
	return &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/readyz"}, Header: http.Header{}}
}

// runnerFrame is upstream's function that runs one hook, and its closure.
const runnerFrame = "k8s.io/apiserver/pkg/server.runPostStartHook"

// PanicHandler notes a hook that panics; it is one for
// k8s.io/apimachinery/pkg/util/runtime.PanicHandlers, which upstream calls in the
// hook's goroutine before the process ends. It tells the hook by the functions on
// the stack, and does nothing when the panic is somebody else's.
func (h *Hooks) PanicHandler(_ context.Context, value any) {
	pcs := make([]uintptr, maxFrames)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	functions := map[string]bool{}
	ours := false
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		functions[frame.Function] = true
		ours = ours || strings.HasPrefix(frame.Function, runnerFrame)
	}
	if !ours {
		return
	}
	suspects := h.running(func(k *hook) bool { return functions[k.function] })
	if len(suspects) == 1 {
		h.end(suspects[0], panicError(value))
		return
	}
	names := make([]string, 0, len(suspects))
	for _, k := range suspects {
		names = append(names, k.name)
	}
	slices.Sort(names)
	h.fail(HookError{Hook: strings.Join(names, " or "), At: time.Now(), Err: panicError(value)})
}

// maxFrames is how deep PanicHandler looks.
const maxFrames = 256

func (h *Hooks) running(match func(*hook) bool) []*hook {
	h.mu.Lock()
	defer h.mu.Unlock()
	var running []*hook
	for _, k := range h.order {
		if k.state != inspect.RunDone && k.state != inspect.RunFailed && match(k) {
			running = append(running, k)
		}
	}
	return running
}
