package health

import (
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// detail is the page of one check.
func detail(env page.Env, name string) page.Page {
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: []data.Key{feed, data.Of("poststarthooks")},
		Gone:  "there is no health check " + name,
		Render: func(frame data.Frame) doc.Render {
			check, ok := data.Find[*v1alpha1.HealthCheck](frame, feed, name)
			if !ok {
				return nil
			}
			r := row{check, sheet.GapsOf(frame.View(feed))}
			return func(paper ink.Paper) []doc.Line { return lines(r, frame, paper) }
		},
		Subject: func(frame data.Frame) (page.Subject, bool) {
			check, ok := data.Find[*v1alpha1.HealthCheck](frame, feed, name)
			if !ok {
				return page.Subject{}, false
			}
			return subject(env, check), true
		},
	})
}

// lines are everything about one check.
func lines(r row, frame data.Frame, paper ink.Paper) []doc.Line {
	state := joined.State{Word: r.word(), Severity: r.severity(), Since: since(r.HealthCheck)}
	if r.severity() != joined.OK {
		state.Why = r.Status.LastError
	}
	lines := sheet.State(paper, check(r.HealthCheck), state, frame.Now)
	lines = sheet.Hint(lines, paper, hint(r))
	switch hook := hookOf(r.HealthCheck); {
	case strings.HasPrefix(check(r.HealthCheck), "etcd"):
		lines = sheet.Section(lines, "Go to")
		lines = sheet.Link(lines, paper, "store", ink.T(ink.Value, "its members, sizes and alarms"), page.At("etcd", ""))
	case hook != "":
		lines = sheet.Section(lines, "Go to")
		value := ink.T(ink.Value, hook)
		if h, ok := data.Find[*v1alpha1.PostStartHook](frame, data.Of("poststarthooks"), hook); ok {
			value.Text += ", " + strings.ToLower(string(h.Status.State))
		}
		lines = sheet.Link(lines, paper, "post-start hook", value, page.At("hooks", hook))
	}
	lines = sheet.Section(lines, "What it is")
	fact := func(label, value string) {
		lines = kit.Fact(lines, paper, label, ink.L(ink.Text, value))
	}
	fact("part of", strings.Join(r.Spec.Endpoints, ", "))
	if !r.gaps["Duration"] {
		fact("took", kinds.Took(r.Status.Duration)+", when it was last made")
	}
	fact("since", sheet.At(since(r.HealthCheck), frame.Now))
	if r.severity() == joined.OK && r.Status.LastError != "" {
		lines = sheet.Section(lines, "When it last failed")
		fact("at", sheet.At(failedAt(r.HealthCheck), frame.Now))
		lines = sheet.Para(lines, paper, 1, ink.Muted, r.Status.LastError)
	}
	return lines
}

// hookPrefix is how checks of post-start hooks begin.
const hookPrefix = "poststarthook/"

// hookOf is the name of the hook that a check waits for; empty for others.
func hookOf(c *v1alpha1.HealthCheck) string {
	name, ok := strings.CutPrefix(check(c), hookPrefix)
	if !ok {
		return ""
	}
	return strings.ReplaceAll(name, "/", "-")
}

// hint says where to look on.
func hint(r row) string {
	switch {
	case r.severity() == joined.OK:
		return ""
	case r.severity() == joined.Warning:
		return "A check is made only when somebody asks for its endpoint: kubectl get --raw '/readyz?verbose'"
	case hookOf(r.HealthCheck) != "":
		return "The server is not ready until the hook has ended. Its page shows where it is."
	case strings.HasPrefix(check(r.HealthCheck), "etcd"):
		return "See whether the store answers, and whether it has raised an alarm."
	case check(r.HealthCheck) == "informer-sync":
		return "An informer has not got its first list yet. The reason above names those that are missing."
	case check(r.HealthCheck) == "shutdown":
		return "The server is shutting down: no new requests should reach it."
	}
	return ""
}
