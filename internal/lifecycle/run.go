package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Options say what to run and whom to tell.
type Options struct {
	// Components in the order of their start. They are stopped in reverse.
	Components []Component
	// Logger gets what a person follows. Nil: nothing is logged.
	Logger *slog.Logger
	// Signals brings what the user sends: the first stops the process, the
	// second ends it at once. Nil: the real SIGINT, SIGTERM, and SIGHUP unless
	// it is ignored (nohup).
	Signals <-chan os.Signal
	// Ready is called once, when all components are ready, and before anybody
	// else is told. An error stops the process. It must be quick: signals wait
	// for it. Nil: nothing.
	Ready func(ctx context.Context) error
	// Status describes the running process in a line for the service manager
	// ("serving on https://…"). It is asked when all components are ready.
	Status func() string
	// StopTimeout is the time for all stops together. Zero: DefaultStopTimeout.
	// A component that comes to its turn later still gets a second.
	StopTimeout time.Duration
	// Observe is told each step of each component, one at a time. It must not
	// block. Nil: nobody.
	Observe func(Step)
	// Exit ends the process on the second signal, with code 1. Should it
	// return, Run does so too, and waits for nothing. Nil: os.Exit.
	Exit func(code int)
	// PIDFile is written before the first start and removed after the last
	// stop. One of another living process is refused. Empty: none.
	PIDFile string
	// ReadyFile is written, whole at once, when all components are ready, and
	// removed before the first stop. It holds the pid. Empty: none.
	ReadyFile string
	// Systemd tells the service manager of NOTIFY_SOCKET how far the process
	// is, and keeps its watchdog (WATCHDOG_USEC) quiet while Run's loop turns.
	Systemd bool
}

var (
	// errInterrupted is the reason of a stop that somebody wanted.
	errInterrupted = errors.New("interrupted")
	// errKilled is the error of Run where Exit has returned.
	errKilled = errors.New("ended by a second signal")
)

// Run starts the components, waits for a signal, for the end of ctx or for a
// failure, and stops them. It returns nil after a clean stop that was asked
// for. Otherwise the error is a *StartError, a *FailedError, a *StopError, or
// several of them joined, the reason first. The end of ctx does not reach the
// components as such: they are stopped in order.
func Run(ctx context.Context, opts Options) error {
	parts, err := newParts(opts.Components)
	if err != nil {
		return err
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.StopTimeout <= 0 {
		opts.StopTimeout = DefaultStopTimeout
	}
	if opts.Exit == nil {
		opts.Exit = os.Exit
	}
	if opts.Observe == nil {
		opts.Observe = func(Step) {}
	}
	if opts.Signals == nil {
		signals, restore := notifySignals()
		defer restore()
		opts.Signals = signals
	}
	if err := claimPIDFile(opts.PIDFile); err != nil {
		return err
	}
	defer release(opts.PIDFile)
	if err := prepareReadyFile(opts.ReadyFile); err != nil {
		return err
	}
	r := newRunner(ctx, opts, parts)
	defer r.close()
	return r.run()
}

// notifySignals subscribes to the signals that stop a process. Two places are
// enough: more than two signals say no more than two.
func notifySignals() (signals <-chan os.Signal, restore func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(c, syscall.SIGHUP)
	}
	return c, func() { signal.Stop(c) }
}

// runner is one Run.
type runner struct {
	opts  Options
	parts []*part
	log   *slog.Logger
	sd    *notifier

	base     context.Context // the values of Run's ctx, without its end
	done     <-chan struct{} // the end of Run's ctx; nil when it has been seen
	signals  <-chan os.Signal
	results  chan result  // of Start and Stop; has room for all that can come
	failures chan failure // of running components
	halt     chan struct{}
	watchers sync.WaitGroup

	stopping bool // a stop has begun: failures and the end of ctx are no news
	signaled bool // one signal has come
	killed   bool // two have, and Exit has returned
}

// result is the outcome of a Start or a Stop.
type result struct {
	part *part
	err  error
}

type failure struct {
	part *part
	err  error
}

func newRunner(ctx context.Context, opts Options, parts []*part) *runner {
	return &runner{
		opts: opts, parts: parts, log: opts.Logger, sd: newNotifier(opts.Systemd, opts.Logger),
		base: context.WithoutCancel(ctx), done: ctx.Done(), signals: opts.Signals,
		results:  make(chan result, 2*len(parts)),
		failures: make(chan failure),
		halt:     make(chan struct{}),
	}
}

func (r *runner) run() error {
	reason := r.start()
	if reason == nil {
		reason = r.announce()
	}
	if reason == nil {
		reason = r.serve()
	}
	return r.stop(reason)
}

// announce tells the world that everything is ready.
func (r *runner) announce() error {
	if r.opts.Ready != nil {
		var err error
		guard(func() error { return r.opts.Ready(r.base) }, func(e error) { err = e })
		if err != nil {
			return err
		}
	}
	if r.opts.ReadyFile != "" {
		if err := writeFile(kindReady, r.opts.ReadyFile); err != nil {
			return err
		}
	}
	status := ""
	if r.opts.Status != nil {
		status = r.opts.Status()
	}
	r.sd.ready(status)
	return nil
}

// serve waits for the reason to stop.
func (r *runner) serve() error {
	for {
		switch ev := r.next(nil).(type) {
		case interrupt:
			return errInterrupted
		case failure:
			return r.failed(ev)
		}
	}
}

// failed notes that a running component has failed.
func (r *runner) failed(f failure) error {
	f.part.step.Err = f.err
	r.observe(f.part, f.part.step.State)
	return &FailedError{f.part.Name, f.err}
}

func (r *runner) observe(p *part, s State) {
	p.step.State = s
	r.opts.Observe(p.step)
}

// close ends what Run has begun: only goroutines that have overrun their
// deadline are left.
func (r *runner) close() {
	for _, p := range r.parts {
		if p.cancel != nil {
			p.cancel()
		}
	}
	r.watchers.Wait()
	r.sd.close()
}
