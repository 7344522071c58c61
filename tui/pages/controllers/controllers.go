// Package controllers is the page of the controllers that run inside the server. It
// may import kit, sheet, the contract, data, the components and what is joined.
package controllers

import (
	"cmp"
	"slices"
	"strconv"
	"time"

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
const Name = "controllers"

// feed is what the page shows.
var feed = data.Of("controllers")

type controller = *v1alpha1.Controller

// New returns the list, or the detail of one controller.
func New(env page.Env, at page.Location) (page.Page, error) {
	if at.Name != "" {
		return detail(env, at.Name), nil
	}
	signs := &sheet.Signs{}
	return sheet.NewList(signs, nil, kit.ListConfig[controller]{
		Title: "controllers",
		Needs: []data.Key{feed},
		Rows:  rows,
		Table: vtable.Config[controller]{
			Columns:  columns(signs),
			Key:      func(c controller) string { return c.Name },
			Severity: func(c controller) vtable.Severity { return kit.Severity(severity(c)) },
			Empty:    "No controllers run in this server: this version of kapi has none of its own.\nThose of the layers start with post-start hooks; the page hooks has them.",
		},
		Subject: func(c controller) page.Subject { return subject(env, c) },
		Open:    func(c controller) page.Location { return page.At(Name, c.Name) },
		Detail: func(c controller, _ data.Frame) doc.Render {
			return func(paper ink.Paper) []doc.Line { return lines(c, paper) }
		},
		Filter: at.Get("filter"),
	}), nil
}

// rows are the controllers, those that are not healthy first and those that are off last.
func rows(frame data.Frame) []controller {
	all := data.Objects[controller](frame, feed)
	slices.SortStableFunc(all, func(a, b controller) int {
		return cmp.Or(cmp.Compare(severity(b), severity(a)), cmp.Compare(off(a), off(b)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

func off(c controller) int {
	if c.Spec.Enabled {
		return 0
	}
	return 1
}

// severity is how bad the Healthy condition is.
func severity(c controller) joined.Severity {
	for _, condition := range c.Status.Conditions {
		if condition.Type == v1alpha1.ConditionHealthy && condition.Status != "True" && c.Spec.Enabled {
			return joined.Bad
		}
	}
	return joined.OK
}

// state is what a controller does, in a glyph and words.
func state(c controller, mark func(joined.Severity, string) ink.Span, isOff func(string) ink.Span) ink.Span {
	switch {
	case !c.Spec.Enabled:
		return isOff("off")
	case severity(c) != joined.OK:
		return mark(joined.Bad, "stuck")
	case !c.Status.Leader:
		return isOff("standby")
	}
	return mark(joined.OK, "runs")
}

func columns(signs *sheet.Signs) []vtable.Column[controller] {
	number := func(value func(controller) int64) func(controller, time.Time) ink.Span {
		return func(c controller, _ time.Time) ink.Span {
			if value(c) == 0 {
				return ink.T(ink.Muted, "0")
			}
			return ink.T(ink.Text, strconv.FormatInt(value(c), 10))
		}
	}
	queue := func(c controller) int64 { return c.Status.QueueDepth }
	retries := func(c controller) int64 { return c.Status.Retries }
	return []vtable.Column[controller]{
		{Title: "NAME", Keep: true, Middle: true, Min: 20, Cell: func(c controller, _ time.Time) ink.Span {
			if !c.Spec.Enabled {
				return ink.T(ink.Muted, c.Name)
			}
			return ink.T(ink.Text, c.Name)
		}},
		{Title: "STATE", Keep: true, Min: 9, Cell: func(c controller, _ time.Time) ink.Span { return state(c, signs.Mark, signs.Off) }},
		{Title: "QUEUE", Right: true, Cell: number(queue), Compare: func(a, b controller) int { return cmp.Compare(queue(a), queue(b)) }},
		{Title: "RETRIES", Right: true, Cell: number(retries), Compare: func(a, b controller) int { return cmp.Compare(retries(a), retries(b)) }},
		{Title: "LAST-ERROR", Min: 16, Grow: 1, Cell: func(c controller, _ time.Time) ink.Span { return sheet.Or(ink.Bad, c.Status.LastError) }},
	}
}

// detail is the page of one controller.
func detail(env page.Env, name string) page.Page {
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: []data.Key{feed},
		Gone:  "no controller " + name + " runs in this server",
		Render: func(frame data.Frame) doc.Render {
			c, ok := data.Find[controller](frame, feed, name)
			if !ok {
				return nil
			}
			return func(paper ink.Paper) []doc.Line { return lines(c, paper) }
		},
		Subject: func(frame data.Frame) (page.Subject, bool) {
			c, ok := data.Find[controller](frame, feed, name)
			if !ok {
				return page.Subject{}, false
			}
			return subject(env, c), true
		},
	})
}

// lines are everything about one controller.
func lines(c controller, paper ink.Paper) []doc.Line {
	signs := &sheet.Signs{}
	signs.On(paper)
	lines := []doc.Line{{Key: "state", Copy: c.Name, Line: ink.Line{
		state(c, signs.Mark, signs.Off), ink.T(ink.Text, "  "), ink.T(ink.Title, c.Name),
	}}}
	lines = sheet.Para(lines, paper, 0, ink.Text, c.Spec.Doc)
	if c.Status.LastError != "" {
		lines = sheet.Para(sheet.Section(lines, "Last error"), paper, 1, ink.Bad, c.Status.LastError)
	}
	lines = sheet.Section(lines, "What it does")
	lines = kit.Fact(lines, paper, "queue", ink.L(ink.Text, strconv.FormatInt(c.Status.QueueDepth, 10)+" keys wait"))
	lines = kit.Fact(lines, paper, "retries", ink.L(ink.Text, strconv.FormatInt(c.Status.Retries, 10)))
	for _, condition := range c.Status.Conditions {
		if condition.Message != "" {
			lines = kit.Fact(lines, paper, condition.Type, ink.L(ink.Text, condition.Message))
		}
	}
	return lines
}

func subject(env page.Env, c controller) page.Subject {
	return page.Subject{
		Kind: "controller", Name: c.Name, Inspect: "controllers", Object: c,
		Path:     "/apis/inspect.kapi.dev/v1alpha1/controllers/" + c.Name,
		Commands: []string{cmp.Or(env.Command, "kapi") + " inspect controllers " + c.Name},
	}
}
