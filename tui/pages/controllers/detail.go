package controllers

import (
	"fmt"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// detail is the page of one controller.
func detail(env page.Env, name string) page.Page {
	of := func(frame data.Frame) (controller, bool) { return data.Find[controller](frame, feed, name) }
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: []data.Key{feed},
		Gone:  "there is no controller " + name + " in this server",
		Render: func(frame data.Frame) doc.Render {
			c, ok := of(frame)
			if !ok {
				return nil
			}
			return func(paper ink.Paper) []doc.Line { return lines(c, paper, frame.Now) }
		},
		Subject: func(frame data.Frame) (page.Subject, bool) {
			c, ok := of(frame)
			if !ok {
				return page.Subject{}, false
			}
			return subject(env, c), true
		},
		Extra: map[page.ActionID]func(data.Frame) page.Effect{
			page.Requests: func(frame data.Frame) page.Effect {
				c, ok := of(frame)
				if !ok {
					return page.Effect{}
				}
				return page.Effect{Open: requestsOf(c)}
			},
		},
	})
}

// lines are everything about one controller: what is wrong, what it does, who it is.
func lines(c controller, paper ink.Paper, now time.Time) []doc.Line {
	signs := &sheet.Signs{}
	signs.On(paper)
	lines := []doc.Line{{Key: "state", Copy: c.Name, Line: ink.Line{
		state(c, signs), ink.T(ink.Text, "  "), ink.T(ink.Title, c.Name),
	}}}
	reason := kinds.ControllerWhy(c)
	if joined.ControllerSeverity(c) != joined.OK {
		lines = sheet.Para(lines, paper, 0, ink.Bad, reason)
	} else {
		lines = sheet.Para(lines, paper, 0, ink.Muted, reason)
	}
	if c.Status.LastError != "" && c.Status.LastError != reason {
		title := "Last error"
		if at := sheet.At(kinds.TimeOf(c.Status.LastErrorAt), now); at != "" {
			title += ", " + at
		}
		lines = sheet.Para(sheet.Section(lines, title), paper, 1, ink.Bad, c.Status.LastError)
	}
	lines = work(sheet.Section(lines, "What it does"), c, paper)
	lines = who(sheet.Section(lines, "Who it is"), c, paper, now)
	return sheet.Conditions(lines, paper, joined.ControllerConditions(c), now)
}

// work is what it is for, and how much of that there is.
func work(lines []doc.Line, c controller, paper ink.Paper) []doc.Line {
	lines = sheet.Para(lines, paper, 1, ink.Text, c.Spec.Doc)
	if idle(c) {
		return lines
	}
	waits := fmt.Sprintf("%d keys wait", c.Status.QueueDepth)
	switch c.Status.QueueDepth {
	case 0:
		waits = "nothing waits"
	case 1:
		waits = "1 key waits"
	}
	lines = kit.Fact(lines, paper, "queue", ink.L(ink.Text, waits))
	lines = kit.Fact(lines, paper, "retries", ink.L(ink.Text, fmt.Sprint(c.Status.Retries)))
	lines = kit.Fact(lines, paper, "errors", ink.L(ink.Text, fmt.Sprint(c.Status.Errors)))
	if len(c.Spec.Queues) > 0 {
		lines = kit.Fact(lines, paper, "its queues", ink.L(ink.Text, strings.Join(c.Spec.Queues, ", ")))
	}
	return lines
}

// who is the set, the identity, which leads to its requests, and where it runs.
func who(lines []doc.Line, c controller, paper ink.Paper, now time.Time) []doc.Line {
	fact := func(label, value string) {
		if value != "" {
			lines = kit.Fact(lines, paper, label, ink.L(ink.Text, value))
		}
	}
	fact("set", strings.Join(c.Spec.Sets, ", "))
	switch {
	case c.Spec.Identity == "":
	case idle(c):
		fact("acts as", c.Spec.Identity)
	default:
		lines = sheet.Link(lines, paper, "acts as", ink.T(ink.Value, c.Spec.Identity), requestsOf(c))
	}
	fact("runs in", kinds.ControllerHolder(c))
	fact("since", sheet.At(kinds.TimeOf(c.Status.StartedAt), now))
	return lines
}
