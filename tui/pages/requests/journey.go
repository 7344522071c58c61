package requests

import (
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

// journey is the time of a request, divided among what it came through. Times are
// counted from when it was received.
type journey struct {
	trace *v1alpha1.RequestTrace
	total time.Duration
	// back is where each filter's work on the way back begins; filters further in than
	// one that answered while the request was still there have none.
	back []time.Duration
	// end is when the innermost layer was done, or was given up.
	end time.Duration
}

// newJourney finds where the way back began. A trace has only how long each filter
// worked then: from the end, outermost last, these stand one after the other.
func newJourney(t *v1alpha1.RequestTrace) journey {
	filters, by := t.Status.Filters, t.Status.TerminatedBy
	j := journey{trace: t, total: t.Status.Duration.Duration}
	overtaken := len(filters)
	for i, filter := range filters {
		further := i < len(filters)-1 || len(t.Status.Hops) > 0
		if by.Kind == v1alpha1.EndedByFilter && by.Name == filter.Name && further && !t.Status.Panicked {
			overtaken = i + 1
		}
	}
	j.end = j.total
	for _, filter := range filters[:overtaken] {
		j.end = max(0, j.end-filter.Back.Duration)
		j.back = append(j.back, j.end)
	}
	return j
}

// stop is one thing that a request came through: a filter or a layer.
type stop struct {
	name string
	open page.Location
	// own is its own work; nothing says that it is too little to matter.
	own     time.Duration
	nothing bool
	// waited says that its own work was waiting for those further in (a timeout).
	waited  bool
	stretch chart.Stretch
}

// stops are the filters, then the layers, outermost first.
func (j journey) stops(glyphs *ink.Glyphs) []stop {
	stops := make([]stop, 0, len(j.trace.Status.Filters)+len(j.trace.Status.Hops))
	for i, filter := range j.trace.Status.Filters {
		stops = append(stops, j.filter(i, filter, glyphs))
	}
	for i, hop := range j.trace.Status.Hops {
		stops = append(stops, j.layer(i, hop, glyphs))
	}
	return stops
}

func (j journey) filter(i int, filter v1alpha1.FilterSpan, glyphs *ink.Glyphs) stop {
	by := j.trace.Status.TerminatedBy
	ends := by.Kind == v1alpha1.EndedByFilter && by.Name == filter.Name
	s := stop{
		name: filter.Name, open: page.At("chain", filter.Name),
		own: filter.In.Duration + filter.Back.Duration,
	}
	s.nothing = !ends && s.own*100 < j.total
	until := j.total
	own := []chart.Own{{Token: ink.Series1, From: filter.At.Duration, Took: filter.In.Duration}}
	if i < len(j.back) {
		until = j.back[i] + filter.Back.Duration
		own = append(own, chart.Own{Token: ink.Series2, From: j.back[i], Took: filter.Back.Duration})
	}
	token, note := ink.Text, ink.L(ink.Muted, kit.Took(s.own))
	if ends {
		token = trace.Token(j.trace)
		own[0].Token = token
		s.waited = j.abandoned() && !j.trace.Status.Panicked
		note = ink.L(token, kit.Took(s.own)+" "+glyphs.Arrow+" "+trace.ShortCode(j.trace.Status.Code))
	}
	s.stretch = chart.Stretch{
		Label: ink.L(token, filter.Name), Note: note, Token: ink.Muted,
		From: filter.At.Duration, Took: max(0, until-filter.At.Duration), Own: own,
	}
	return s
}

// layer is a layer that had the request to itself until it passed it on. The time of
// the innermost has in it what the layers further out did on the way back.
func (j journey) layer(i int, hop v1alpha1.LayerHop, glyphs *ink.Glyphs) stop {
	from, until := hop.At.Duration, max(hop.At.Duration, j.end)
	did, token := glyphs.Arrow+" "+trace.ShortCode(j.trace.Status.Code), trace.Token(j.trace)
	switch last := i == len(j.trace.Status.Hops)-1; {
	case !last:
		until, did, token = max(from, j.trace.Status.Hops[i+1].At.Duration), "passed on", ink.Muted
	case j.trace.Status.Panicked:
		did, token = "panicked", ink.Bad
	case j.abandoned():
		did, token = "given up", ink.Bad
	}
	fill := ink.Series3
	if token == ink.Bad {
		fill = ink.Bad
	}
	return stop{
		name: hop.Layer, open: page.At("chain", "layer/"+hop.Layer), own: until - from,
		stretch: chart.Stretch{
			Label: ink.L(ink.Text, "layer "+hop.Layer), Note: ink.L(token, kit.Took(until-from)+" "+did),
			Token: fill, From: from, Took: until - from,
		},
	}
}

// abandoned says that a layer had the request, and something else ended it.
func (j journey) abandoned() bool {
	kind := j.trace.Status.TerminatedBy.Kind
	return len(j.trace.Status.Hops) > 0 && (kind == v1alpha1.EndedByFilter || kind == v1alpha1.EndedByConnection)
}
