package dashboard

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/chain/rates"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/requests"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

// indent is the width of the labels before facts.
const indent = 10

// labelled is a line with a label before it.
func labelled(label string, value ...ink.Span) ink.Line {
	return append(ink.Line{ink.T(ink.Name, ink.Pad(label, indent))}, value...)
}

// left are the blocks that are read first.
func (f *facts) left(paper ink.Paper, expanded bool) []block {
	head := f.head(paper)
	return []block{
		{items: head, least: len(head), rank: 0},
		f.problems(paper, expanded),
		{items: f.traffic(paper), least: 1, rank: 2, apart: 1},
		f.chain(paper),
	}
}

// right are the blocks that stand beside them where the screen is wide, else below.
func (f *facts) right(paper ink.Paper) []block {
	return []block{
		{items: f.state(paper), least: 2, rank: 3, apart: 3},
		f.stored(paper),
		f.slow(paper),
		f.who(paper),
	}
}

// head says what the server is.
func (f *facts) head(paper ink.Paper) []item {
	about := f.overview.About
	line := ink.Line{f.verdict(paper), ink.T(ink.Text, "  ")}
	noun := string(about.Type)
	if about.Type == inspection.Foreign {
		noun = "API server"
	}
	said := strings.TrimSpace(noun + " " + about.KubernetesVersion)
	if f.overview.Uptime.Duration > 0 {
		up := ", up "
		if lost(f.frame.State) {
			up = ", was up "
		}
		said += up + duration.HumanDuration(f.overview.Uptime.Duration)
	}
	if about.Address != "" {
		said += ", " + about.Address
	}
	if about.RecordedFrom != "" {
		said += ", recorded in " + about.RecordedFrom
	}
	if about.Type == inspection.Foreign {
		said += ", not kapi: it shows less of itself"
	}
	items := []item{{line: append(line, ink.T(ink.Title, said))}}
	for _, cause := range kit.Lost(f.frame, paper) {
		items = append([]item{{line: cause[1:]}}, items...) // the page indents it
	}
	return items
}

// traffic is how much comes and how long it takes.
func (f *facts) traffic(paper ink.Paper) []item {
	rate, series := f.requests.String(), f.frame.Series
	var requests, p99 []float64
	var failed float64
	slow := ""
	for _, s := range series {
		requests, p99 = append(requests, s.Requests), append(p99, float64(s.P99))
	}
	if n := len(series); n > 0 {
		rate, failed = rates.PerSecond(series[n-1].Requests), series[n-1].Failed
		if series[n-1].P99 > 0 {
			slow = kit.Took(series[n-1].P99)
		}
	}
	layers := f.overview.Layers
	if rate == "" && len(layers) > 0 {
		rate = fmt.Sprintf("%d so far", layers[0].Received)
	}
	if rate == "" {
		return f.notShown("requests", partLayers)
	}
	const words, more = 48, 19 // what stands beside the figures, and of failures
	width := paper.Width - words
	if failed > 0 {
		width -= more
	}
	width = max(0, min(30, width/2))
	line := labelled("requests", ink.T(ink.Accent, ink.Pad(rate, 7)+" "))
	if len(series) > 1 && width > 0 {
		line = append(line, chart.Spark(paper, ink.Series1, requests, width, 1)...)
	}
	if slow != "" {
		line = append(line, ink.T(ink.Name, "  p99 "), ink.T(ink.Accent, ink.Pad(slow, 6)+" "))
		if width > 0 {
			line = append(line, chart.Spark(paper, ink.Series2, p99, width, 0)...)
		}
	}
	if failed > 0 {
		line = append(line, ink.T(ink.Bad, fmt.Sprintf("  %s failed %s", paper.Glyphs.Bad, rates.PerSecond(failed))))
	}
	if len(layers) > 0 {
		line = append(line, ink.T(ink.Muted, fmt.Sprintf("  %d in flight", layers[0].InFlight)))
	}
	return []item{{key: "requests", line: line, open: page.At("requests", "")}}
}

