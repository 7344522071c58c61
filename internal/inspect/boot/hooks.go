package boot

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// HookObserver is told how the post-start hooks go. Its methods may be called
// from any goroutine; [Boots] implements it.
type HookObserver interface {
	// HooksStarted is called once, when the server has begun to run its hooks.
	HooksStarted(at time.Time)
	// HooksDone is called once, when all hooks have ended well.
	HooksDone(at time.Time)
	// HookFailed is called for each hook that fails. The process ends as soon as it returns.
	HookFailed(HookError)
}

// HookError is the end of a hook that has gone wrong.
type HookError struct {
	Layer string // the layer that runs the hook; empty if it is not known
	Hook  string // its name
	At    time.Time
	After time.Duration // how long it had run; 0 if it is not known
	Err   error
}

// Error says it in one sentence: which hook, of which layer, after how long, why.
func (f HookError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "post-start hook %q", f.Hook)
	if f.Layer != "" {
		fmt.Fprintf(&b, " of layer %s", f.Layer)
	}
	b.WriteString(" failed")
	if f.After > 0 {
		fmt.Fprintf(&b, " after %v", f.After.Round(time.Millisecond))
	}
	fmt.Fprintf(&b, ": %v", f.Err)
	return b.String()
}

// Unwrap returns the hook's error.
func (f HookError) Unwrap() error { return f.Err }

// HooksConfig is what [NewHooks] needs.
type HooksConfig struct {
	// ServerID is the identity of the server in the objects; it is asked when
	// they are made.
	ServerID func() string
	// Observer is told how it goes; nil: nobody.
	Observer HookObserver
	// Changed is called when a hook has come to another state; nil: nobody.
	Changed func()
	// StackAfter is how long a hook runs before its stack is shown. Zero: 5 s.
	StackAfter time.Duration
}

// Hooks watches the post-start hooks of a server chain. Its methods are safe for
// concurrent use.
type Hooks struct {
	cfg    HooksConfig
	stacks stackCache

	mu    sync.Mutex
	hooks map[string]*hook // by name: the server refuses a second of the same
	// order has the hooks of the finished chain, outermost layer first.
	order []*hook
	// started is when the server ran its hooks: the moment at which all of them began.
	started time.Time
	done    bool
	failure *HookError // the first
}

type hook struct {
	layer, name  string
	registeredAt string // "function file:line"
	function     string // of the hook itself, as a stack names it
	exact        bool   // it goes through Func; otherwise check is polled
	check        healthz.HealthChecker

	known             time.Time // when it was added here
	state             inspect.RunState
	started, finished time.Time
	err               string
}

// ended says that nothing more will happen to the hook.
func (k *hook) ended() bool { return k.state == inspect.RunDone || k.state == inspect.RunFailed }

// NewHooks returns a Hooks that knows none yet.
func NewHooks(cfg HooksConfig) *Hooks {
	if cfg.StackAfter <= 0 {
		cfg.StackAfter = defaultStackAfter
	}
	return &Hooks{cfg: cfg, hooks: map[string]*hook{}}
}

const defaultStackAfter = 5 * time.Second

// Func returns run for AddPostStartHook, observed: exact times, the error
// reported before upstream gets it, and a pprof label for its goroutines. Layer
// and name are those under which it is going to be added.
func (h *Hooks) Func(layer, name string, run genericapiserver.PostStartHookFunc) genericapiserver.PostStartHookFunc {
	k := &hook{
		layer: layer, name: name, exact: true, known: time.Now(), state: inspect.RunPending,
		registeredAt: callerOf(1), function: functionOf(run),
	}
	h.mu.Lock()
	h.hooks[name] = k
	h.mu.Unlock()
	return func(hookContext genericapiserver.PostStartHookContext) error {
		h.begin(k, time.Now())
		return h.runHook(k, run, hookContext)
	}
}

// errNoResult is the error of a hook whose goroutine has ended itself.
var errNoResult = errors.New("its goroutine ended without a result")

// runHook is the frame by which the stack of an exact hook is found.
func (h *Hooks) runHook(k *hook, run genericapiserver.PostStartHookFunc, hookContext genericapiserver.PostStartHookContext) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		value := recover()
		if value == nil {
			h.end(k, errNoResult)
			return
		}
		h.end(k, panicError(value))
		panic(value) // what becomes of it is upstream's to decide
	}()
	pprof.Do(hookContext.Context, pprof.Labels(stackLabel, k.name), func(ctx context.Context) {
		hookContext.Context = ctx
		err = run(hookContext)
	})
	returned = true
	h.end(k, err)
	return err
}

