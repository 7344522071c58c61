// Package chain is the page of the way that every request takes: the filters in
// order, below them the layers, and where requests end; and the pages of one filter
// and of one layer. It may import what pages may.
package chain

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/chain/rates"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

// layerPrefix stands before the name of a layer in a location.
const layerPrefix = "layer/"

// New returns the page of the whole chain, of the filter that the location names, or
// of the layer ("layer/NAME").
func New(env page.Env, at page.Location) (page.Page, error) {
	if env.Command == "" {
		env.Command = "kapi"
	}
	if name, ok := strings.CutPrefix(at.Name, layerPrefix); ok {
		return newLayer(env, name), nil
	}
	if at.Name != "" {
		return newFilter(env, at.Name), nil
	}
	return kit.NewParts("chain",
		kit.Part{Page: filterList(env, at.Get("filter")), Share: 3, Least: 7},
		kit.Part{Page: layerList(env), Share: 1, Least: 4},
	), nil
}

// filters is the table of filters, with the cursor at first on the one that matters
// most.
type filters struct {
	*kit.List[rates.Filter]
	placed bool
}

// Update implements page.Page.
func (l *filters) Update(frame data.Frame) {
	l.List.Update(frame)
	if l.placed || len(l.Table().Rows()) == 0 {
		return
	}
	l.placed = true
	worst, found := rates.Filter{}, false
	for _, f := range l.Table().Rows() {
		if f.Ended() > 0 && (!found || worse(f, worst)) {
			worst, found = f, true
		}
	}
	if found {
		l.Table().Select(worst.Name)
	}
}

// worse tells whether a filter ends more now, more badly, or more on the whole.
func worse(a, b rates.Filter) bool {
	return cmp.Or(
		cmp.Compare(filterSeverity(a), filterSeverity(b)),
		cmp.Compare(a.Ends.PerSecond, b.Ends.PerSecond),
		cmp.Compare(a.Ended(), b.Ended()),
	) > 0
}

func filterList(env page.Env, filter string) page.Page {
	return &filters{List: kit.NewList(kit.ListConfig[rates.Filter]{
		Title:   "filters, outermost first",
		Needs:   []data.Key{rates.FilterFeed, rates.LayerFeed, trace.Feed},
		Rows:    rates.Filters,
		Table:   filterTable(),
		Subject: func(f rates.Filter) page.Subject { return filterSubject(env, f.Filter) },
		Open:    func(f rates.Filter) page.Location { return page.At("chain", f.Name) },
		Detail:  filterRender,
		Head:    strip,
		Extra: map[page.ActionID]func(rates.Filter) page.Effect{
			page.Requests: func(f rates.Filter) page.Effect { return page.Effect{Open: requestsOf(f.Name)} },
		},
		Filter: filter,
	})}
}

// requestsOf are the requests that a filter or a layer has ended.
func requestsOf(name string) page.Location { return page.At("requests", "", "filter", "by:"+name) }

// strip is where requests end, above the filters.
func strip(frame data.Frame, paper ink.Paper) []ink.Line {
	ends := rates.Ends(frame)
	if len(ends) == 0 || paper.Height < 6 {
		return nil
	}
	label := "ended so far  "
	if ends[0].Rate.Known {
		label = "requests end  "
	}
	most := 1
	if paper.Height >= 14 {
		most = 2
	}
	lines := rates.Strip(paper, ends, paper.Width-len(label)-1, most)
	for i, line := range lines {
		lines[i] = append(ink.Line{ink.T(ink.Heading, ink.Pad(label, len(label)))}, line...)
		label = strings.Repeat(" ", len(label))
	}
	return append(lines, nil)
}

// is makes a column's cells muted where the filter is off.
func is(f rates.Filter, token ink.Token, text string) ink.Span {
	if !f.Spec.Enabled {
		return ink.T(ink.Muted, "")
	}
	return ink.T(token, text)
}

