// Package record keeps what is known of each controller: what it does, since when,
// and the errors that it has reported, which it takes from the log.
//
// It runs nothing. It may import logging libraries, the API types and the catalog.
package record

import (
	"context"
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
	// Failed is one that could not be made.
	Failed
)

// Record is what is known of one controller.
type Record struct {
	catalog.Controller
	// Enabled says that it was selected.
	Enabled bool

	mu      sync.Mutex
	phase   Phase
	why     string
	since   time.Time // of Running; zero in all others
	changed time.Time // of phase
	errors  int64
	last    string
	lastAt  time.Time
}

// New returns the record of a controller that does not run.
func New(c catalog.Controller, enabled bool) *Record {
	r := &Record{Controller: c, Enabled: enabled, changed: time.Now()}
	if enabled {
		r.phase = Standby
	}
	return r
}

// Enter notes what the controller does now, and why.
func (r *Record) Enter(phase Phase, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase != phase {
		r.changed = time.Now()
	}
	r.phase, r.why, r.since = phase, why, time.Time{}
	if phase == Running {
		r.since = time.Now()
	}
}

// Fail notes that the controller could not be made.
func (r *Record) Fail(err error) {
	r.Enter(Failed, err.Error())
	r.Note(err.Error())
}

// Note counts an error that the controller has reported.
func (r *Record) Note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors++
	r.last, r.lastAt = text, time.Now()
}

// logger logs as the controller: what it says as an error is noted.
func (r *Record) logger() klog.Logger {
	logger := klog.Background()
	return logger.WithSink(&sink{logger.GetSink(), r}).WithName(r.Name)
}

// Watch returns a context in which the controller logs as itself.
func (r *Record) Watch(ctx context.Context) context.Context { return klog.NewContext(ctx, r.logger()) }
