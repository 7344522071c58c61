package apiservices

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// way draws the steps to the aggregated server, and the last probes of it.
func (f facts) way(lines []doc.Line, paper ink.Paper) []doc.Line {
	steps := f.steps()
	if len(steps) == 0 {
		return lines
	}
	lines = sheet.Section(lines, "The way to its server")
	lines = sheet.Body(lines, chart.Steps(paper, steps, max(0, min(paper.Width-2, 118))))
	if len(f.Probes) == 0 {
		return sheet.Para(lines, paper, 1, ink.Muted, "this server does not tell of its probes; the failing step is taken from the condition")
	}
	return append(lines, doc.Line{Level: 1}, doc.Line{Level: 1, Key: "probes", Line: f.probes(paper)})
}

// steps are those of the last probe. Of a server that does not tell of its probes,
// the condition says which step has failed.
func (f facts) steps() []chart.Step {
	if len(f.Steps) > 0 {
		steps := make([]chart.Step, 0, len(f.Steps))
		for _, s := range f.Steps {
			step := chart.Step{Name: string(s.Name), Detail: s.Detail, Error: s.Error, Took: s.Duration.Duration, State: chart.StepFailed}
			switch {
			case !s.Tried:
				step.State = chart.StepSkipped
			case s.OK:
				step.State = chart.StepOK
			}
			steps = append(steps, step)
		}
		return steps
	}
	names := joined.StepNames()
	failed := slices.Index(names, f.FailingStep)
	if failed < 0 {
		return nil
	}
	steps := make([]chart.Step, 0, len(names))
	for i, name := range names {
		step := chart.Step{Name: string(name), State: chart.StepOK}
		switch {
		case i == failed:
			step.State, step.Error = chart.StepFailed, f.State.Why
		case i > failed:
			step.State = chart.StepSkipped
		}
		steps = append(steps, step)
	}
	return steps
}

// probes draws the last probes, oldest first as in any chart, and sums them up.
func (f facts) probes(paper ink.Paper) ink.Line {
	line := ink.Line{ink.T(ink.Name, "  last probes  ")}
	for _, try := range slices.Backward(f.Probes) {
		if try.OK {
			line = append(line, ink.T(ink.Good, paper.Glyphs.Good))
		} else {
			line = append(line, ink.T(ink.Bad, paper.Glyphs.Bad))
		}
	}
	text := fmt.Sprintf("  %d of %d ok, the last %s ago", f.Succeeded, len(f.Probes), cmp.Or(kit.Ago(f.Probes[0].At, f.now), "0s"))
	return append(line, ink.T(ink.Muted, text))
}

// most is how many requests that were answered 503 are shown.
const most = 5

// refused are the newest requests for the group version that were answered 503.
func refused(traces []*v1alpha1.RequestTrace, a joined.APIService) []*v1alpha1.RequestTrace {
	var found []*v1alpha1.RequestTrace
	for _, t := range traces {
		info := t.Spec.RequestInfo
		if t.Status.Code == 503 && info != nil && info.APIGroup == a.Group && info.APIVersion == a.Version {
			found = append(found, t)
		}
	}
	slices.SortStableFunc(found, func(a, b *v1alpha1.RequestTrace) int {
		return b.Status.ReceivedAt.Compare(a.Status.ReceivedAt.Time)
	})
	return found[:min(len(found), most)]
}

// clients are those who felt it: how many requests were answered 503, and the newest
// of them that the server still remembers.
func (f facts) clients(lines []doc.Line, paper ink.Paper) []doc.Line {
	if f.Service == "" || f.UnavailableAnswers < 0 || f.lacks503s() {
		return lines
	}
	lines = sheet.Section(lines, "Clients")
	switch f.UnavailableAnswers {
	case 0:
		return sheet.Bullet(lines, paper, ink.T(ink.Good, paper.Glyphs.Good), "none was answered 503 in its place")
	case 1:
		lines = sheet.Bullet(lines, paper, ink.T(ink.Warning, paper.Glyphs.Warning), "1 request was answered 503 in its place")
	default:
		lines = sheet.Bullet(lines, paper, ink.T(ink.Warning, paper.Glyphs.Warning),
			strconv.FormatInt(f.UnavailableAnswers, 10)+" requests were answered 503 in its place")
	}
	rows := make([][]ink.Span, 0, len(f.refused))
	for _, t := range f.refused {
		rows = append(rows, []ink.Span{
			ink.T(ink.Muted, kit.Ago(t.Status.ReceivedAt.Time, f.now)+" ago"), ink.T(ink.Text, user(t)),
			ink.T(ink.Text, t.Spec.Verb), ink.T(ink.Value, t.Spec.Path),
		})
	}
	for i, line := range sheet.Grid(paper, rows) {
		t := f.refused[i]
		lines = append(lines, doc.Line{
			Level: 1, Line: append(ink.L(ink.Text, "    "), line...), Key: "request " + t.Name,
			Open: page.At("requests", cmp.Or(t.Spec.AuditID, t.Name)),
		})
	}
	return lines
}

// lacks503s tells whether the server does not count these answers.
func (f facts) lacks503s() bool {
	return slices.ContainsFunc(f.Missing, func(m joined.Missing) bool {
		return m.Part == "apiserviceprobes" || m.Part == "apiserviceprobes.503s"
	})
}

func user(t *v1alpha1.RequestTrace) string {
	if t.Spec.User == nil {
		return "unknown"
	}
	return t.Spec.User.Name
}
