// Package start is how a server started: its components, its post-start hooks, and
// which of them decided how long it took. It is facts only and draws nothing. It may
// import the API types and data.
package start

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
)

// The feeds that tell of a start.
var (
	HookFeed = data.Of("poststarthooks")
	StepFeed = data.Of("bootsteps")
)

// hangs is how long a hook may run before it is said to hang; the server notes where
// it is from then on.
const hangs = 5 * time.Second

// Run is something that runs once: a hook, or a component of a start.
type Run struct {
	Name string
	// Layer is that of a hook; it is empty for a component.
	Layer string
	// RegisteredAt is the function that registered a hook.
	RegisteredAt string
	State        v1alpha1.RunState
	// Begun and Ended are zero where that is not known. Of what still runs, Ended is now.
	Begun, Ended time.Time
	// Error is why it failed, Stack where a hook that hangs is.
	Error, Stack string
	// DependsOn are the components that a component waited for.
	DependsOn []string
}

// Took is how long it took, or runs.
func (r Run) Took() time.Duration { return max(0, r.Ended.Sub(r.Begun)) }

// Hangs tells whether it has run for so long that it will hardly end.
func (r Run) Hangs() bool { return r.State == v1alpha1.RunRunning && r.Took() >= hangs }

// Timed tells whether it is known when it began.
func (r Run) Timed() bool { return !r.Begun.IsZero() }

// newRun adds the times. What runs has run until the object was read, which its
// duration says better than now.
func newRun(r Run, begun, ended *metav1.MicroTime, lasted time.Duration, now time.Time) Run {
	if begun != nil {
		r.Begun = begun.Time
	}
	switch {
	case ended != nil:
		r.Ended = ended.Time
	case r.Begun.IsZero():
	case r.State == v1alpha1.RunRunning && now.After(r.Begun.Add(lasted)):
		r.Ended = now
	default:
		r.Ended = r.Begun.Add(lasted)
	}
	return r
}

// Hooks are the post-start hooks of a frame: those that have failed, hang or run
// first, then those that took longest; those whose times are not known come last.
func Hooks(frame data.Frame) []Run {
	objects := data.Objects[*v1alpha1.PostStartHook](frame, HookFeed)
	runs := make([]Run, len(objects))
	for i, hook := range objects {
		status := &hook.Status
		runs[i] = newRun(Run{
			Name: hook.Name, Layer: hook.Spec.Layer, RegisteredAt: hook.Spec.RegisteredAt,
			State: status.State, Error: status.Error, Stack: status.Stack,
		}, status.StartedAt, status.FinishedAt, status.Duration.Duration, frame.Now)
	}
	slices.SortStableFunc(runs, func(a, b Run) int {
		if a.Timed() != b.Timed() && a.urgency() == b.urgency() {
			if a.Timed() {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.urgency(), a.urgency()), cmp.Compare(b.Took(), a.Took()), a.Begun.Compare(b.Begun), cmp.Compare(a.Name, b.Name))
	})
	return runs
}

// urgency is how much somebody has to look at a run.
func (r Run) urgency() int {
	switch {
	case r.State == v1alpha1.RunFailed:
		return 3
	case r.Hangs():
		return 2
	case r.State == v1alpha1.RunRunning:
		return 1
	}
	return 0
}

// Slowest is the run that took longest; false if none has a time.
func Slowest(runs []Run) (Run, bool) { return most(runs, func(r Run) int64 { return int64(r.Took()) }) }

// Last is the run that ended last, which readiness waited for; false if none has a time.
func Last(runs []Run) (Run, bool) { return most(runs, func(r Run) int64 { return r.Ended.UnixNano() }) }

func most(runs []Run, of func(Run) int64) (Run, bool) {
	var best Run
	found := false
	for _, r := range runs {
		if r.Timed() && (!found || of(r) > of(best)) {
			best, found = r, true
		}
	}
	return best, found
}

// Span is when the first began, and how long it was until the last had ended.
func Span(runs []Run) (first time.Time, total time.Duration) {
	for _, r := range runs {
		if r.Timed() && (first.IsZero() || r.Begun.Before(first)) {
			first = r.Begun
		}
	}
	for _, r := range runs {
		if r.Timed() {
			total = max(total, r.Ended.Sub(first))
		}
	}
	return first, total
}

// Troubled are the runs that have failed or hang, in their order.
func Troubled(runs []Run) []Run {
	var troubled []Run
	for _, r := range runs {
		if r.State == v1alpha1.RunFailed || r.Hangs() {
			troubled = append(troubled, r)
		}
	}
	return troubled
}

// Count is how many runs are in a state.
func Count(runs []Run, state v1alpha1.RunState) int {
	n := 0
	for _, r := range runs {
		if r.State == state {
			n++
		}
	}
	return n
}
