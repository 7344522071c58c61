package data

import (
	"math"
	"slices"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

const (
	// samplesKept is how many samples a frame has: ten minutes.
	samplesKept = 600
	// window is how far back requests count for the percentile.
	window = time.Minute
	// watchedEvery is how often a kapi publishes counters that change, polledEvery how
	// often those of another server are asked for at least.
	watchedEvery = 500 * time.Millisecond
	polledEvery  = 4 * time.Second
)

var (
	filtersKey = Of("filters")
	layersKey  = Of("serverlayers")
	tracesKey  = Of(v1alpha1.ResourceRequestTraces)
)

// sampler makes one sample a second. Samples that were handed out never change.
type sampler struct {
	samples []Sample
	// known are the counters as they have changed last, at the time of the last sample;
	// requests and failed are the rates since those before.
	known            counted
	ticked           time.Time
	requests, failed float64
	// durations is where percentiles are sorted.
	durations []time.Duration
	// traces and since are what the percentile was of: without other requests it
	// changes only when one leaves the window.
	traces uint64
	leaves time.Time
}

// counted are counters, and when they have come.
type counted struct {
	at               time.Time
	requests, failed int64
	ok               bool
}

// take adds the sample of a frame, and tells whether it is another one than that
// before. Where the server can't be reached nothing is known, and there is none.
func (s *sampler) take(frame Frame) bool {
	if frame.State != Live || frame.View(filtersKey).State != Live { // nobody looks at the counters
		return false
	}
	sample := Sample{At: frame.Now}
	now, inFlight := count(frame)
	sample.InFlight = inFlight
	every := watchedEvery
	if frame.About.Type == inspection.Foreign {
		every = polledEvery
	}
	sample.Requests, sample.Failed = s.rates(now, frame.Now, every)
	var last Sample
	if len(s.samples) > 0 {
		last = s.samples[len(s.samples)-1]
	}
	sample.P99 = s.p99(frame, last.P99)
	if len(s.samples) == 2*samplesKept { // a new array: the one before is in frames
		s.samples = append(make([]Sample, 0, 2*samplesKept), s.samples[samplesKept:]...)
	} else if s.samples == nil {
		s.samples = make([]Sample, 0, 2*samplesKept)
	}
	s.samples = append(s.samples, sample)
	last.At = sample.At
	return sample != last
}

// series are the last samples.
func (s *sampler) series() []Sample {
	from := max(0, len(s.samples)-samplesKept)
	return s.samples[from:len(s.samples):len(s.samples)]
}

// rates are those between two changes of the counters. Where they do not change they
// hold until others should have come: a server that is asked again and again has
// steps, not a rate.
func (s *sampler) rates(now counted, at time.Time, every time.Duration) (requests, failed float64) {
	switch {
	case !now.ok, !s.known.ok, now.requests < s.known.requests: // none, the first, or those of a server that was started anew
		s.known, s.requests, s.failed = now, 0, 0
	case now.requests == s.known.requests && now.failed == s.known.failed:
		if at.Sub(s.known.at) > every*3/2 {
			s.requests, s.failed = 0, 0
		}
	default:
		since := s.known.at
		if quiet := s.ticked.Add(-every); quiet.After(since) { // nothing had come since then
			since = quiet
		}
		took := max(every, now.at.Sub(since)).Seconds()
		s.requests = float64(now.requests-s.known.requests) / took
		s.failed = max(0, float64(now.failed-s.known.failed)/took)
		s.known = now
	}
	s.ticked = at
	return s.requests, s.failed
}

// count adds up what the chain has counted: requests at its outermost filter, faults
// where they were answered.
func count(frame Frame) (now counted, inFlight int64) {
	view := frame.View(filtersKey)
	now.at = view.At
	for _, filter := range Objects[*v1alpha1.Filter](frame, filtersKey) {
		if !filter.Spec.Enabled {
			continue
		}
		if !now.ok {
			now.ok, now.requests, inFlight = true, filter.Status.Requests, filter.Status.InFlight
		}
		now.failed += faults(filter.Status.Terminated)
	}
	for _, layer := range Objects[*v1alpha1.ServerLayer](frame, layersKey) {
		now.failed += faults(layer.Status.Answers)
	}
	return now, inFlight
}

// faults counts answers that are a fault of the server; 0 is none given.
func faults(counts []v1alpha1.StatusCount) int64 {
	var n int64
	for _, c := range counts {
		if c.Code >= 500 || c.Code == 0 {
			n += c.Count
		}
	}
	return n
}

// p99 is the 99th percentile of requests that have ended within the window, but for
// those that are meant to run long. last is the one before.
func (s *sampler) p99(frame Frame, last time.Duration) time.Duration {
	view := frame.View(tracesKey)
	if view.Revision == s.traces && frame.Now.Before(s.leaves) {
		return last
	}
	s.traces, s.leaves = view.Revision, frame.Now.Add(window)
	s.durations = s.durations[:0]
	for _, object := range view.Objects {
		trace, ok := object.(*v1alpha1.RequestTrace)
		if !ok || trace.Spec.LongRunning {
			continue
		}
		took := trace.Status.Duration.Duration
		leaves := trace.Status.ReceivedAt.Add(took + window)
		if !leaves.After(frame.Now) {
			continue
		}
		s.durations = append(s.durations, took)
		if leaves.Before(s.leaves) {
			s.leaves = leaves
		}
	}
	if len(s.durations) == 0 {
		return 0
	}
	slices.Sort(s.durations)
	return s.durations[int(math.Ceil(0.99*float64(len(s.durations))))-1]
}
