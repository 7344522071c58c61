package lifecycle

import (
	"time"

	"github.com/kapi-dev/kapi/internal/fault"
)

// What next returns beside result and failure.
type (
	interrupt struct{} // a signal, or the end of ctx; not while stopping
	timeout   struct{} // the deadline given to next
	killed    struct{} // the second signal, where Exit has returned
)

// next waits for the next thing to decide on. It is the only place where the
// runner waits, so signals and the watchdog are served at all times.
func (r *runner) next(deadline <-chan time.Time) any {
	for !r.killed {
		select {
		case res := <-r.results:
			return res
		case f := <-r.failures:
			if !r.stopping {
				return f
			}
			r.log.Debug("component failed while stopping", "name", f.part.Name, "err", f.err)
		case <-r.done:
			r.done = nil
			if !r.stopping {
				r.log.Debug("context ended")
				return interrupt{}
			}
		case sig, ok := <-r.signals:
			if !ok {
				r.signals = nil
				continue
			}
			if r.signaled {
				r.exit(sig.String())
				continue
			}
			r.signaled = true
			r.log.Debug("signal", "signal", sig.String())
			if !r.stopping {
				return interrupt{}
			}
			r.log.Info("already stopping; another signal ends at once")
		case <-r.sd.watchdog():
			r.sd.alive()
		case <-deadline:
			return timeout{}
		}
	}
	return killed{}
}

// exit is the second signal: the files that say that the process is there go,
// the rest is left to the next start.
func (r *runner) exit(signal string) {
	r.log.Warn("second signal, ending at once", "signal", signal)
	r.killed = true
	release(r.opts.ReadyFile)
	release(r.opts.PIDFile)
	r.opts.Exit(fault.CodeFailure)
}
