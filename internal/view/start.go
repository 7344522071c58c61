package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
)

// readyStep is the step that stands for the whole start: it begins with the process
// and ends when the server is ready.
const readyStep = "ready"

// Boot prints the steps of the newest start as a waterfall, with the steps that each
// had to wait for and the chain of them that decided how long it took, and the
// starts before it with one line each. now is when the objects were read. The error
// is the writer's.
func Boot(w io.Writer, s text.Screen, steps []*v1alpha1.BootStep, now time.Time) error {
	page := text.NewPage(w, s)
	if len(steps) == 0 {
		page.Text(0, text.Dim, "There are no boot steps.")
		return page.Close()
	}
	starts := startsOf(steps, now)
	newest := starts[0]
	page.Text(0, text.Heading, fmt.Sprintf("Start %d at %s", newest.boot, moment(newest.at, now)))
	said, tone := newest.verdict()
	page.Text(0, tone, said)
	page.Blank()
	path := newest.criticalPath()
	page.Waterfall(newest.waterfall(path))
	if len(path) > 0 {
		page.Blank()
		page.Text(0, text.Plain, "* The critical path, which decided how long it took: "+newest.described(path)+".")
	}
	if len(starts) > 1 {
		page.Heading("Earlier starts")
		page.Table(earlier(starts[1:], now))
	}
	return page.Close()
}

// start is one start of the server.
type start struct {
	boot  int64
	at    time.Time
	steps []*v1alpha1.BootStep
	runs  map[string]run // by component
	ready run            // the whole; its name is empty if there is no such step
}

// startsOf groups steps by start, the newest first.
func startsOf(steps []*v1alpha1.BootStep, now time.Time) []start {
	starts := map[int64]*start{}
	for _, step := range steps {
		one := starts[step.Spec.Boot]
		if one == nil {
			one = &start{boot: step.Spec.Boot, at: step.Spec.BootedAt.Time, runs: map[string]run{}}
			starts[step.Spec.Boot] = one
		}
		r := newRun(run{name: step.Spec.Component, state: step.Status.State, error: step.Status.Error},
			step.Status.StartedAt, step.Status.ReadyAt, step.Status.Duration, now)
		if step.Spec.Component == readyStep {
			one.ready = r
			continue
		}
		one.steps = append(one.steps, step)
		one.runs[r.name] = r
	}
	sorted := make([]start, 0, len(starts))
	for _, boot := range slices.SortedFunc(maps.Keys(starts), func(a, b int64) int { return cmp.Compare(b, a) }) {
		slices.SortStableFunc(starts[boot].steps, func(a, b *v1alpha1.BootStep) int { return cmp.Compare(a.Spec.Order, b.Spec.Order) })
		sorted = append(sorted, *starts[boot])
	}
	return sorted
}

// failed is the step that the start failed in; empty if it did not. Steps that were
// not done when the process ended have failed too, and lasted for no time that is known.
func (s start) failed() string {
	var last string
	var longest time.Duration
	for _, step := range s.steps {
		r := s.runs[step.Spec.Component]
		if r.state == v1alpha1.RunFailed && (last == "" || r.took() >= longest) {
			last, longest = r.name, r.took()
		}
	}
	return last
}

// lasted is the time from the start of the process to the end of its last step.
func (s start) lasted() time.Duration {
	last := s.ready.ended.Sub(s.at)
	for _, r := range s.runs {
		if !r.ended.IsZero() {
			last = max(last, r.ended.Sub(s.at))
		}
	}
	return max(0, last)
}

func (s start) verdict() (string, text.Tone) {
	if failed := s.failed(); failed != "" {
		return "Failed in " + failed + " after " + took(s.lasted()), text.Bad
	}
	if s.ready.state == v1alpha1.RunFailed {
		return "Failed after " + took(s.lasted()), text.Bad
	}
	for _, step := range s.steps {
		if r := s.runs[step.Spec.Component]; r.state == v1alpha1.RunRunning {
			return "Not ready after " + took(s.lasted()) + ": " + r.name + " still runs", text.Warning
		}
	}
	if s.ready.state != v1alpha1.RunDone && s.ready.name != "" {
		return "Not ready after " + took(s.lasted()), text.Warning
	}
	return "Ready after " + took(s.lasted()), text.Good
}

