package election

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Fenced is what a request that the fence refuses fails with.
const Fenced = "the lease of the controllers was not renewed in time: another server may lead"

// Fence refuses the requests of a leader that can't be sure to be one any more. A
// server that was stopped for longer than the lease lasts, as a machine is that
// sleeps, would otherwise go on where it was, beside the new leader, until it has
// tried to renew the lease.
// The zero value is the fence where there is nobody else.
type Fence struct {
	// closed says that requests are refused; nil never does.
	closed func() bool
}

// Closed tells whether requests are refused now.
func (f Fence) Closed() bool { return f.closed != nil && f.closed() }

// Wrap puts the fence before a transport. What it refuses fails with Fenced.
func (f Fence) Wrap(next http.RoundTripper) http.RoundTripper {
	if f.closed == nil {
		return next
	}
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if f.Closed() {
			if request.Body != nil {
				_ = request.Body.Close() // as http.RoundTripper asks for
			}
			return nil, errors.New(Fenced)
		}
		return next.RoundTrip(request)
	})
}

// renewals notes when the lease was written last.
type renewals struct {
	resourcelock.Interface

	mu   sync.Mutex
	last time.Time
}

// Create implements resourcelock.Interface.
func (r *renewals) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return r.note(func() error { return r.Interface.Create(ctx, record) })
}

// Update implements resourcelock.Interface.
func (r *renewals) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return r.note(func() error { return r.Interface.Update(ctx, record) })
}

// note counts from before the write: others may have seen it as early as that.
func (r *renewals) note(write func() error) error {
	begun := time.Now()
	err := write()
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.last = begun
	}
	return err
}

// age is how long ago the lease was written. The monotonic clock stands still while a
// machine sleeps, and the other one can be set back: the larger one counts.
func (r *renewals) age() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	return max(now.Sub(r.last), now.Round(0).Sub(r.last.Round(0)))
}

// fence lets requests pass for so long after each renewal.
func (r *renewals) fence(patience time.Duration) Fence {
	return Fence{func() bool { return r.age() > patience }}
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
