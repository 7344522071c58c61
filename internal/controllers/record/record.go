// Package record keeps what is known of each controller: what it does, since when,
// and the errors that it has reported, which it takes from the log.
//
// It runs nothing. It may import logging libraries, the API types and the catalog.
package record

import (
	"context"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

// Phase is what a controller does.
type Phase int

// The phases.
const (
	// Unselected is a controller that was not asked for.
	Unselected Phase = iota
	// Standby is one that another server runs, or nobody yet.
	Standby
	// Starting is one that is being made.
	Starting
	// Running is one that works.
	Running
	// Off is one that was asked for, and has nothing to do here.
	Off
	// Failed is one that could not be made, or has ended by itself.
	Failed
)

// Record is what is known of one controller.
type Record struct {
	catalog.Controller
	// Enabled says that it was selected.
	Enabled bool

	// code is the beginning of the names of the controller's functions.
	code string

	mu sync.Mutex
	// fixed says that the phase is Off for as long as the process runs.
	fixed   bool
	ends    <-chan struct{} // closed when the controller is told to stop; nil before it was made
	phase   Phase
	why     string
	since   time.Time // of Running; zero in all others
	changed time.Time // of phase
	errors  int64
	last    string
	lastAt  time.Time
	// said are the errors that were logged lately, and when.
	said map[string]time.Time
}

const (
	// sayAgain is how often the same error of a controller is logged. Some are
	// reported every few seconds for as long as their cause lasts.
	sayAgain = 10 * time.Minute
	// saidMost bounds the errors that are remembered for that.
	saidMost = 100
	// longest is how many bytes of an error are kept: some print whole objects.
	longest = 1024
)

// New returns the record of a controller that does not run yet.
func New(c catalog.Controller, enabled bool) *Record {
	r := &Record{Controller: c, Enabled: enabled, changed: time.Now(), code: c.Package + "."}
	if !strings.Contains(c.Package, "k8s.io/") && !strings.Contains(c.Package, "github.com/") {
		r.code = "k8s.io/kubernetes/pkg/controller/" + r.code
	}
	if enabled {
		r.phase, r.why = Starting, "The server is being started."
	}
	return r
}

// Disable notes that the controller has nothing to do in this process, whatever
// happens.
func (r *Record) Disable(why string) {
	r.Enter(Off, why)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fixed = true
}

// Enter notes what the controller does now, and why.
func (r *Record) Enter(phase Phase, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fixed {
		return
	}
	if r.phase != phase {
		r.changed = time.Now()
	}
	r.phase, r.why, r.since = phase, why, time.Time{}
	if phase == Running {
		r.since = time.Now()
	}
}

// Rest notes that this server does not run the controller now. One that has nothing
// to do here has not either when the server runs them again.
func (r *Record) Rest() {
	r.mu.Lock()
	off := r.phase == Off
	r.mu.Unlock()
	if !off {
		r.Enter(Standby, "")
	}
}

// Fail notes that the controller could not be made, or has ended by itself.
func (r *Record) Fail(err error) {
	r.Enter(Failed, err.Error())
	r.Note(err.Error())
}

// Note counts an error that the controller has reported, and tells whether it is
// new: the same was not reported in the last ten minutes.
func (r *Record) Note(text string) (isNew bool) {
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.errors++
	r.last, r.lastAt = text, now
	if now.Sub(r.said[text]) < sayAgain {
		return false
	}
	if r.said == nil || len(r.said) >= saidMost {
		r.said = map[string]time.Time{}
	}
	r.said[text] = now
	return true
}

// logger logs as the controller: what it says as an error is noted.
func (r *Record) logger() klog.Logger {
	logger := klog.Background()
	return logger.WithSink(&sink{logger.GetSink(), r}).WithName(r.Name)
}

// Watch returns a context in which the controller logs as itself. When ctx is done,
// what it complains of is its end.
func (r *Record) Watch(ctx context.Context) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = ctx.Done()
	return klog.NewContext(ctx, r.logger())
}

// ending tells whether the controller has been told to stop.
func (r *Record) ending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.ends:
		return true
	default:
		return false
	}
}
