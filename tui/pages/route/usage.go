package route

import (
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// example is a dry run to begin with.
type example struct {
	spec v1alpha1.RouteExplanationSpec
	why  string
}

func examples() []example {
	return []example{
		{v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/apis/apps/v1/deployments"}, "who answers for deployments, and why you may see them"},
		{v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/api/v1/namespaces/default/secrets", User: "alice"}, "may alice read secrets, and who says so"},
		{v1alpha1.RouteExplanationSpec{Verb: "delete", Path: "/api/v1/namespaces/default/pods/web", User: "alice", Groups: []string{"dev"}}, "what a change would come through, without making it"},
		{v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/readyz"}, "a path that is no resource"},
	}
}

// newUsage is the page that says how a dry run is asked for.
func newUsage(page.Env) page.Page {
	usage := kit.NewText(kit.TextConfig{Title: "route", Render: func(data.Frame) doc.Render { return usageText }})
	usage.Update(data.Frame{})
	return usage
}

func usageText(paper ink.Paper) []doc.Line {
	var lines []doc.Line
	lines = wrapped(lines, paper, ink.Text, "What would happen to a request, without sending it: who it would be from, which filters it would come through and where it would end, what the authorizers would say and why, which layer would answer, and where in etcd it leads.", page.Location{})
	lines = append(lines, doc.Line{}, doc.Line{Line: ink.Line{ink.T(ink.Text, "  "), ink.T(ink.Accent, ":route VERB PATH [--as USER] [--as-group GROUP]")}}, doc.Line{})
	lines = wrapped(lines, paper, ink.Text, "VERB is a method (GET) or a verb (list); PATH is the URL's path, with a query if it matters.", page.Location{})
	lines = append(lines, doc.Line{}, doc.Line{Line: ink.L(ink.Heading, "For example")})
	for _, e := range examples() {
		at := page.At("route", "", "verb", e.spec.Verb, "path", e.spec.Path, "user", e.spec.User)
		for _, group := range e.spec.Groups {
			at.Query.Add("groups", group)
		}
		lines = append(lines,
			doc.Line{Level: 1, Open: at, Line: ink.Line{ink.T(ink.Text, "  "), ink.T(ink.Accent, ":route "+typed(e.spec))}},
			doc.Line{Level: 1, Line: ink.L(ink.Muted, "      "+e.why)})
	}
	return lines
}
