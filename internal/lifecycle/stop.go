package lifecycle

import (
	"context"
	"errors"
	"time"
)

// stop stops what is ready, in reverse order, and returns the error of Run.
func (r *runner) stop(reason error) error {
	r.stopping = true
	close(r.halt)
	release(r.opts.ReadyFile)
	r.sd.stopping()
	if errors.Is(reason, errInterrupted) {
		r.log.Info("stopping; a second signal ends at once")
	} else {
		r.log.Info("stopping", "because", reason)
	}
	begun := time.Now()
	errs := r.reasons(reason)
	for i := len(r.parts) - 1; i >= 0; i-- {
		if p := r.parts[i]; p.step.State == StateReady && !r.killed {
			if err := r.stopPart(p, begun); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if r.killed {
		return errKilled
	}
	r.log.Debug("all stopped", "took", time.Since(begun))
	return join(errs)
}

// reasons returns what went wrong up to the stop.
func (r *runner) reasons(reason error) []error {
	var errs []error
	if !errors.Is(reason, errInterrupted) {
		errs = append(errs, reason)
	}
	for _, p := range r.parts {
		if p.step.State == StateHung {
			errs = append(errs, p.step.Err)
		}
	}
	return errs
}

// stopPart stops one component and waits for it until its deadline.
func (r *runner) stopPart(p *part, begun time.Time) error {
	limit := min(p.StopTimeout, max(time.Until(begun.Add(r.opts.StopTimeout)), lastChance))
	ctx, cancel := context.WithTimeout(r.base, limit)
	defer cancel()
	p.step.StoppingAt = time.Now()
	r.observe(p, StateStopping)
	r.log.Debug("stopping", "name", p.Name, "limit", limit)
	r.call(ctx, p, p.Stop)

	// The timer ends with ctx or a little later, so that a Stop that heeds its
	// ctx is not taken for one that hangs.
	timer := time.NewTimer(limit + lastChance/10)
	defer timer.Stop()
	for {
		switch ev := r.next(timer.C).(type) {
		case result:
			if ev.part == p { // otherwise a start that was left behind
				return r.stopped(p, ev.err, ctx.Err() != nil, limit)
			}
		case timeout:
			return r.stopped(p, ctx.Err(), true, limit)
		case killed:
			return errKilled
		}
	}
}

// stopped takes the result of a Stop.
func (r *runner) stopped(p *part, err error, late bool, limit time.Duration) error {
	p.step.StoppedAt = time.Now()
	if err == nil {
		r.log.Debug("stopped", "name", p.Name, "took", p.step.StoppedAt.Sub(p.step.StoppingAt))
		r.observe(p, StateStopped)
		return nil
	}
	state := StateFailed
	if late && errors.Is(err, context.DeadlineExceeded) {
		r.log.Warn("component does not stop, going on without it", "name", p.Name, "after", limit)
		err, state = &TimeoutError{limit}, StateHung
	}
	r.logPanic(p, err)
	err = &StopError{p.Name, err}
	if p.step.Err == nil { // what it failed with before says more
		p.step.Err = err
	}
	r.observe(p, state)
	return err
}
