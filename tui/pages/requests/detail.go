package requests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

// newDetail is the page of one request. "last" is the newest at the time that it is
// opened: what one reads does not change into another.
func newDetail(env page.Env, id string) page.Page {
	var found *v1alpha1.RequestTrace
	kept := true
	return kit.NewText(kit.TextConfig{
		Title: short(id),
		Needs: []data.Key{trace.Feed},
		Render: func(frame data.Frame) doc.Render {
			var newest *v1alpha1.RequestTrace
			newest, kept = trace.Find(frame, id)
			if kept {
				found, id = newest, trace.ID(newest)
			}
			if found == nil {
				return nil
			}
			shown, gone := found, !kept
			return func(paper ink.Paper) []doc.Line { return Lines(paper, shown, gone) }
		},
		Gone: "no request of this ID is kept: it is too long ago, or was never traced",
		Subject: func(data.Frame) (page.Subject, bool) {
			if found == nil {
				return page.Subject{}, false
			}
			return subject(env, found), true
		},
		Extra: map[page.ActionID]func(data.Frame) page.Effect{
			page.Requests: func(data.Frame) page.Effect {
				if found == nil || trace.UserName(found) == "" {
					return page.Effect{}
				}
				return page.Effect{Open: page.At("requests", "", "filter", Quoted("user", trace.UserName(found)))}
			},
		},
	})
}

// short is as much of an ID as tells one request from others.
func short(id string) string {
	first, _, _ := strings.Cut(id, "-")
	if len(first) < 8 {
		return id
	}
	return first
}

// Lines are everything about one request; gone says that the server no longer has it.
func Lines(paper ink.Paper, t *v1alpha1.RequestTrace, gone bool) []doc.Line {
	lines := verdict(paper, t, gone)
	lines = append(lines, way(paper, t)...)
	lines = kit.Section(lines, "Request")
	for _, fact := range facts(paper, t) {
		before := len(lines)
		lines = kit.Fact(lines, paper, fact.label, ink.L(fact.token, fact.value))
		for i := before; i < len(lines); i++ {
			lines[i].Open = fact.open
		}
	}
	return lines
}

// verdict is how it ended, why, and what to look at next.
func verdict(paper ink.Paper, t *v1alpha1.RequestTrace, gone bool) []doc.Line {
	asked := strings.ToUpper(t.Spec.Verb) + " " + trace.Path(t)
	lines := []doc.Line{{Line: ink.L(ink.Title, asked), Key: "asked", Copy: trace.Path(t)}}
	said := trace.Verdict(t)
	if why := trace.Why(t); why != "" {
		said += ": " + why
	}
	for i, line := range paper.Wrap(trace.Token(t), said, max(1, paper.Width-4)) {
		sign := "  "
		if i == 0 {
			sign = trace.Glyph(paper.Glyphs, t) + " "
		}
		lines = append(lines, doc.Line{
			Line: append(ink.Line{ink.T(trace.Token(t), sign)}, line...),
			Key:  fmt.Sprint("verdict ", i), Open: trace.EndedAt(t.Status.TerminatedBy), Copy: said,
		})
	}
	if gone {
		lines = append(lines, doc.Line{Line: ink.L(ink.Muted, paper.Glyphs.Off+" the server no longer keeps this request; this is what it was"), Key: "gone"})
	}
	for _, step := range trace.Next(t) {
		lines = append(lines, doc.Line{
			Line: ink.Line{ink.T(ink.Key, "  "+paper.Glyphs.Arrow+" "), ink.T(ink.Text, step.Text)}, Key: "next " + step.Text, Open: step.Open,
		})
	}
	return lines
}

// folds is the room for what a document says of folded lines.
const folds = len(" ... 99 lines")

// way is the waterfall. Filters that took nothing are one line, until it is unfolded.
func way(paper ink.Paper, t *v1alpha1.RequestTrace) []doc.Line {
	lines := kit.Section([]doc.Line{{}}, "Way")[1:]
	j := newJourney(t)
	stops := j.stops(paper.Glyphs)
	if len(stops) == 0 {
		return append(lines, doc.Line{Level: 1, Line: ink.L(ink.Muted, "  nothing is known of its way through filters and layers")})
	}
	lines = kit.Fact(lines, paper, "most time in", ink.L(ink.Text, most(j, stops)))
	groups := grouped(stops)
	var stretches []chart.Stretch
	for _, group := range groups {
		stretches = append(stretches, group.stretch)
		for _, inner := range group.inner {
			stretches = append(stretches, inner.stretch)
		}
	}
	drawn := chart.Timeline(paper, stretches, j.total, max(0, paper.Width-2-folds), 0)
	next := func() ink.Line {
		if len(drawn) == 0 {
			return nil
		}
		line := drawn[0]
		drawn = drawn[1:]
		return append(ink.Line{ink.T(ink.Text, "  ")}, line...)
	}
	lines = append(lines, doc.Line{Level: 1, Key: "axis", Line: next()})
	for i, group := range groups {
		lines = append(lines, doc.Line{
			Level: 1, Key: fmt.Sprint("stop ", i, group.name), Line: next(), Open: group.open, Folded: len(group.inner) > 0, Copy: group.name,
		})
		for n, inner := range group.inner {
			lines = append(lines, doc.Line{
				Level: 2, Key: fmt.Sprint("stop ", i, n, inner.name), Line: next(), Open: inner.open, Copy: inner.name,
			})
		}
	}
	return lines
}

