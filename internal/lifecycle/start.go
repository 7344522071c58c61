package lifecycle

import (
	"context"
	"errors"
	"time"
)

// start starts all components, each as soon as those that it depends on are
// ready. It returns the reason for which it gave up, after all starts that were
// running have ended or had their time.
func (r *runner) start() error {
	r.launch()
	for r.count(StateStarting) > 0 {
		var reason error
		switch ev := r.next(nil).(type) {
		case interrupt:
			reason = errInterrupted
		case failure:
			reason = r.failed(ev)
		case result:
			if reason = r.started(ev); reason == nil {
				r.launch()
			}
		}
		if reason != nil {
			r.giveUp()
			return reason
		}
	}
	return nil
}

func (r *runner) count(s State) int {
	n := 0
	for _, p := range r.parts {
		if p.step.State == s {
			n++
		}
	}
	return n
}

// launch starts what can be started now, in the order of the list.
func (r *runner) launch() {
	for _, p := range r.parts {
		if !startable(r.parts, p) {
			continue
		}
		var ctx context.Context
		ctx, p.cancel = context.WithCancel(r.base)
		p.step.StartedAt = time.Now()
		r.observe(p, StateStarting)
		r.sd.status("starting " + p.Name)
		r.log.Debug("starting", "name", p.Name)
		r.call(ctx, p, p.Start)
	}
}

// call runs one of p's functions; its result comes through next.
func (r *runner) call(ctx context.Context, p *part, f func(context.Context) error) {
	if f == nil {
		r.results <- result{p, nil}
		return
	}
	go guard(func() error { return f(ctx) }, func(err error) { r.results <- result{p, err} })
}

// started takes the result of a Start.
func (r *runner) started(res result) error {
	p := res.part
	if res.err != nil {
		r.logPanic(p, res.err)
		p.step.Err = res.err
		r.observe(p, StateFailed)
		return &StartError{p.Name, res.err}
	}
	p.step.ReadyAt = time.Now()
	r.observe(p, StateReady)
	r.log.Debug("ready", "name", p.Name, "took", p.step.ReadyAt.Sub(p.step.StartedAt))
	if p.Failed != nil {
		r.watch(p, p.Failed())
	}
	return nil
}

// watch brings p's failure to the loop. It ends when the stop begins.
func (r *runner) watch(p *part, failed <-chan error) {
	r.watchers.Go(func() {
		select {
		case <-r.halt:
		case err, ok := <-failed:
			if !ok {
				return
			}
			if err == nil {
				err = errNilFail
			}
			select {
			case <-r.halt:
			case r.failures <- failure{p, err}:
			}
		}
	})
}

// giveUp cancels the starts that are running and waits for them. One that
// succeeds nevertheless is ready, and is stopped like the others; one that
// doesn't return in time is left behind.
func (r *runner) giveUp() {
	r.stopping = true
	for _, p := range r.parts {
		if p.step.State == StateStarting {
			p.cancel()
		}
	}
	begun := time.Now()
	for r.count(StateStarting) > 0 {
		wait := r.nextDeadline(begun)
		timer := time.NewTimer(time.Until(wait))
		switch ev := r.next(timer.C).(type) {
		case result:
			r.endedEarly(ev)
		case timeout:
			r.abandon(begun)
		case killed:
			return
		}
		timer.Stop()
	}
}

// nextDeadline returns when the first of the starting components has had its time.
func (r *runner) nextDeadline(begun time.Time) time.Time {
	first := begun.Add(r.opts.StopTimeout)
	for _, p := range r.parts {
		if p.step.State == StateStarting {
			if end := begun.Add(p.StopTimeout); end.Before(first) {
				first = end
			}
		}
	}
	return first
}

// endedEarly takes the result of a Start that was cancelled.
func (r *runner) endedEarly(res result) {
	p := res.part
	if p.step.State != StateStarting {
		return
	}
	if res.err == nil {
		p.step.ReadyAt = time.Now()
		r.observe(p, StateReady)
		return
	}
	// Whatever it says, it was told to end: the reason is elsewhere.
	r.logPanic(p, res.err)
	r.log.Debug("start given up", "name", p.Name, "err", res.err)
	p.step.StoppedAt = time.Now()
	r.observe(p, StateStopped)
}

// abandon leaves behind those whose time is over.
func (r *runner) abandon(begun time.Time) {
	now := time.Now()
	for _, p := range r.parts {
		if p.step.State != StateStarting {
			continue
		}
		limit := min(p.StopTimeout, r.opts.StopTimeout)
		if now.Sub(begun) < limit {
			continue
		}
		p.step.Err = &StartError{p.Name, &TimeoutError{limit}}
		p.step.StoppedAt = now
		r.log.Warn("start does not end, going on without it", "name", p.Name, "after", limit)
		r.observe(p, StateHung)
	}
}

// logPanic keeps the stack of a panic for those who want it.
func (r *runner) logPanic(p *part, err error) {
	var panicked *PanicError
	if errors.As(err, &panicked) {
		r.log.Debug("panic", "name", p.Name, "panic", panicked.Value, "stack", panicked.Stack)
	}
}
