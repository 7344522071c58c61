package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/chain/rates"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/requests"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

func newDetail(env page.Env, name string) page.Page {
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: []data.Key{Feed, trace.Feed},
		Render: func(frame data.Frame) doc.Render {
			levels := rows(frame)
			i := slices.IndexFunc(levels, func(l level) bool { return l.Name == name })
			if i < 0 {
				return nil
			}
			return render(levels[i], frame)
		},
		Gone: "this server has no priority level of the name",
		Subject: func(frame data.Frame) (page.Subject, bool) {
			f, ok := data.Find[*v1alpha1.FlowState](frame, Feed, name)
			if !ok {
				return page.Subject{}, false
			}
			return subject(env, f), true
		},
		Extra: map[page.ActionID]func(data.Frame) page.Effect{
			page.Requests: func(data.Frame) page.Effect { return page.Effect{Open: requestsOf(name)} },
		},
	})
}

// refusedLast is how many refused requests stand in a detail.
const refusedLast = 8

// render is everything about a level.
func render(l level, frame data.Frame) doc.Render {
	refused := trace.Newest(frame, refusedLast, func(t *v1alpha1.RequestTrace) bool {
		return t.Status.PriorityLevel == l.Name && t.Status.Code == 429
	})
	return func(paper ink.Paper) []doc.Line {
		lines := []doc.Line{{Line: verdict(paper, l), Key: "verdict"}}
		lines = users(lines, paper, l)
		lines = schemas(lines, l)
		lines = traces(lines, paper, refused)
		lines = kit.Section(lines, "Level")
		for _, fact := range []struct{ label, value string }{
			{"seats in use", seats(l)},
			{"nominal", nominal(l)},
			{"running", strconv.FormatInt(l.Status.Executing, 10)},
			{"queued", queued(l)},
			{"let run", counted(l.Status.Dispatched, l.dispatched)},
			{"refused", counted(l.Status.Rejected, l.rejected)},
		} {
			lines = kit.Fact(lines, paper, fact.label, ink.L(ink.Text, fact.value))
		}
		lines = kit.Fact(lines, paper, "configured by", ink.L(ink.Text, "PriorityLevelConfiguration "+l.Name))
		lines[len(lines)-1].Open = page.At("object", "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/"+l.Name, "version", "v1")
		return lines
	}
}

// verdict is how the level does, in a sentence.
func verdict(paper ink.Paper, l level) ink.Line {
	word, bad := l.state()
	said := fmt.Sprintf(": %s seats in use, %d queued", seats(l), l.Status.Queued)
	switch {
	case l.rejected.PerSecond > 0:
		said += ", refuses " + l.rejected.String()
	case l.Status.Rejected > 0:
		said += fmt.Sprintf(", %d refused since the start", l.Status.Rejected)
	default:
		said += ", none refused since the start"
	}
	switch bad {
	case 2:
		return ink.Line{ink.T(ink.Bad, paper.Glyphs.Bad+" "+word), ink.T(ink.Text, said)}
	case 1:
		return ink.Line{ink.T(ink.Warning, paper.Glyphs.Warning+" "+word), ink.T(ink.Text, said)}
	}
	return ink.Line{ink.T(ink.Good, paper.Glyphs.Good+" "+word), ink.T(ink.Text, said)}
}

// users are who asks, the most first.
func users(lines []doc.Line, paper ink.Paper, l level) []doc.Line {
	lines = kit.Section(lines, "Who, among the requests that are kept")
	if len(l.Status.Users) == 0 {
		return append(lines, doc.Line{Level: 1, Key: "nobody", Line: ink.L(ink.Muted, "  nobody")})
	}
	sorted := slices.SortedStableFunc(slices.Values(l.Status.Users), func(a, b v1alpha1.FlowUser) int { return cmp.Compare(b.Requests, a.Requests) })
	var whole int64
	for _, user := range sorted {
		whole += user.Requests
	}
	for _, user := range sorted {
		line := ink.Line{ink.T(ink.Text, "  "+ink.PadLeft(strconv.FormatInt(user.Requests, 10), 7)+" ")}
		line = append(line, chart.Bar(paper, ink.Series1, float64(user.Requests), float64(max(1, whole)), 10)...)
		line = append(line,
			ink.T(ink.Muted, " "+ink.PadLeft(text.Percent(float64(user.Requests)/float64(max(1, whole))), 4)+"  "),
			ink.T(ink.Text, user.Name))
		lines = append(lines, doc.Line{
			Level: 1, Line: line, Key: "user " + user.Name, Copy: user.Name,
			Open: page.At("requests", "", "filter", requests.Quoted("user", user.Name)+" flow:"+l.Name),
		})
	}
	return lines
}