// criticalPath goes back from the step that ended last, each time to that of its
// dependencies which was ready last. A step without dependencies began after
// whatever had ended then.
func (s start) criticalPath() []string {
	var path []string
	at := s.lastOf(slices.Collect(maps.Keys(s.runs)), time.Time{})
	for at != "" && !slices.Contains(path, at) {
		path = append(path, at)
		before := s.lastOf(s.dependencies(at), time.Time{})
		if before == "" {
			before = s.lastOf(slices.Collect(maps.Keys(s.runs)), s.runs[at].begun)
		}
		at = before
	}
	slices.Reverse(path)
	return path
}

// lastOf is the one of some components that ended last; no later than until, if
// that is given.
func (s start) lastOf(components []string, until time.Time) string {
	var last run
	for _, component := range slices.Sorted(slices.Values(components)) {
		r, known := s.runs[component]
		if !known || r.begun.IsZero() || !until.IsZero() && r.ended.After(until) {
			continue
		}
		if last.name == "" || r.ended.After(last.ended) {
			last = r
		}
	}
	return last.name
}

// described is a path with durations, and with what took a good part of a step on it:
// that which waited for the same, and ran within it.
func (s start) described(path []string) string {
	parts := make([]string, len(path))
	for i, component := range path {
		whole := s.runs[component]
		parts[i] = component + " " + took(whole.took())
		for _, step := range s.steps {
			r := s.runs[step.Spec.Component]
			within := !r.begun.Before(whole.begun) && !r.ended.After(whole.ended) && 4*r.took() >= whole.took()
			if within && !slices.Contains(path, r.name) && slices.Equal(step.Spec.DependsOn, s.dependencies(component)) {
				parts[i] += " (in it " + r.name + " " + took(r.took()) + ")"
			}
		}
	}
	return strings.Join(parts, ", ")
}

func (s start) dependencies(component string) []string {
	for _, step := range s.steps {
		if step.Spec.Component == component {
			return step.Spec.DependsOn
		}
	}
	return nil
}

func (s start) waterfall(path []string) text.Waterfall {
	total := s.lasted()
	fall := text.Waterfall{
		Columns: []text.Column{
			{Name: "component"}, {Name: "waited for", Shrink: true}, {Name: "state"}, {Name: "start", Right: true}, {Name: "took", Right: true},
		},
		Total: total, Start: "0", End: took(total),
	}
	for _, step := range s.steps {
		name := "  " + step.Spec.Component
		if slices.Contains(path, step.Spec.Component) {
			name = "* " + step.Spec.Component
		}
		r := s.runs[step.Spec.Component]
		fall.Rows = append(fall.Rows, r.row(s.at, text.Cell{Text: name}, text.Cell{Text: strings.Join(s.nearest(step), ", ")}))
	}
	return fall
}

// nearest leaves of a step's dependencies those that no other of them has already
// waited for.
func (s start) nearest(step *v1alpha1.BootStep) []string {
	var nearest []string
	for _, component := range step.Spec.DependsOn {
		if !slices.ContainsFunc(step.Spec.DependsOn, func(other string) bool {
			return other != component && slices.Contains(s.dependencies(other), component)
		}) {
			nearest = append(nearest, component)
		}
	}
	return nearest
}

func earlier(starts []start, now time.Time) text.Table {
	table := text.Table{Columns: []text.Column{{Name: "start", Right: true}, {Name: "when"}, {Name: "outcome"}, {Name: "error", Shrink: true}}}
	for _, one := range starts {
		said, tone := one.verdict()
		why := one.ready.error
		if failed := one.failed(); failed != "" {
			why = one.runs[failed].error
		}
		table.Rows = append(table.Rows, []text.Cell{
			{Text: fmt.Sprint(one.boot)}, {Text: ago(one.at, now)}, {Text: said, Tone: tone}, {Text: why},
		})
	}
	return table
}
