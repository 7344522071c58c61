package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
)

// journey is the time of a request, divided among what it came through. Times are
// counted from when it was received.
type journey struct {
	trace *v1alpha1.RequestTrace
	total time.Duration
	// back is where each filter's work on the way back begins; the filters that were
	// overtaken have none.
	back []time.Duration
	// overtaken is how many filters, from the outermost, are above the one that
	// answered while the request was still further in (a timeout), that one included;
	// all filters if none did.
	overtaken int
	// end is when the innermost layer was done, or was given up.
	end time.Duration
}

// newJourney finds where the way back began. A trace has only how long each filter
// worked then: from the end, outermost last, these stand one after the other.
func newJourney(trace *v1alpha1.RequestTrace) journey {
	filters := trace.Status.Filters
	j := journey{trace: trace, total: trace.Status.Duration.Duration, overtaken: len(filters)}
	by := trace.Status.TerminatedBy
	for i, filter := range filters {
		further := i < len(filters)-1 || len(trace.Status.Hops) > 0
		if by.Kind == v1alpha1.EndedByFilter && by.Name == filter.Name && further && !trace.Status.Panicked {
			j.overtaken = i + 1
		}
	}
	j.end = j.total
	for _, filter := range filters[:j.overtaken] {
		j.end = max(0, j.end-filter.Back.Duration)
		j.back = append(j.back, j.end)
	}
	return j
}

// given says that the innermost layer was still at work when a filter answered.
func (j journey) given() bool { return j.overtaken < len(j.trace.Status.Filters) || j.abandoned() }

// abandoned says that a layer had the request, and something else ended it.
func (j journey) abandoned() bool {
	kind := j.trace.Status.TerminatedBy.Kind
	return len(j.trace.Status.Hops) > 0 && (kind == v1alpha1.EndedByFilter || kind == v1alpha1.EndedByConnection)
}

// hop returns when a layer had the request to itself. That of the innermost one
// has in it what the layers further out did on the way back.
func (j journey) hop(i int) (from, to time.Duration) {
	hops := j.trace.Status.Hops
	from = hops[i].At.Duration
	if i+1 < len(hops) {
		return from, hops[i+1].At.Duration
	}
	return from, max(from, j.end)
}

// share is the own time of a filter or a layer.
type share struct {
	name  string
	own   time.Duration
	layer bool
}

func (j journey) shares() []share {
	var shares []share
	for i, filter := range j.trace.Status.Filters {
		own := filter.In.Duration + filter.Back.Duration
		if j.given() && i+1 == j.overtaken && len(j.trace.Status.Hops) > 0 {
			continue // its own time was waiting for those further in
		}
		shares = append(shares, share{name: filter.Name, own: own})
	}
	for i, hop := range j.trace.Status.Hops {
		from, to := j.hop(i)
		shares = append(shares, share{name: hop.Layer, own: to - from, layer: true})
	}
	return shares
}

// summary says where most of the time went, and how much of it in layers.
func (j journey) summary() []text.Pair {
	shares := j.shares()
	var layers time.Duration
	for _, share := range shares {
		if share.layer {
			layers += share.own
		}
	}
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(b.own, a.own) })
	var most []string
	for _, share := range shares[:min(3, len(shares))] {
		most = append(most, share.name+" "+j.part(share.own))
	}
	return []text.Pair{
		{Key: "Most time in", Value: strings.Join(most, ", ")},
		{Key: "In layers", Value: j.inLayers(layers)},
	}
}

func (j journey) inLayers(layers time.Duration) string {
	hops := j.trace.Status.Hops
	switch {
	case len(hops) == 0:
		return "nothing: it ended before the first layer"
	case j.trace.Status.ProxiedTo != nil:
		return j.part(layers) + ", with the time of the aggregated server"
	case j.abandoned() && !j.trace.Status.Panicked:
		return j.part(layers) + ", until it was given up"
	default:
		return j.part(layers)
	}
}

// part writes a time and its share of all: "408µs (31%)".
func (j journey) part(own time.Duration) string {
	if j.total <= 0 {
		return took(own)
	}
	return fmt.Sprintf("%s (%s)", took(own), text.Percent(float64(own)/float64(j.total)))
}

// waterfall has a row for each filter and, nested beneath them, for each layer.
func (j journey) waterfall() text.Waterfall {
	fall := text.Waterfall{
		Columns: []text.Column{{Name: "filter, then layer", Shrink: true}, {Name: "in", Right: true}, {Name: "back", Right: true}},
		Total:   j.total, Start: "0", End: took(j.total),
	}
	for i, filter := range j.trace.Status.Filters {
		fall.Rows = append(fall.Rows, j.filterRow(i, filter))
	}
	for i, hop := range j.trace.Status.Hops {
		fall.Rows = append(fall.Rows, j.layerRow(i, hop))
	}
	return fall
}

func (j journey) filterRow(i int, filter v1alpha1.FilterSpan) text.WaterfallRow {
	in, back, tone := filter.In.Duration, filter.Back.Duration, text.Plain
	row := text.WaterfallRow{}
	if by := j.trace.Status.TerminatedBy; by.Kind == v1alpha1.EndedByFilter && by.Name == filter.Name {
		tone = codeTone(j.trace.Status.Code)
		row.Notes = []text.Cell{{Text: "ended it here: " + j.ended(i), Tone: tone}}
	}
	row.Bars = []text.Stretch{{From: filter.At.Duration, To: filter.At.Duration + in, Tone: tone}}
	cells := []text.Cell{{Text: filter.Name, Tone: tone}, {Text: took(in)}, {}}
	if i < len(j.back) {
		cells[2].Text = took(back)
		if 100*back >= j.total { // less would be a mark for every filter
			row.Bars = append(row.Bars, text.Stretch{From: j.back[i], To: j.back[i] + back, Tone: tone})
		}
	}
	row.Cells = cells
	return row
}

func (j journey) ended(filter int) string {
	said := "answered " + codeText(j.trace.Status.Code)
	switch {
	case j.trace.Status.Panicked:
		return "a handler panicked, " + said
	case filter+1 == j.overtaken && j.given():
		return said + " while the request was still further in"
	default:
		return said
	}
}

func (j journey) layerRow(i int, hop v1alpha1.LayerHop) text.WaterfallRow {
	from, to := j.hop(i)
	tone, did := text.Plain, "answered"
	switch {
	case hop.PassedOn:
		did = "passed on"
	case j.trace.Status.Panicked:
		tone, did = text.Bad, "panicked"
	case j.abandoned():
		tone, did = text.Bad, "given up"
	default:
		tone = codeTone(j.trace.Status.Code)
	}
	row := text.WaterfallRow{
		Cells: []text.Cell{{Text: strings.Repeat(" ", i) + "> " + hop.Layer + ", " + did, Tone: tone}, {Text: took(to - from)}},
		Bars:  []text.Stretch{{From: from, To: to, Tone: tone}},
	}
	if i < len(j.trace.Status.Hops)-1 {
		return row
	}
	if to := j.trace.Status.ProxiedTo; to != nil {
		row.Notes = append(row.Notes, text.Cell{Text: "proxied to " + proxiedText(to)})
	}
	by := j.trace.Status.TerminatedBy
	if by.Kind != v1alpha1.EndedByFilter {
		status := j.trace.Status
		note := "ended it here: " + endText(by, status.Code, false)
		if by.Kind == v1alpha1.EndedByLayer {
			note = "ended it here: answered " + codeText(status.Code)
		}
		row.Notes = append(row.Notes, text.Cell{Text: note, Tone: codeTone(status.Code)})
	}
	return row
}
