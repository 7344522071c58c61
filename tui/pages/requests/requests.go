// Package requests is the page of requests as they come, and the page of the way of
// one of them: how it ended and why, filter by filter, layer by layer. It may import
// what pages may.
package requests

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

type row = *v1alpha1.RequestTrace

// New returns the page of all requests, or of the one that the location names by its
// audit ID ("last" is the newest).
func New(env page.Env, at page.Location) (page.Page, error) {
	if at.Name != "" {
		return newDetail(env, at.Name), nil
	}
	return kit.NewList(kit.ListConfig[row]{
		Title:   "requests",
		Needs:   []data.Key{trace.Feed, data.Of("filters"), data.Of("serverlayers")},
		Rows:    func(frame data.Frame) []row { return data.Objects[row](frame, trace.Feed) },
		Table:   table(),
		Head:    head,
		Subject: func(t row) page.Subject { return subject(env, t) },
		Open:    trace.At,
		Extra: map[page.ActionID]func(row) page.Effect{
			page.Requests: func(t row) page.Effect {
				return page.Effect{Open: page.At("requests", "", "filter", Quoted("user", trace.UserName(t)))}
			},
		},
		Filter: at.Get("filter"),
	}), nil
}

// Quoted is a term of a filter for a column that holds a value.
func Quoted(field, value string) string {
	if strings.ContainsAny(value, " \t\"'") {
		return fmt.Sprintf("%s:%q", field, value)
	}
	return field + ":" + value
}

func table() vtable.Config[row] {
	text := func(value func(row) string) func(row, time.Time) ink.Span {
		return func(t row, _ time.Time) ink.Span { return ink.T(ink.Text, value(t)) }
	}
	muted := func(value func(row) string) func(row, time.Time) ink.Span {
		return func(t row, _ time.Time) ink.Span { return ink.T(ink.Muted, value(t)) }
	}
	return vtable.Config[row]{
		Columns: []vtable.Column[row]{
			{
				Title: "TIME", Keep: true,
				Cell: func(t row, now time.Time) ink.Span {
					return ink.T(ink.Muted, t.Status.ReceivedAt.In(now.Location()).Format("15:04:05"))
				},
				Compare: func(a, b row) int { return a.Status.ReceivedAt.Compare(b.Status.ReceivedAt.Time) },
			},
			{
				Title: "CODE", Right: true, Keep: true,
				Cell: func(t row, _ time.Time) ink.Span {
					return ink.T(trace.Token(t), trace.ShortCode(t.Status.Code))
				},
				Compare: func(a, b row) int { return cmp.Compare(a.Status.Code, b.Status.Code) },
			},
			{
				Title: "TOOK", Right: true, Keep: true,
				Cell: func(t row, _ time.Time) ink.Span {
					token := ink.Text
					if t.Status.Slow {
						token = ink.Warning
					}
					return ink.T(token, kinds.Took(t.Status.Duration))
				},
				Compare: func(a, b row) int { return cmp.Compare(a.Status.Duration.Duration, b.Status.Duration.Duration) },
			},
			{Title: "VERB", Cell: text(func(t row) string { return t.Spec.Verb })},
			{Title: "PATH", Grow: 1, Min: 18, Middle: true, Keep: true, Cell: text(func(t row) string { return t.Spec.Path })},
			{
				Title: "BY", Min: 13,
				Cell: func(t row, _ time.Time) ink.Span {
					token := ink.Muted
					if trace.Refused(t) {
						token = trace.Token(t)
					}
					return ink.T(token, trace.EndedShort(t.Status.TerminatedBy))
				},
			},
			{Title: "USER", Min: 10, Middle: true, Cell: text(trace.UserName)},
			{Title: "FLOW", Min: 14, Cell: muted(func(t row) string { return t.Status.PriorityLevel })},
			{Title: "SCHEMA", Wide: true, Cell: muted(func(t row) string { return t.Status.FlowSchema })},
			{
				Title: "BYTES", Wide: true, Right: true,
				Cell:    muted(func(t row) string { return kinds.Size(t.Status.BytesWritten) }),
				Compare: func(a, b row) int { return cmp.Compare(a.Status.BytesWritten, b.Status.BytesWritten) },
			},
			{Title: "AGENT", Wide: true, Min: 10, Cell: muted(func(t row) string { return t.Spec.UserAgent })},
			{Title: "ID", Wide: true, Cell: muted(trace.ID)},
		},
		Key:      func(t row) string { return t.Name },
		Severity: severity,
		Labels:   func(t row) map[string]string { return t.Labels },
		Tail:     true,
		Empty:    "no request has been traced yet",
	}
}

// severity leaves what has failed, was refused or was slow when only what is
// unhealthy is shown.
func severity(t row) vtable.Severity {
	switch {
	case trace.Token(t) == ink.Bad:
		return vtable.Unhealthy
	case trace.Troubled(t):
		return vtable.Unsure
	}
	return vtable.Healthy
}

// head is how much comes, above the table.
func head(frame data.Frame, paper ink.Paper) []ink.Line {
	if len(frame.Series) == 0 || paper.Height < 8 {
		return nil
	}
	last := frame.Series[len(frame.Series)-1]
	requests := make([]float64, len(frame.Series))
	for i, sample := range frame.Series {
		requests[i] = sample.Requests
	}
	line := ink.Line{ink.T(ink.Accent, fmt.Sprintf("%.1f/s ", last.Requests))}
	line = append(line, chart.Spark(paper, ink.Series1, requests, min(40, paper.Width/4), 1)...)
	if last.P99 > 0 {
		line = append(line, ink.T(ink.Muted, "  p99 "), ink.T(ink.Text, kit.Took(last.P99)))
	}
	failed := ink.T(ink.Muted, "  failed 0/s")
	if last.Failed > 0 {
		failed = ink.T(ink.Bad, fmt.Sprintf("  %s failed %.1f/s", paper.Glyphs.Bad, last.Failed))
	}
	return []ink.Line{append(line, failed)}
}

func subject(env page.Env, t row) page.Subject {
	command := env.Command
	if command == "" {
		command = "kapi"
	}
	return page.Subject{
		Kind: "request", Name: trace.ID(t), Inspect: "requesttraces", Object: t,
		Path: "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/requesttraces/" + t.Name,
		Commands: []string{
			command + " inspect request " + page.Quote(trace.ID(t)),
			"kubectl get requesttrace " + page.Quote(t.Name) + " -o yaml",
		},
	}
}