// chain is where requests end, outermost first.
func (f *facts) chain(paper ink.Paper) block {
	b := block{least: 1, rank: 4, apart: 6}
	if why := joined.Why(f.overview.Missing, partFilters); why != "" && len(f.ends) == 0 {
		b.items = f.notShown("chain", partFilters)
		return b
	}
	if len(f.ends) == 0 {
		b.items = []item{{key: "chain", open: page.At("chain", ""), line: labelled("chain", ink.T(ink.Muted, "no request has ended yet"))}}
		return b
	}
	label := "chain"
	for i, line := range rates.Strip(paper, f.ends, paper.Width-indent-3, 3) {
		b.short = append(b.short, item{key: fmt.Sprint("chain ", i), open: page.At("chain", ""), line: labelled(label, line...)})
		label = ""
	}
	label = "chain"
	for _, end := range f.ends {
		what := "filter"
		if end.Layer {
			what = "layer"
		}
		line := labelled(label,
			ink.T(ink.Muted, ink.Pad(what, 7)), ink.T(ink.Text, ink.Pad(paper.Clean(end.Name), 26)), ink.T(end.Token(), end.Text()))
		if end.Rate.Known {
			line = append(line, ink.T(ink.Muted, fmt.Sprintf("  %d so far", end.Total)))
		}
		if last := end.LastError; last != nil {
			line = append(line, ink.T(ink.Muted, fmt.Sprintf("  last %s %s ago", trace.ShortCode(last.Code), kit.Ago(last.At.Time, paper.Now))))
		}
		b.items = append(b.items, item{key: "end " + end.Name, open: end.Open(), line: line})
		label = ""
	}
	return b
}

// slow are the filters that work longest.
func (f *facts) slow(paper ink.Paper) block {
	b := block{least: 1, rank: 8, apart: 7}
	label := "slowest"
	one := labelled(label)
	for i, filter := range f.slowest[:min(3, len(f.slowest))] {
		took := kit.Took(filter.Status.In.P99.Duration)
		b.items = append(b.items, item{
			key: "slow " + filter.Name, open: page.At("chain", filter.Name),
			line: labelled(label, ink.T(ink.Text, ink.Pad(paper.Clean(filter.Name), 26)), ink.T(ink.Muted, "p99 "), ink.T(ink.Accent, ink.PadLeft(took, 7)),
				ink.T(ink.Muted, "  p50 "+ink.PadLeft(kit.Took(filter.Status.In.P50.Duration), 7))),
		})
		if i > 0 {
			one = append(one, ink.T(ink.Muted, " "+paper.Glyphs.Dot+" "))
		}
		one = append(one, ink.T(ink.Text, filter.Name+" "), ink.T(ink.Accent, took))
		label = ""
	}
	if len(b.items) > 0 {
		b.short = []item{{key: "slow", open: page.At("chain", f.slowest[0].Name), line: append(one, ink.T(ink.Muted, " p99"))}}
	}
	return b
}

// who are those who ask most.
func (f *facts) who(paper ink.Paper) block {
	b := block{least: 1, rank: 6, apart: 8}
	var whole int64
	for _, user := range f.users {
		whole += user.Requests
	}
	label := "most from"
	one := labelled(label)
	for i, user := range f.users[:min(3, len(f.users))] {
		share := text.Percent(float64(user.Requests) / float64(max(1, whole)))
		line := labelled(label)
		line = append(line, chart.Bar(paper, ink.Series1, float64(user.Requests), float64(max(1, whole)), 8)...)
		line = append(line, ink.T(ink.Accent, " "+ink.PadLeft(share, 4)), ink.T(ink.Text, "  "+user.Name))
		b.items = append(b.items, item{
			key: "user " + user.Name, open: page.At("requests", "", "filter", requests.Quoted("user", user.Name)), line: line,
		})
		if i > 0 {
			one = append(one, ink.T(ink.Muted, " "+paper.Glyphs.Dot+" "))
		}
		one = append(one, ink.T(ink.Text, paper.Glyphs.Shorten(paper.Clean(user.Name), max(8, paper.Width/4))+" "), ink.T(ink.Accent, share))
		label = ""
	}
	if len(b.items) > 0 {
		b.short = []item{{key: "users", open: page.At("flow", ""), line: one}}
	}
	return b
}

// lastErrors are the newest requests that failed or were refused.
func (f *facts) lastErrors(paper ink.Paper) block {
	b := block{least: 2, rank: 5, enough: 4, apart: 2}
	if joined.Why(f.overview.Missing, partTraces) != "" {
		b.items = f.notShown("errors", partTraces)
		return b
	}
	label := "errors"
	for _, t := range f.errors {
		line := trace.Line(paper.Sized(paper.Width-indent-2, paper.Height), t)
		b.items = append(b.items, item{
			key: "trace " + t.Name, open: trace.At(t), line: labelled(label, line...), command: "kapi inspect request " + trace.ID(t),
		})
		label = ""
	}
	if len(b.items) == 0 {
		b.items = []item{{
			key: "errors", open: page.At("requests", ""), line: labelled(label, ink.T(ink.Good, paper.Glyphs.Good+" none among the requests that are kept")),
		}}
	}
	return b
}

// notShown is a line for a part that can't be had, and why.
func (f *facts) notShown(label, part string) []item {
	why := joined.Why(f.overview.Missing, part)
	if why == "" {
		return nil
	}
	said := "not shown: " + why
	if why == loading {
		said = loading
	}
	return []item{{line: labelled(label, ink.T(ink.Muted, said))}}
}
