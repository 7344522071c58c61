// Package controllers is the page of the controllers inside the server. It may import
// kit, sheet, the contract, data, the components, the page of requests, and what is
// joined.
package controllers

import (
	"cmp"
	"slices"
	"strconv"
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
	"github.com/kapi-dev/kapi/tui/pages/requests"
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
			Severity: func(c controller) vtable.Severity { return kit.Severity(joined.ControllerSeverity(c)) },
			Empty:    "This server tells of no controllers.",
		},
		Subject: func(c controller) page.Subject { return subject(env, c) },
		Open:    func(c controller) page.Location { return page.At(Name, c.Name) },
		Detail: func(c controller, frame data.Frame) doc.Render {
			return func(paper ink.Paper) []doc.Line { return lines(c, paper, frame.Now) }
		},
		Extra: map[page.ActionID]func(controller) page.Effect{
			page.Requests: func(c controller) page.Effect { return page.Effect{Open: requestsOf(c)} },
		},
		Filter: at.Get("filter"),
	}), nil
}

// requestsOf is where its requests are shown; nowhere for one that makes none.
func requestsOf(c controller) page.Location {
	if c.Spec.Identity == "" {
		return page.Location{}
	}
	return page.At("requests", "", "filter", requests.Quoted("user", c.Spec.Identity))
}

// places are where a controller stands: what fails first, what is off last.
var places = map[string]int{
	kinds.ControllerFailed: 0, kinds.ControllerStuck: 1, kinds.ControllerStarting: 2, kinds.ControllerRunning: 3,
	kinds.ControllerStandby: 4, kinds.ControllerOff: 5,
}

// rows are the controllers in their places; in one of them the order is the server's.
func rows(frame data.Frame) []controller {
	all := data.Objects[controller](frame, feed)
	slices.SortStableFunc(all, func(a, b controller) int {
		return cmp.Compare(places[kinds.ControllerState(a)], places[kinds.ControllerState(b)])
	})
	return all
}

// idle tells of a controller that does nothing here, and should not.
func idle(c controller) bool {
	word := kinds.ControllerState(c)
	return word == kinds.ControllerOff || word == kinds.ControllerStandby
}

// state is what a controller does, in a glyph and a word.
func state(c controller, signs *sheet.Signs) ink.Span {
	switch word := kinds.ControllerState(c); word {
	case kinds.ControllerOff, kinds.ControllerStandby:
		return signs.Off(word)
	case kinds.ControllerStarting:
		return signs.Mark(joined.Warning, word)
	default:
		return signs.Mark(joined.ControllerSeverity(c), word)
	}
}

func columns(signs *sheet.Signs) []vtable.Column[controller] {
	number := func(title string, value func(controller) int64) vtable.Column[controller] {
		return vtable.Column[controller]{
			Title: title, Right: true, Compare: func(a, b controller) int { return cmp.Compare(value(a), value(b)) },
			Cell: func(c controller, _ time.Time) ink.Span {
				switch n := value(c); {
				case idle(c):
					return ink.Span{}
				case n == 0:
					return ink.T(ink.Muted, "0")
				default:
					return ink.T(ink.Text, strconv.FormatInt(n, 10))
				}
			},
		}
	}
	return []vtable.Column[controller]{
		{Title: "NAME", Keep: true, Middle: true, Min: 20, Cell: func(c controller, _ time.Time) ink.Span {
			if idle(c) {
				return ink.T(ink.Muted, c.Name)
			}
			return ink.T(ink.Text, c.Name)
		}},
		{Title: "STATE", Keep: true, Min: 9, Cell: func(c controller, _ time.Time) ink.Span { return state(c, signs) }},
		number("QUEUE", func(c controller) int64 { return c.Status.QueueDepth }),
		number("RETRIES", func(c controller) int64 { return c.Status.Retries }),
		number("ERRORS", func(c controller) int64 { return c.Status.Errors }),
		{Title: "WHY", Min: 16, Grow: 1, Cell: why},
	}
}

// why is what is wrong; where nothing is, the last error, or why it does not run.
func why(c controller, _ time.Time) ink.Span {
	switch {
	case joined.ControllerSeverity(c) != joined.OK:
		return sheet.Or(ink.Bad, kinds.ControllerWhy(c))
	case idle(c):
		return sheet.Or(ink.Muted, kinds.ControllerWhy(c))
	default:
		return sheet.Or(ink.Warning, c.Status.LastError)
	}
}

func subject(env page.Env, c controller) page.Subject {
	return page.Subject{
		Kind: "controller", Name: c.Name, Inspect: "controllers", Object: c,
		Path:     "/apis/inspect.kapi.dev/v1alpha1/controllers/" + c.Name,
		Commands: []string{cmp.Or(env.Command, "kapi") + " inspect controllers " + c.Name},
	}
}
