package controllers

import (
	"context"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

// phase is what a controller does.
type phase int

const (
	phaseUnselected phase = iota
	phaseStandby          // the server is not the one that runs it, or not yet
	phaseStarting
	phaseRunning
	phaseOff // it is on, and has nothing to do here
	phaseFailed
)

// record is what is known of one controller.
type record struct {
	catalog.Controller
	enabled bool

	mu      sync.Mutex
	phase   phase
	why     string
	since   time.Time // of phaseRunning
	changed time.Time // of phase
	errors  int64
	last    string
	lastAt  time.Time
}

func newRecord(c catalog.Controller, enabled bool) *record {
	r := &record{Controller: c, enabled: enabled, changed: time.Now()}
	if enabled {
		r.phase = phaseStandby
	}
	return r
}

// set notes what the controller does now, and why.
func (r *record) set(phase phase, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase != phase {
		r.changed = time.Now()
	}
	r.phase, r.why, r.since = phase, why, time.Time{}
	if phase == phaseRunning {
		r.since = time.Now()
	}
}

// fail notes that the controller could not be made.
func (r *record) fail(err error) {
	r.set(phaseFailed, err.Error())
	r.note(err.Error())
}

// note counts an error that the controller has reported.
func (r *record) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors++
	r.last, r.lastAt = text, time.Now()
}

type recordKey struct{}

// watch returns a context for the controller's own use: what it logs as an error
// through it is noted, under its name.
func (r *record) watch(ctx context.Context) context.Context {
	logger := klog.FromContext(ctx)
	logger = logger.WithSink(&sink{LogSink: logger.GetSink(), record: r}).WithName(r.Name)
	return klog.NewContext(context.WithValue(ctx, recordKey{}, r), logger)
}
