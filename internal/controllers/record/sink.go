package record

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/kapi-dev/kapi/internal/controllers/election"
)

// quieter is how many levels what controllers have to say is less important in a
// server than in a process of their own: "Starting controller" and its like.
const quieter = 2

// sink passes a controller's log on, and notes its errors.
type sink struct {
	logr.LogSink
	record *Record
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
	said := text(err, message)
	if passing(err, said) || s.record.ending() || !s.record.Note(said) || contains(said, expected) {
		if s.LogSink.Enabled(quieter) {
			s.LogSink.Info(quieter, message, append(slices.Clone(values), "err", err)...)
		}
		return
	}
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

// unhandled is the message that upstream gives errors without one.
const unhandled = "Unhandled Error"

// passingTexts are the ends of such errors where upstream has made text of them.
var passingTexts = []string{
	"the object has been modified; please apply your changes to the latest version and try again",
	"imed out waiting for dependency graph builder sync", // informers are slow to fill; it goes on without
	"imed out waiting for quota monitor sync",            // likewise
	"duplicate metrics collector registration attempted", // the second term of a process
	"Status after running PostFilter plugins for pod",    // no node fits yet, as the pod's events say
	"Error finding provisioning plugin for claim",        // a class that is not there, as the claim's events say
	election.Fenced,                    // another server leads, and this one has not heard of it yet
	"is not as new as written version", // consistency.ConsistencyError: an informer is behind what the controller wrote
}

// expected are parts of errors that are worth knowing, and not worth a line: of kinds
// whose CRD was deleted while their objects were looked at.
var expected = []string{"no matches for "}

// passing tells errors that are part of a controller's life, and are gone when it
// tries again: somebody else was quicker, or the server stops. text is what they say.
func passing(err error, text string) bool {
	return apierrors.IsConflict(err) || errors.Is(err, context.Canceled) || contains(text, passingTexts)
}

func contains(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

func text(err error, message string) string {
	switch {
	case err == nil:
		return message
	case message == "" || message == unhandled:
		return err.Error()
	default:
		return fmt.Sprintf("%s: %v", message, err)
	}
}

// HandleError takes an error that upstream does no more about than log it, if it is
// one of a controller, and logs it under the controller's name. Those that come with
// a logger of the controller need no help; others are told by the code that they
// come from.
func HandleError(ctx context.Context, records []*Record, err error, message string, values ...any) (logged bool) {
	if _, ours := klog.FromContext(ctx).GetSink().(*sink); ours {
		return false
	}
	r := caller(records)
	if r == nil {
		return false
	}
	if message == unhandled {
		message = "Sync failed and may be tried again"
	}
	r.logger().Error(err, message, values...)
	return true
}

// caller returns the controller whose code is on the stack of this goroutine, nil if
// there is none.
func caller(records []*Record) *Record {
	var counters [64]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters[:])])
	for {
		frame, more := frames.Next()
		for _, r := range records {
			if r.Enabled && strings.HasPrefix(frame.Function, r.code) {
				return r
			}
		}
		if !more {
			return nil
		}
	}
}
