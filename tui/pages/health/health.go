// Package health is the page of health checks: each check of livez, readyz and
// healthz, and of one that fails the reason that those endpoints withhold. It may
// import kit, sheet, the contract, data, the components and what is joined.
package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// Name is the page's in the table of pages.
const Name = "health"

// feed is what the page shows.
var feed = data.Of("healthchecks")

// row is a check on one line.
type row struct {
	*v1alpha1.HealthCheck
	gaps sheet.Gaps
}

// severity is how bad the outcome is, word what it is called.
func (r row) severity() joined.Severity {
	switch r.Status.State {
	case v1alpha1.HealthFailed:
		return joined.Bad
	case v1alpha1.HealthOK:
		return joined.OK
	default:
		return joined.Warning
	}
}

func (r row) word() string {
	switch r.Status.State {
	case v1alpha1.HealthFailed:
		return "failed"
	case v1alpha1.HealthOK:
		return "ok"
	default:
		return "unknown"
	}
}

// New returns the list, or the detail of one check.
func New(env page.Env, at page.Location) (page.Page, error) {
	if at.Name != "" {
		return detail(env, at.Name), nil
	}
	signs := &sheet.Signs{}
	return sheet.NewList(signs, nil, kit.ListConfig[row]{
		Title: "health",
		Needs: []data.Key{feed},
		Rows:  rows,
		Table: vtable.Config[row]{
			Columns:  columns(signs),
			Key:      func(r row) string { return r.Name },
			Severity: func(r row) vtable.Severity { return kit.Severity(r.severity()) },
			Empty:    "There are no health checks.",
		},
		Subject: func(r row) page.Subject { return subject(env, r.HealthCheck) },
		Open:    func(r row) page.Location { return page.At(Name, r.Name) },
		Detail: func(r row, frame data.Frame) doc.Render {
			return func(paper ink.Paper) []doc.Line { return lines(r, frame, paper) }
		},
		Head:   head,
		Filter: at.Get("filter"),
	}), nil
}

// rows are the checks, those that fail first.
func rows(frame data.Frame) []row {
	gaps := sheet.GapsOf(frame.View(feed))
	checks := data.Objects[*v1alpha1.HealthCheck](frame, feed)
	rows := make([]row, 0, len(checks))
	for _, check := range checks {
		rows = append(rows, row{check, gaps})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.severity(), a.severity()) })
	return rows
}

func columns(signs *sheet.Signs) []vtable.Column[row] {
	return []vtable.Column[row]{
		{Title: "CHECK", Keep: true, Middle: true, Min: 42, Cell: func(r row, _ time.Time) ink.Span {
			return ink.T(ink.Text, strings.TrimPrefix(check(r.HealthCheck), hookPrefix))
		}},
		{Title: "STATE", Keep: true, Min: 9, Cell: func(r row, _ time.Time) ink.Span { return signs.Mark(r.severity(), r.word()) },
			Compare: func(a, b row) int { return cmp.Compare(b.severity(), a.severity()) }},
		{Title: "SINCE", Right: true, Cell: func(r row, now time.Time) ink.Span {
			return r.gaps.Cell("Since", ink.T(ink.Text, kit.Ago(since(r.HealthCheck), now)))
		}, Compare: func(a, b row) int { return since(b.HealthCheck).Compare(since(a.HealthCheck)) }},
		{Title: "LAST-ERROR", Min: 32, Grow: 1, Cell: lastError},
		{Title: "KIND", Min: 6, Cell: kind},
		{Title: "TOOK", Right: true, Cell: func(r row, _ time.Time) ink.Span {
			return r.gaps.Cell("Duration", ink.T(ink.Text, kinds.Took(r.Status.Duration)))
		}, Compare: func(a, b row) int { return cmp.Compare(a.Status.Duration.Duration, b.Status.Duration.Duration) }},
		{Title: "ENDPOINTS", Min: 12, Cell: func(r row, _ time.Time) ink.Span { return ink.T(ink.Muted, strings.Join(r.Spec.Endpoints, " ")) }},
		{Title: "ERROR-AGO", Right: true, Wide: true, Cell: func(r row, now time.Time) ink.Span {
			return sheet.Or(ink.Text, kit.Ago(failedAt(r.HealthCheck), now))
		}, Compare: func(a, b row) int { return failedAt(b.HealthCheck).Compare(failedAt(a.HealthCheck)) }},
	}
}

// kind is what a check is of: the names of those of post-start hooks are shown without
// what they all begin with.
func kind(r row, _ time.Time) ink.Span {
	if strings.HasPrefix(check(r.HealthCheck), hookPrefix) {
		return ink.T(ink.Muted, "hook")
	}
	return ink.T(ink.Muted, "server")
}

func lastError(r row, _ time.Time) ink.Span {
	token := ink.Muted // an old one
	if r.severity() != joined.OK {
		token = ink.Bad
	}
	return r.gaps.Cell("Last-Error", ink.T(token, r.Status.LastError))
}

// check is the name that the endpoints give a check.
func check(c *v1alpha1.HealthCheck) string { return cmp.Or(c.Spec.Check, c.Name) }

func since(c *v1alpha1.HealthCheck) time.Time {
	if c.Status.Since == nil {
		return time.Time{}
	}
	return c.Status.Since.Time
}

func failedAt(c *v1alpha1.HealthCheck) time.Time {
	if c.Status.LastErrorAt == nil {
		return time.Time{}
	}
	return c.Status.LastErrorAt.Time
}

// endpoints are those that checks are part of, in the order in which they matter.
var endpoints = []string{"readyz", "livez", "healthz"}

// head says of each endpoint what it answers.
func head(frame data.Frame, paper ink.Paper) []ink.Line {
	checks := data.Objects[*v1alpha1.HealthCheck](frame, feed)
	var line ink.Line
	for _, endpoint := range endpoints {
		var all, failed, unknown int
		for _, c := range checks {
			if !slices.Contains(c.Spec.Endpoints, endpoint) {
				continue
			}
			all++
			switch c.Status.State {
			case v1alpha1.HealthFailed:
				failed++
			case v1alpha1.HealthOK:
			default:
				unknown++
			}
		}
		if all == 0 {
			continue
		}
		if len(line) > 0 {
			line = append(line, ink.T(ink.Muted, "   "))
		}
		mark := kit.Mark(paper.Glyphs, joined.OK, "ok")
		switch {
		case failed > 0:
			mark = kit.Mark(paper.Glyphs, joined.Bad, fmt.Sprintf("%d of %d fail", failed, all))
		case unknown > 0:
			mark = kit.Mark(paper.Glyphs, joined.Warning, fmt.Sprintf("%d of %d unknown", unknown, all))
		}
		line = append(line, ink.T(ink.Name, endpoint+" "), mark)
	}
	if len(line) == 0 {
		return nil
	}
	return []ink.Line{line, nil}
}

func subject(env page.Env, c *v1alpha1.HealthCheck) page.Subject {
	subject := page.Subject{
		Kind: "health check", Name: c.Name, Inspect: "healthchecks", Object: c,
		Path:     "/apis/inspect.kapi.dev/v1alpha1/healthchecks/" + c.Name,
		Commands: []string{cmp.Or(env.Command, "kapi") + " inspect health " + c.Name},
	}
	for _, endpoint := range c.Spec.Endpoints {
		subject.Commands = append(subject.Commands, "kubectl get --raw '/"+endpoint+"/"+check(c)+"'")
	}
	return subject
}
