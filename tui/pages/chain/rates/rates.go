// Package rates is what goes through the chain in a second: the counters of filters
// and layers, of a frame and of the one before it. It draws nothing. It may import
// the API types and data.
package rates

import (
	"cmp"
	"slices"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
)

// The feeds that are counted.
var (
	FilterFeed = data.Of("filters")
	LayerFeed  = data.Of("serverlayers")
)

// Rate is a number per second; unknown until there is an earlier frame of the same
// start of the server.
type Rate struct {
	PerSecond float64
	Known     bool
}

// Filter is a filter and what it does now.
type Filter struct {
	*v1alpha1.Filter
	// Requests enter it, Ends are ended by it.
	Requests, Ends Rate
	// Lately are the requests that it has ended since the frame before, by code.
	Lately []v1alpha1.StatusCount
}

// Ended is how many requests it has ended since the start.
func (f Filter) Ended() int64 { return Sum(f.Status.Terminated) }

// Share is the part of the requests that came to it which it has ended, from 0 to 1.
func (f Filter) Share() float64 {
	if f.Status.Requests <= 0 {
		return 0
	}
	return float64(f.Ended()) / float64(f.Status.Requests)
}

// Layer is a layer and what it does now.
type Layer struct {
	*v1alpha1.ServerLayer
	// Received enter it, Answers are given by it.
	Received, Answers Rate
}

// Sum adds up counts.
func Sum(counts []v1alpha1.StatusCount) int64 {
	var n int64
	for _, c := range counts {
		n += c.Count
	}
	return n
}

// Filters are the filters of a frame, outermost first.
func Filters(frame data.Frame) []Filter {
	since := newSpan(frame)
	before := map[string]*v1alpha1.Filter{}
	for _, f := range data.Objects[*v1alpha1.Filter](since.before, FilterFeed) {
		before[f.Name] = f
	}
	objects := data.Objects[*v1alpha1.Filter](frame, FilterFeed)
	filters := make([]Filter, len(objects))
	for i, f := range objects {
		filters[i] = Filter{Filter: f}
		if old := before[f.Name]; old != nil {
			filters[i].Requests = since.rate(f.Status.Requests, old.Status.Requests)
			filters[i].Ends = since.rate(Sum(f.Status.Terminated), Sum(old.Status.Terminated))
			if filters[i].Ends.Known {
				filters[i].Lately = less(f.Status.Terminated, old.Status.Terminated)
			}
		}
	}
	slices.SortStableFunc(filters, func(a, b Filter) int { return cmp.Compare(a.Spec.Order, b.Spec.Order) })
	return filters
}

// Layers are the layers of a frame, outermost first.
func Layers(frame data.Frame) []Layer {
	since := newSpan(frame)
	before := map[string]*v1alpha1.ServerLayer{}
	for _, l := range data.Objects[*v1alpha1.ServerLayer](since.before, LayerFeed) {
		before[l.Name] = l
	}
	objects := data.Objects[*v1alpha1.ServerLayer](frame, LayerFeed)
	layers := make([]Layer, len(objects))
	for i, l := range objects {
		layers[i] = Layer{ServerLayer: l}
		if old := before[l.Name]; old != nil {
			layers[i].Received = since.rate(l.Status.RequestsReceived, old.Status.RequestsReceived)
			layers[i].Answers = since.rate(l.Status.RequestsAnswered, old.Status.RequestsAnswered)
		}
	}
	slices.SortStableFunc(layers, func(a, b Layer) int { return cmp.Compare(a.Spec.Order, b.Spec.Order) })
	return layers
}

// span is the time between two frames.
type span struct {
	before  data.Frame
	seconds float64
}

func newSpan(frame data.Frame) span {
	if frame.Before == nil {
		return span{}
	}
	return span{*frame.Before, frame.Now.Sub(frame.Before.Now).Seconds()}
}

// rate is unknown where the counter went back: the server was started anew.
func (s span) rate(now, before int64) Rate {
	if s.seconds <= 0 || now < before {
		return Rate{}
	}
	return Rate{float64(now-before) / s.seconds, true}
}

// less are the counts that came on top of earlier ones.
func less(now, before []v1alpha1.StatusCount) []v1alpha1.StatusCount {
	var more []v1alpha1.StatusCount
	for _, count := range now {
		for _, old := range before {
			if old.Code == count.Code {
				count.Count -= old.Count
			}
		}
		if count.Count > 0 {
			more = append(more, count)
		}
	}
	return more
}