// most says which three took most of the time.
func most(j journey, stops []stop) string {
	sorted := slices.SortedStableFunc(slices.Values(stops), func(a, b stop) int { return cmp.Compare(b.own, a.own) })
	var parts []string
	for _, s := range sorted {
		if s.waited || len(parts) == 3 {
			continue
		}
		part := s.name + " " + kit.Took(s.own)
		if j.total > 0 {
			part += " (" + text.Percent(float64(s.own)/float64(j.total)) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// group is a stop, or several that took nothing.
type group struct {
	stop
	inner []stop
}

// grouped puts neighbours that took nothing together.
func grouped(stops []stop) []group {
	var groups []group
	for i := 0; i < len(stops); {
		j := i
		for j < len(stops) && stops[j].nothing {
			j++
		}
		if j-i < 2 {
			groups = append(groups, group{stop: stops[i]})
			i++
			continue
		}
		inner := stops[i:j]
		g := group{stop: stop{name: fmt.Sprintf("%d filters", len(inner))}, inner: inner}
		for _, s := range inner {
			g.own += s.own
		}
		first, last := inner[0].stretch, inner[len(inner)-1].stretch
		g.stretch = chart.Stretch{
			Label: ink.L(ink.Muted, g.name), Note: ink.L(ink.Muted, kit.Took(g.own)), Token: ink.Muted,
			From: first.From, Took: first.Took,
			Own: []chart.Own{{Token: ink.Series1, From: first.From, Took: max(0, last.From+last.Own[0].Took-first.From)}},
		}
		groups, i = append(groups, g), j
	}
	return groups
}

// fact is a line of the facts, and where it leads.
type fact struct {
	label, value string
	token        ink.Token
	open         page.Location
}

func facts(paper ink.Paper, t *v1alpha1.RequestTrace) []fact {
	spec, status := &t.Spec, &t.Status
	user := fact{label: "user", value: trace.User(t)}
	if name := trace.UserName(t); name != "" {
		user.open = page.At("requests", "", "filter", Quoted("user", name))
	}
	all := []fact{
		{label: "ended by", value: trace.Ended(status.TerminatedBy), token: trace.Token(t), open: trace.EndedAt(status.TerminatedBy)},
		user,
		{label: "groups", value: groupNames(spec.User)},
		{label: "understood as", value: trace.Understood(spec.RequestInfo), open: resource(spec.RequestInfo)},
		{label: "priority level", value: status.PriorityLevel, open: page.At("flow", status.PriorityLevel)},
		{label: "flow schema", value: status.FlowSchema},
		{label: "client", value: spec.UserAgent},
		{label: "from", value: strings.Trim(spec.SourceIP+" over "+spec.Protocol, " ")},
		{label: "received", value: received(paper, t)},
		{label: "bytes", value: kinds.Size(status.BytesRead) + " read, " + kinds.Size(status.BytesWritten) + " written"},
		{label: "marks", value: marks(t)},
		{label: "audit ID", value: spec.AuditID},
		{label: "dry run", value: "who decides, by which rule, where it goes", token: ink.Muted, open: trace.Route(t)},
	}
	if to := status.ProxiedTo; to != nil {
		where := to.Address
		if where == "" {
			where = "no address was found"
		}
		proxied := fact{label: "proxied to", value: where + ", for APIService " + to.APIService, open: page.At("apiservices", to.APIService)}
		all = slices.Insert(all, 1, proxied)
	}
	return all
}

func groupNames(user *v1alpha1.RequestUser) string {
	if user == nil {
		return ""
	}
	return strings.Join(user.Groups, ", ")
}

// resource is the page of the object that was asked for, or of the list.
func resource(info *v1alpha1.RequestInfo) page.Location {
	if info == nil || !info.IsResourceRequest || info.Resource == "" {
		return page.Location{}
	}
	name := info.Resource
	if info.APIGroup != "" {
		name += "." + info.APIGroup
	}
	if info.Name != "" && info.Verb != "create" {
		name += "/" + info.Name
	}
	return page.At("object", name, "version", info.APIVersion, "namespace", info.Namespace)
}

func received(paper ink.Paper, t *v1alpha1.RequestTrace) string {
	at := t.Status.ReceivedAt.Time
	if at.IsZero() {
		return ""
	}
	return at.In(paper.Now.Location()).Format("2006-01-02 15:04:05.000 MST") + ", " + kit.Ago(at, paper.Now) + " ago"
}

func marks(t *v1alpha1.RequestTrace) string {
	var set []string
	for _, mark := range []struct {
		on   bool
		name string
	}{
		{t.Spec.LongRunning, "long-running"},
		{t.Status.Slow, "slow"},
		{t.Status.Failed, "failed"},
		{t.Status.Panicked, "panicked"},
		{t.Status.Upgraded, "upgraded"},
	} {
		if mark.on {
			set = append(set, mark.name)
		}
	}
	return strings.Join(set, ", ")
}