func filterTable() vtable.Config[rates.Filter] {
	latency := func(title string, of func(*v1alpha1.FilterStatus) (v1alpha1.Latency, time.Duration)) vtable.Column[rates.Filter] {
		return vtable.Column[rates.Filter]{
			Title: title, Right: true,
			Cell: func(f rates.Filter, _ time.Time) ink.Span {
				if l, d := of(&f.Status); l.Count > 0 {
					return is(f, ink.Text, kit.Took(d))
				}
				return ink.Span{}
			},
			Compare: func(a, b rates.Filter) int {
				_, x := of(&a.Status)
				_, y := of(&b.Status)
				return cmp.Compare(x, y)
			},
		}
	}
	columns := []vtable.Column[rates.Filter]{
		{
			Title: "#", Right: true,
			Cell: func(f rates.Filter, _ time.Time) ink.Span {
				return ink.T(ink.Muted, strconv.Itoa(int(f.Spec.Order)))
			},
			Compare: func(a, b rates.Filter) int { return cmp.Compare(a.Spec.Order, b.Spec.Order) },
		},
		{
			Title: "FILTER", Keep: true, Min: 12,
			Cell: func(f rates.Filter, _ time.Time) ink.Span {
				if !f.Spec.Enabled {
					return ink.T(ink.Muted, f.Name)
				}
				return ink.T(ink.Text, f.Name)
			},
		},
		{
			Title: "RATE", Right: true,
			Cell:    func(f rates.Filter, _ time.Time) ink.Span { return is(f, ink.Text, f.Requests.String()) },
			Compare: func(a, b rates.Filter) int { return cmp.Compare(a.Requests.PerSecond, b.Requests.PerSecond) },
		},
		{
			Title: "NOW", Right: true,
			Cell: func(f rates.Filter, _ time.Time) ink.Span {
				return is(f, ink.Text, strconv.FormatInt(f.Status.InFlight, 10))
			},
			Compare: func(a, b rates.Filter) int { return cmp.Compare(a.Status.InFlight, b.Status.InFlight) },
		},
		{
			Title: "ENDED", Keep: true, Grow: 1, Min: 10,
			Cell:    ended,
			Compare: func(a, b rates.Filter) int { return cmp.Compare(a.Ended(), b.Ended()) },
		},
		{
			Title: "SHARE", Right: true,
			Cell: func(f rates.Filter, _ time.Time) ink.Span {
				if f.Ended() == 0 {
					return ink.Span{}
				}
				return ink.T(ink.Text, text.Percent(f.Share()))
			},
			Compare: func(a, b rates.Filter) int { return cmp.Compare(a.Share(), b.Share()) },
		},
		latency("P50", func(s *v1alpha1.FilterStatus) (v1alpha1.Latency, time.Duration) { return s.In, s.In.P50.Duration }),
		latency("P99", func(s *v1alpha1.FilterStatus) (v1alpha1.Latency, time.Duration) { return s.In, s.In.P99.Duration }),
		latency("BACK", func(s *v1alpha1.FilterStatus) (v1alpha1.Latency, time.Duration) {
			return s.Back, s.Back.P99.Duration
		}),
		latency("MAX", func(s *v1alpha1.FilterStatus) (v1alpha1.Latency, time.Duration) { return s.In, s.In.Max.Duration }),
		{
			Title: "REQUESTS", Right: true, Wide: true,
			Cell: func(f rates.Filter, _ time.Time) ink.Span {
				return is(f, ink.Text, strconv.FormatInt(f.Status.Requests, 10))
			},
			Compare: func(a, b rates.Filter) int { return cmp.Compare(a.Status.Requests, b.Status.Requests) },
		},
	}
	columns[len(columns)-2].Wide = true
	return vtable.Config[rates.Filter]{
		Columns: columns, Key: func(f rates.Filter) string { return f.Name }, Severity: filterSeverity,
		Empty: "no filter is known",
	}
}

// ended is what a filter has ended, by code with what it ends now, or why it is off.
func ended(f rates.Filter, _ time.Time) ink.Span {
	if !f.Spec.Enabled {
		return ink.T(ink.Muted, strings.TrimSuffix("off: "+f.Spec.Reason, ": "))
	}
	said := kinds.Codes(f.Status.Terminated)
	if f.Ends.PerSecond > 0 {
		said += " (" + f.Ends.String() + ")"
	}
	switch filterSeverity(f) {
	case vtable.Unhealthy:
		return ink.T(ink.Bad, said)
	case vtable.Unsure:
		return ink.T(ink.Warning, said)
	default:
		return ink.T(ink.Text, said)
	}
}

// filterSeverity is unhealthy for a filter that ends requests with a fault now, and
// unsure for one that has ended any.
func filterSeverity(f rates.Filter) vtable.Severity {
	for _, count := range f.Lately {
		if count.Code >= 500 || count.Code == 0 {
			return vtable.Unhealthy
		}
	}
	if f.Ended() > 0 {
		return vtable.Unsure
	}
	return vtable.Healthy
}

func filterSubject(env page.Env, f *v1alpha1.Filter) page.Subject {
	return page.Subject{
		Kind: "filter", Name: f.Name, Inspect: "filters", Object: f,
		Path:     "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/filters/" + f.Name,
		Commands: []string{env.Command + " inspect filters " + f.Name, "kubectl get filter " + f.Name + " -o yaml"},
	}
}
