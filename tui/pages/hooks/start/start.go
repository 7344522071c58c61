package start

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
)

// ready is the step that stands for the whole: it begins with the process and ends
// when the server is ready.
const ready = "ready"

// Start is one start of the server.
type Start struct {
	// Boot numbers the starts on a data directory.
	Boot int64
	// At is when the process began.
	At time.Time
	// Components are its parts, in their order.
	Components []Run
	// Whole is the start as a whole; its name is empty where that is not known.
	Whole Run
}

// Starts are the starts of a frame, the newest first.
func Starts(frame data.Frame) []Start {
	steps := data.Objects[*v1alpha1.BootStep](frame, StepFeed)
	steps = slices.SortedStableFunc(slices.Values(steps), func(a, b *v1alpha1.BootStep) int { return cmp.Compare(a.Spec.Order, b.Spec.Order) })
	starts := map[int64]*Start{}
	for _, step := range steps {
		one := starts[step.Spec.Boot]
		if one == nil {
			one = &Start{Boot: step.Spec.Boot, At: step.Spec.BootedAt.Time}
			starts[step.Spec.Boot] = one
		}
		status := &step.Status
		r := newRun(Run{
			Name: step.Spec.Component, State: status.State, Error: status.Error, DependsOn: step.Spec.DependsOn,
		}, status.StartedAt, status.ReadyAt, status.Duration.Duration, frame.Now)
		if r.Name == ready {
			one.Whole = r
			continue
		}
		one.Components = append(one.Components, r)
	}
	sorted := make([]Start, 0, len(starts))
	for _, boot := range slices.SortedFunc(maps.Keys(starts), func(a, b int64) int { return cmp.Compare(b, a) }) {
		sorted = append(sorted, *starts[boot])
	}
	return sorted
}

// Component returns the one of a name.
func (s Start) Component(name string) (Run, bool) {
	i := slices.IndexFunc(s.Components, func(r Run) bool { return r.Name == name })
	if i < 0 {
		return Run{}, false
	}
	return s.Components[i], true
}

// Failed is the component that the start failed in: of several the one that took
// longest, since those that were cut off have no time.
func (s Start) Failed() (Run, bool) {
	var failed Run
	found := false
	for _, r := range s.Components {
		if r.State == v1alpha1.RunFailed && (!found || r.Took() >= failed.Took()) {
			failed, found = r, true
		}
	}
	return failed, found
}

// Running is the first component that still starts.
func (s Start) Running() (Run, bool) {
	i := slices.IndexFunc(s.Components, func(r Run) bool { return r.State == v1alpha1.RunRunning })
	if i < 0 {
		return Run{}, false
	}
	return s.Components[i], true
}

// Lasted is the time from the start of the process to the end of its last component.
func (s Start) Lasted() time.Duration {
	last := s.Whole.Ended.Sub(s.At)
	for _, r := range s.Components {
		if !r.Ended.IsZero() {
			last = max(last, r.Ended.Sub(s.At))
		}
	}
	return max(0, last)
}

// CriticalPath are the components that decided how long it took: back from the one
// that ended last, each time to that of its dependencies which was ready last. One
// without dependencies began after whatever had ended then.
func (s Start) CriticalPath() []string {
	var path []string
	all := make([]string, len(s.Components))
	for i, r := range s.Components {
		all[i] = r.Name
	}
	at := s.lastOf(all, time.Time{})
	for at != "" && !slices.Contains(path, at) {
		path = append(path, at)
		r, _ := s.Component(at)
		before := s.lastOf(r.DependsOn, time.Time{})
		if before == "" {
			before = s.lastOf(all, r.Begun)
		}
		at = before
	}
	slices.Reverse(path)
	return path
}

// lastOf is the one of some components that ended last; no later than until, if that
// is given.
func (s Start) lastOf(components []string, until time.Time) string {
	var last Run
	for _, component := range slices.Sorted(slices.Values(components)) {
		r, known := s.Component(component)
		if !known || !r.Timed() || !until.IsZero() && r.Ended.After(until) {
			continue
		}
		if last.Name == "" || r.Ended.After(last.Ended) {
			last = r
		}
	}
	return last.Name
}

// WaitedFor leaves of a component's dependencies those that no other of them has
// waited for already.
func (s Start) WaitedFor(r Run) []string {
	var nearest []string
	for _, name := range r.DependsOn {
		if !slices.ContainsFunc(r.DependsOn, func(other string) bool {
			o, _ := s.Component(other)
			return other != name && slices.Contains(o.DependsOn, name)
		}) {
			nearest = append(nearest, name)
		}
	}
	return nearest
}
