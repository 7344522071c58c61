package discovery

import (
	"strconv"
	"time"

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

// detail is the page of one group version.
func detail(env page.Env, name string) page.Page {
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: []data.Key{feed},
		Gone:  "discovery has no group version " + name,
		Render: func(frame data.Frame) doc.Render {
			state, ok := data.Find[*v1alpha1.DiscoveryState](frame, feed, name)
			if !ok {
				return nil
			}
			r := row{state, sheet.GapsOf(frame.View(feed))}
			return func(paper ink.Paper) []doc.Line { return lines(r, frame.Now, paper) }
		},
		Subject: func(frame data.Frame) (page.Subject, bool) {
			state, ok := data.Find[*v1alpha1.DiscoveryState](frame, feed, name)
			if !ok {
				return page.Subject{}, false
			}
			return subject(env, state), true
		},
	})
}

// lines are everything about one group version.
func lines(r row, now time.Time, paper ink.Paper) []doc.Line {
	lines := sheet.State(paper, r.groupVersion(), joined.State{Word: r.word(), Severity: r.severity(), Why: r.Status.Error}, now)
	lines = sheet.Hint(lines, paper, hint(r))
	lines = sheet.Section(lines, "Go to")
	service := r.Spec.Version + "." + r.Spec.Group
	lines = sheet.Link(lines, paper, "APIService", ink.T(ink.Value, service), page.At("apiservices", service))
	group := r.Spec.Group
	if group == "" {
		group = "core"
	}
	lines = sheet.Link(lines, paper, "resources", ink.T(ink.Value, strconv.Itoa(int(r.Status.Resources))+" listed"), page.At("groups", group))
	lines = sheet.Section(lines, "What it is")
	fact := func(label, value string) {
		lines = kit.Fact(lines, paper, label, ink.L(ink.Text, value))
	}
	if r.local() {
		fact("source", "this server")
	} else {
		fact("source", "the aggregated server behind Service "+r.Spec.Source)
	}
	fact("fetched", sheet.At(fetched(r.DiscoveryState), now))
	lines = document(sheet.Section(lines, "OpenAPI v3"), paper, r.Status.OpenAPIV3, now)
	if !r.gaps["V2"] {
		lines = document(sheet.Section(lines, "OpenAPI v2"), paper, r.Status.OpenAPIV2, now)
	}
	return lines
}

// document are the facts of an OpenAPI document.
func document(lines []doc.Line, paper ink.Paper, state v1alpha1.OpenAPIState, now time.Time) []doc.Line {
	fact := func(label, value string) {
		lines = kit.Fact(lines, paper, label, ink.L(ink.Text, value))
	}
	switch {
	case state.Error != "":
		fact("state", state.Error)
	case state.Listed:
		fact("state", "has it")
	default:
		fact("state", "does not have it")
	}
	if state.Bytes > 0 {
		fact("size", kinds.Size(state.Bytes)+" in JSON")
	}
	if state.Cost != nil {
		fact("cost", kinds.Took(*state.Cost)+" to get it")
	}
	if state.LastBuild != nil {
		fact("built", sheet.At(state.LastBuild.Time, now))
	}
	fact("hash", state.Hash)
	return lines
}

// hint says what to do where it is not current.
func hint(r row) string {
	switch {
	case r.severity() == joined.OK:
		return ""
	case !r.local():
		return "Mend the aggregated server: discovery follows by itself. The page of its APIService shows where the way to it breaks."
	}
	return "A layer of this server has not registered it yet, or its definition is not established."
}
