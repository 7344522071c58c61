package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
)

// Hooks prints the post-start hooks of one server as a waterfall, in the order in
// which they began, and which of them the server's readiness waited for. now is
// when the objects were read. The error is the writer's.
func Hooks(w io.Writer, s text.Screen, hooks []*v1alpha1.PostStartHook, now time.Time) error {
	page := text.NewPage(w, s)
	if len(hooks) == 0 {
		page.Text(0, text.Dim, "There are no post-start hooks.")
		return page.Close()
	}
	runs := make([]run, len(hooks))
	for i, hook := range hooks {
		runs[i] = hookRun(hook, now)
	}
	sortRuns(runs)
	first, total := span(runs)
	if first.IsZero() {
		page.Table(untimed(runs))
		page.Blank()
		page.Text(0, text.Dim, counted(len(runs), "hook")+". When they began and ended is not known.")
		return page.Close()
	}
	fall := text.Waterfall{
		Columns: []text.Column{
			{Name: "hook", Shrink: true, Middle: true}, {Name: "layer", Shrink: true}, {Name: "state"},
			{Name: "start", Right: true}, {Name: "took", Right: true},
		},
		Total: total, Start: "0", End: took(total),
	}
	for _, r := range runs {
		fall.Rows = append(fall.Rows, r.row(first, text.Cell{Text: r.name}, text.Cell{Text: r.layer}))
	}
	page.Waterfall(fall)
	page.Blank()
	for _, line := range hooksSummary(runs, total) {
		page.Text(0, line.Tone, line.Text)
	}
	return page.Close()
}

// untimed is what is left to show where no times are known.
func untimed(runs []run) text.Table {
	table := text.Table{Columns: []text.Column{{Name: "hook", Shrink: true, Middle: true}, {Name: "layer", Shrink: true}, {Name: "state"}, {Name: "error", Shrink: true}}}
	for _, r := range runs {
		table.Rows = append(table.Rows, []text.Cell{
			{Text: r.name}, {Text: r.layer}, {Text: string(r.state), Tone: stateTone(r.state)}, {Text: r.error, Tone: text.Bad},
		})
	}
	return table
}

// run is something that ran once: a hook or a step of a start.
type run struct {
	name, layer string
	state       v1alpha1.RunState
	// begun and ended are zero where that is not known; of what still runs, ended is now.
	begun, ended time.Time
	error, stack string
}

func hookRun(hook *v1alpha1.PostStartHook, now time.Time) run {
	status := hook.Status
	return newRun(run{
		name: hook.Name, layer: hook.Spec.Layer, state: status.State, error: status.Error, stack: status.Stack,
	}, status.StartedAt, status.FinishedAt, status.Duration, now)
}

// newRun adds the times. What runs has run until the object was read, which its
// duration says better than now.
func newRun(r run, begun, ended *metav1.MicroTime, lasted metav1.Duration, now time.Time) run {
	if begun != nil {
		r.begun = begun.Time
	}
	switch {
	case ended != nil:
		r.ended = ended.Time
	case r.begun.IsZero():
	case lasted.Duration > 0:
		r.ended = r.begun.Add(lasted.Duration)
	case r.state == v1alpha1.RunRunning:
		r.ended = now
	default:
		r.ended = r.begun
	}
	return r
}

func (r run) took() time.Duration { return r.ended.Sub(r.begun) }

// row is a row of a waterfall: the cells that are given, then state, start,
// duration and bar, and beneath it why it failed or where it hangs.
func (r run) row(first time.Time, cells ...text.Cell) text.WaterfallRow {
	tone := stateTone(r.state)
	row := text.WaterfallRow{Cells: append(cells, text.Cell{Text: string(r.state), Tone: tone})}
	if !r.begun.IsZero() {
		from := r.begun.Sub(first)
		row.Cells = append(row.Cells, text.Cell{Text: took(from)}, text.Cell{Text: took(r.took())})
		row.Bars = []text.Stretch{{From: from, To: from + r.took(), Tone: tone}}
	}
	if r.error != "" {
		row.Notes = append(row.Notes, text.Cell{Text: "error: " + r.error, Tone: text.Bad})
	}
	for line := range strings.Lines(r.stack) {
		row.Notes = append(row.Notes, text.Cell{Text: "at " + strings.TrimSpace(line), Tone: text.Dim})
	}
	return row
}

func stateTone(state v1alpha1.RunState) text.Tone {
	switch state {
	case v1alpha1.RunDone:
		return text.Plain
	case v1alpha1.RunFailed:
		return text.Bad
	case v1alpha1.RunRunning:
		return text.Warning
	default:
		return text.Dim
	}
}

// sortRuns sorts by start; those that have none come last, what took longer first.
func sortRuns(runs []run) {
	slices.SortStableFunc(runs, func(a, b run) int {
		if a.begun.IsZero() != b.begun.IsZero() {
			if a.begun.IsZero() {
				return 1
			}
			return -1
		}
		return cmp.Or(a.begun.Compare(b.begun), cmp.Compare(b.took(), a.took()), cmp.Compare(a.name, b.name))
	})
}

// span is when the first began, and how long it was until the last had ended.
func span(runs []run) (first time.Time, total time.Duration) {
	for _, r := range runs {
		if !r.begun.IsZero() && (first.IsZero() || r.begun.Before(first)) {
			first = r.begun
		}
	}
	for _, r := range runs {
		if !r.begun.IsZero() {
			total = max(total, r.ended.Sub(first))
		}
	}
	return first, total
}

// hooksSummary says how many there are and how they are, which took longest, and
// which one the server's readiness waited for.
func hooksSummary(runs []run, total time.Duration) []text.Cell {
	states := map[v1alpha1.RunState][]string{}
	var longest, last run
	for _, r := range runs {
		states[r.state] = append(states[r.state], r.name)
		if longest.name == "" || r.took() > longest.took() {
			longest = r
		}
		if last.name == "" || r.ended.After(last.ended) {
			last = r
		}
	}
	if len(states[v1alpha1.RunDone]) == len(runs) {
		return []text.Cell{
			{Text: fmt.Sprintf("%s, all done %s after the first began.", counted(len(runs), "hook"), took(total)), Tone: text.Good},
			{Text: fmt.Sprintf("Longest: %s, %s.", longest.name, took(longest.took()))},
			{Text: fmt.Sprintf("Readiness waited for %s, the last to be done.", last.name)},
		}
	}
	lines := []text.Cell{{Text: fmt.Sprintf("%s, %d done, %s since the first began. Longest: %s, %s.",
		counted(len(runs), "hook"), len(states[v1alpha1.RunDone]), took(total), longest.name, took(longest.took()))}}
	for _, state := range []v1alpha1.RunState{v1alpha1.RunFailed, v1alpha1.RunRunning, v1alpha1.RunPending} {
		if names := states[state]; len(names) > 0 {
			lines = append(lines, text.Cell{Tone: stateTone(state), Text: string(state) + ": " + strings.Join(names, ", ") + "."})
		}
	}
	return append(lines, text.Cell{Text: "The server is not ready before all are done.", Tone: text.Warning})
}

// counted writes a number of things: "1 hook", "12 hooks".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
