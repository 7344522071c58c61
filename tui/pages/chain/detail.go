package chain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/chain/rates"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

// lastRequests is how many requests stand in a detail.
const lastRequests = 12

func newFilter(env page.Env, name string) page.Page {
	find := func(frame data.Frame) (rates.Filter, bool) {
		for _, f := range rates.Filters(frame) {
			if f.Name == name {
				return f, true
			}
		}
		return rates.Filter{}, false
	}
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: []data.Key{rates.FilterFeed, trace.Feed},
		Render: func(frame data.Frame) doc.Render {
			f, ok := find(frame)
			if !ok {
				return nil
			}
			return filterRender(f, frame)
		},
		Gone: "this server has no filter of the name",
		Subject: func(frame data.Frame) (page.Subject, bool) {
			f, ok := find(frame)
			if !ok {
				return page.Subject{}, false
			}
			return filterSubject(env, f.Filter), true
		},
		Extra: map[page.ActionID]func(data.Frame) page.Effect{
			page.Requests: func(data.Frame) page.Effect { return page.Effect{Open: requestsOf(name)} },
		},
	})
}

// filterRender is everything about a filter.
func filterRender(f rates.Filter, frame data.Frame) doc.Render {
	all := rates.Filters(frame)
	ended := trace.Newest(frame, lastRequests, func(t *v1alpha1.RequestTrace) bool {
		by := t.Status.TerminatedBy
		return by.Kind == v1alpha1.EndedByFilter && by.Name == f.Name
	})
	traces := frame.View(trace.Feed)
	return func(paper ink.Paper) []doc.Line {
		lines := []doc.Line{{Line: filterVerdict(paper, f), Key: "verdict"}}
		for i, line := range paper.Wrap(ink.Text, f.Spec.Doc, max(1, min(100, paper.Width-4))) {
			lines = append(lines, doc.Line{Line: append(ink.Line{ink.T(ink.Text, "  ")}, line...), Key: fmt.Sprint("doc ", i), Copy: f.Spec.Doc})
		}
		if f.Spec.Enabled {
			lines = endedByCode(lines, paper, "Ended", f.Name, f.Status.Terminated, f.Status.Requests)
			lines = requestLines(lines, paper, "Requests that it ended last", ended, traces)
			lines = ownTime(lines, f.Status)
			lines = filterCounts(lines, paper, f)
		}
		return neighbours(lines, paper, f, all)
	}
}

// filterVerdict says whether it works, and what it has ended.
func filterVerdict(paper ink.Paper, f rates.Filter) ink.Line {
	if !f.Spec.Enabled {
		return ink.Line{ink.T(ink.Muted, paper.Glyphs.Off+" off"), ink.T(ink.Text, strings.TrimSuffix(": "+f.Spec.Reason, ": "))}
	}
	n := f.Ended()
	if n == 0 {
		return ink.Line{ink.T(ink.Good, paper.Glyphs.Good+" on"), ink.T(ink.Text, "; it has ended no request since the start")}
	}
	said := fmt.Sprintf("; it has ended %d of %d requests (%s) since the start", n, f.Status.Requests, text.Percent(f.Share()))
	if f.Ends.Known {
		said += ", now " + f.Ends.String()
	}
	switch filterSeverity(f) {
	case vtable.Unhealthy:
		return ink.Line{ink.T(ink.Bad, paper.Glyphs.Bad+" on, ends requests with a fault"), ink.T(ink.Text, said)}
	case vtable.Unsure:
		return ink.Line{ink.T(ink.Warning, paper.Glyphs.Warning+" on"), ink.T(ink.Text, said)}
	default:
		return ink.Line{ink.T(ink.Good, paper.Glyphs.Good+" on"), ink.T(ink.Text, said)}
	}
}

// endedByCode has a line for each code: how many, their share, and what it means.
func endedByCode(lines []doc.Line, paper ink.Paper, title, by string, counts []v1alpha1.StatusCount, whole int64) []doc.Line {
	if len(counts) == 0 {
		return lines
	}
	lines = kit.Section(lines, title)
	for _, count := range counts {
		share := 0.0
		if whole > 0 {
			share = float64(count.Count) / float64(whole)
		}
		token, sign := ink.Good, paper.Glyphs.Good
		switch {
		case count.Code >= 500 || count.Code == 0:
			token, sign = ink.Bad, paper.Glyphs.Bad
		case count.Code >= 400:
			token, sign = ink.Warning, paper.Glyphs.Warning
		}
		line := ink.Line{
			ink.T(ink.Text, "  "), ink.T(token, sign+" "+trace.Code(count.Code)),
			ink.T(ink.Text, ink.Pad("", 26-ink.Width(trace.Code(count.Code)))+ink.PadLeft(strconv.FormatInt(count.Count, 10), 9)+"  "),
		}
		line = append(line, chart.Bar(paper, token, float64(count.Count), float64(max(1, whole)), 12)...)
		line = append(line, ink.T(ink.Muted, " "+text.Percent(share)))
		lines = append(lines, doc.Line{
			Level: 1, Line: line, Key: fmt.Sprint("code ", count.Code),
			Open: page.At("requests", "", "filter", fmt.Sprintf("by:%s code:%s", by, trace.ShortCode(count.Code))),
		})
	}
	return lines
}