func panicError(value any) error {
	if err, ok := value.(error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic: %v", value)
}

// begin notes that k runs. The server starts all hooks at once, so the first
// says when the others began.
func (h *Hooks) begin(k *hook, at time.Time) {
	h.mu.Lock()
	k.state, k.started = inspect.RunRunning, at
	h.mu.Unlock()
	h.noteStarted(at)
	h.changed()
}

// noteStarted takes the first sign that the server runs its hooks.
func (h *Hooks) noteStarted(at time.Time) {
	h.mu.Lock()
	first := h.started.IsZero()
	if first {
		h.started = at
		for _, k := range h.order {
			if !k.exact && k.state == inspect.RunPending {
				k.state, k.started = inspect.RunRunning, at
			}
		}
	}
	h.mu.Unlock()
	if first && h.cfg.Observer != nil {
		h.cfg.Observer.HooksStarted(at)
	}
}

// end notes how k has ended, the first time that it is told.
func (h *Hooks) end(k *hook, err error) {
	now := time.Now()
	h.mu.Lock()
	if k.ended() {
		h.mu.Unlock()
		return
	}
	k.state, k.finished = inspect.RunDone, now
	if k.started.IsZero() {
		k.started = h.started
	}
	var failure *HookError
	if err != nil {
		k.state, k.err = inspect.RunFailed, err.Error()
		failure = &HookError{Layer: k.layer, Hook: k.name, At: now, Err: err}
		if !k.started.IsZero() {
			failure.After = now.Sub(k.started)
		}
	}
	h.mu.Unlock()
	if failure != nil {
		h.fail(*failure)
		return
	}
	h.changed()
	h.checkDone()
}

// fail reports a failure, and keeps the first for the last words.
func (h *Hooks) fail(f HookError) {
	h.mu.Lock()
	if h.failure == nil {
		h.failure = &f
	}
	h.mu.Unlock()
	if h.cfg.Observer != nil {
		h.cfg.Observer.HookFailed(f)
	}
	h.changed()
}

// checkDone tells the observer, once, when all hooks of the chain have ended well.
func (h *Hooks) checkDone() {
	h.mu.Lock()
	last := time.Time{}
	done := !h.done && len(h.order) > 0
	for _, k := range h.order {
		done = done && k.state == inspect.RunDone
		if k.finished.After(last) {
			last = k.finished
		}
	}
	h.done = h.done || done
	h.mu.Unlock()
	if done && h.cfg.Observer != nil {
		h.cfg.Observer.HooksDone(last)
	}
}

func (h *Hooks) changed() {
	if h.cfg.Changed != nil {
		h.cfg.Changed()
	}
}

// LastWords says which hook failed first and why; empty if none has.
func (h *Hooks) LastWords() string {
	if err := h.firstFailure(); err != nil {
		return err.Error()
	}
	return ""
}

// Fatal takes the message with which klog ends the process. If it is that of a
// hook that has failed (upstream's runPostStartHook in
// k8s.io/apiserver/pkg/server/hooks.go), the failure is reported, and returned in
// our words; otherwise Fatal returns "". It does not log: klog's lock is held.
func (h *Hooks) Fatal(message string) string {
	name, reason, ok := parseFatal(message)
	if !ok {
		return ""
	}
	h.mu.Lock()
	k := h.hooks[name]
	h.mu.Unlock()
	if k == nil {
		h.fail(HookError{Hook: name, At: time.Now(), Err: errors.New(reason)})
	} else {
		h.end(k, errors.New(reason))
	}
	return h.LastWords()
}

func parseFatal(message string) (name, reason string, ok bool) {
	rest, ok := strings.CutPrefix(message, "PostStartHook ")
	if !ok {
		return "", "", false
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return "", "", false
	}
	if name, err = strconv.Unquote(quoted); err != nil {
		return "", "", false
	}
	reason, ok = strings.CutPrefix(rest[len(quoted):], " failed: ")
	return name, strings.TrimSpace(reason), ok
}
