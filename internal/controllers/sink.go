package controllers

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

// quieter is how many levels what controllers have to say is less important in a
// server than in a process of their own: "Starting controller" and its like.
const quieter = 2

// sink passes a controller's log on, and notes its errors.
type sink struct {
	logr.LogSink
	record *record
}

// Init is called for the sink that this one wraps already.
func (s *sink) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink.
func (s *sink) Enabled(level int) bool { return s.LogSink.Enabled(level + quieter) }

// Info implements logr.LogSink.
func (s *sink) Info(level int, message string, values ...any) {
	s.LogSink.Info(level+quieter, message, values...)
}

// Error implements logr.LogSink.
func (s *sink) Error(err error, message string, values ...any) {
	if passing(err) {
		s.LogSink.Info(quieter, message, append(values, "err", err)...)
		return
	}
	s.record.note(text(err, message))
	s.LogSink.Error(err, message, values...)
}

// WithValues implements logr.LogSink.
func (s *sink) WithValues(values ...any) logr.LogSink {
	return &sink{s.LogSink.WithValues(values...), s.record}
}

// WithName implements logr.LogSink.
func (s *sink) WithName(name string) logr.LogSink {
	return &sink{s.LogSink.WithName(name), s.record}
}

// WithCallDepth implements logr.CallDepthLogSink.
func (s *sink) WithCallDepth(depth int) logr.LogSink {
	if deep, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		return &sink{deep.WithCallDepth(depth), s.record}
	}
	return s
}

// passing tells errors that are part of a controller's life: somebody else was
// quicker, or the server stops.
func passing(err error) bool {
	return apierrors.IsConflict(err) || errors.Is(err, context.Canceled)
}

func text(err error, message string) string {
	switch {
	case err == nil:
		return message
	case message == "" || message == "Unhandled Error":
		return err.Error()
	default:
		return fmt.Sprintf("%s: %v", message, err)
	}
}

// Noted tells whether an error that upstream handles, and does nothing more about,
// is one of a controller. Those that come with a context of the controller have been
// noted by then; others are told by the code that they come from.
func (m *Manager) Noted(ctx context.Context, err error, message string) bool {
	if ctx.Value(recordKey{}) != nil {
		return true
	}
	if _, ours := klog.FromContext(ctx).GetSink().(*sink); ours {
		return true
	}
	r := m.caller()
	if r == nil {
		return false
	}
	if !passing(err) {
		r.note(text(err, message))
	}
	return true
}

// caller returns the controller whose code is on the stack of this goroutine, nil if
// there is none.
func (m *Manager) caller() *record {
	var counters [64]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters[:])])
	for {
		frame, more := frames.Next()
		for _, r := range m.records {
			if r.enabled && strings.HasPrefix(frame.Function, r.code()) {
				return r
			}
		}
		if !more {
			return nil
		}
	}
}

// code is the beginning of the names of the controller's functions.
func (r *record) code() string {
	if strings.Contains(r.Package, "k8s.io/") || strings.Contains(r.Package, "github.com/") {
		return r.Package + "."
	}
	return "k8s.io/kubernetes/pkg/controller/" + r.Package + "."
}