// requestLines are requests, each of which can be opened.
func requestLines(lines []doc.Line, paper ink.Paper, title string, found []*v1alpha1.RequestTrace, view data.View) []doc.Line {
	lines = kit.Section(lines, title)
	for _, t := range found {
		line := append(ink.Line{ink.T(ink.Text, "  ")}, trace.LineOf(paper.Sized(paper.Width-4, paper.Height), t)...)
		lines = append(lines, doc.Line{Level: 1, Line: line, Key: "trace " + t.Name, Open: trace.At(t), Copy: trace.ID(t)})
	}
	if len(found) > 0 {
		return lines
	}
	said := "none of the requests that are kept"
	if reason := kit.Reason(view, paper); view.State != data.Live && len(reason) > 0 {
		said = "requests can't be read: " + strings.TrimSpace(reason[min(1, len(reason)-1)].String())
	}
	return append(lines, doc.Line{Level: 1, Line: ink.L(ink.Muted, "  "+said), Key: "no traces"})
}

// ownTime is the time of the filter's own work.
func ownTime(lines []doc.Line, status v1alpha1.FilterStatus) []doc.Line {
	if status.In.Count == 0 && status.Back.Count == 0 {
		return lines
	}
	lines = kit.Section(lines, "Its own work")
	head := ink.L(ink.Muted, "  "+ink.Pad("", 14)+ink.PadLeft("p50", 9)+ink.PadLeft("p90", 9)+ink.PadLeft("p99", 9)+ink.PadLeft("max", 9))
	lines = append(lines, doc.Line{Level: 1, Line: head, Key: "latency"})
	for _, way := range []struct {
		name    string
		latency v1alpha1.Latency
	}{{"on the way in", status.In}, {"on the way back", status.Back}} {
		if way.latency.Count == 0 {
			continue
		}
		l := way.latency
		line := ink.Line{ink.T(ink.Name, "  "+ink.Pad(way.name, 15))}
		for i, d := range []string{kit.Took(l.P50.Duration), kit.Took(l.P90.Duration), kit.Took(l.P99.Duration), kit.Took(l.Max.Duration)} {
			width := 9
			if i == 0 {
				width = 8
			}
			line = append(line, ink.T(ink.Text, ink.PadLeft(d, width)))
		}
		lines = append(lines, doc.Line{Level: 1, Line: line, Key: way.name})
	}
	return lines
}

func filterCounts(lines []doc.Line, paper ink.Paper, f rates.Filter) []doc.Line {
	lines = kit.Section(lines, "Since the start")
	for _, count := range []struct {
		label string
		n     int64
		rate  rates.Rate
	}{
		{"entered", f.Status.Requests, f.Requests},
		{"in it now", f.Status.InFlight, rates.Rate{}},
		{"answered inside", f.Status.PassedOn, rates.Rate{}},
		{"ended by it", f.Ended(), f.Ends},
		{"abandoned", f.Status.Abandoned, rates.Rate{}},
	} {
		said := strconv.FormatInt(count.n, 10)
		if count.rate.Known {
			said += ", now " + count.rate.String()
		}
		lines = kit.Fact(lines, paper, count.label, ink.L(ink.Text, said))
	}
	return lines
}

// neighbours are the enabled filters before and after it.
func neighbours(lines []doc.Line, paper ink.Paper, f rates.Filter, all []rates.Filter) []doc.Line {
	var before, after string
	for _, other := range all {
		switch {
		case !other.Spec.Enabled:
		case other.Spec.Order < f.Spec.Order:
			before = other.Name
		case other.Spec.Order > f.Spec.Order && after == "":
			after = other.Name
		}
	}
	lines = kit.Section(lines, fmt.Sprintf("Place %d of the chain", f.Spec.Order))
	for _, side := range []struct{ label, name string }{{"comes after", before}, {"comes before", after}} {
		if side.name == "" {
			continue
		}
		lines = kit.Fact(lines, paper, side.label, ink.L(ink.Text, side.name))
		lines[len(lines)-1].Open = page.At("chain", side.name)
	}
	return lines
}