// schemas are the flow schemas that lead to the level, those that are used first.
func schemas(lines []doc.Line, l level) []doc.Line {
	flows := slices.Clone(l.Status.Flows)
	for _, name := range l.Spec.FlowSchemas {
		if !slices.ContainsFunc(flows, func(f v1alpha1.Flow) bool { return f.FlowSchema == name }) {
			flows = append(flows, v1alpha1.Flow{FlowSchema: name})
		}
	}
	if len(flows) == 0 {
		return lines
	}
	slices.SortStableFunc(flows, func(a, b v1alpha1.Flow) int {
		return cmp.Or(cmp.Compare(b.Rejected, a.Rejected), cmp.Compare(b.Queued, a.Queued), cmp.Compare(b.Dispatched, a.Dispatched))
	})
	lines = kit.Section(lines, "Flow schemas that lead to it")
	head := "  " + ink.PadLeft("running", 8) + ink.PadLeft("queued", 8) + ink.PadLeft("refused", 9) + ink.PadLeft("let run", 10)
	lines = append(lines, doc.Line{Level: 1, Key: "schemas", Line: ink.L(ink.Muted, head)})
	for _, f := range flows {
		number := func(n int64, width int, token ink.Token) ink.Span {
			if n == 0 {
				token = ink.Muted
			}
			return ink.T(token, ink.PadLeft(strconv.FormatInt(n, 10), width))
		}
		lines = append(lines, doc.Line{
			Level: 1, Key: "schema " + f.FlowSchema, Copy: f.FlowSchema,
			Open: page.At("object", "flowschemas.flowcontrol.apiserver.k8s.io/"+f.FlowSchema, "version", "v1"),
			Line: ink.Line{
				ink.T(ink.Text, "  "), number(f.Executing, 8, ink.Text), number(f.Queued, 8, ink.Warning),
				number(f.Rejected, 9, ink.Bad), number(f.Dispatched, 10, ink.Text), ink.T(ink.Text, "  "+f.FlowSchema),
			},
		})
	}
	return lines
}

func traces(lines []doc.Line, paper ink.Paper, refused []*v1alpha1.RequestTrace) []doc.Line {
	if len(refused) == 0 {
		return lines
	}
	lines = kit.Section(lines, "Requests that it refused last")
	for _, t := range refused {
		line := append(ink.Line{ink.T(ink.Text, "  ")}, trace.LineOf(paper.Sized(paper.Width-4, paper.Height), t)...)
		lines = append(lines, doc.Line{Level: 1, Line: line, Key: "trace " + t.Name, Open: trace.At(t), Copy: trace.ID(t)})
	}
	return lines
}

func nominal(l level) string {
	if l.exempt() {
		return "no limit: its requests are never queued or refused"
	}
	return fmt.Sprintf("%d seats, now %d with what it has borrowed or lent", l.Status.SeatsNominal, l.Status.SeatsLimit)
}

func queued(l level) string {
	switch {
	case l.exempt():
		return "never"
	case l.Spec.Queues == 0:
		return "never: it has no queues, what finds no seat is refused at once"
	}
	return fmt.Sprintf("%d, in %d queues", l.Status.Queued, l.Spec.Queues)
}

func counted(n int64, rate rates.Rate) string {
	said := strconv.FormatInt(n, 10) + " since the start"
	if rate.Known {
		said += ", now " + rate.String()
	}
	return said
}
