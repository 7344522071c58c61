package handlerchain

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kapi-dev/kapi/internal/histogram"
)

// Observer is told of every request. Both methods run on the request's way: they
// must return at once, and must not panic.
type Observer interface {
	// Begin is called before the first filter. It may set Record.Data.
	Begin(*Record)
	// End is called when the request is over. The record does not change afterwards,
	// and may be kept.
	End(*Record)
}

// Chain is a handler chain with probes, and what they have counted.
type Chain struct {
	filters  []Filter
	observer Observer

	// The probes stand at positions: one for each filter that is on, outermost first,
	// and the last for the handler behind the chain.
	stops []stop
	at    []int // index of a filter → its position, or -1; the handler's index is len(filters)

	shards []*shard
	local  sync.Pool
	turn   atomic.Uint32
}

// stop is what a position knows of its filter.
type stop struct {
	filter   int  // index in Chain.filters; len(filters) is the handler
	detached bool // the filter in front may return first, and cut off the writer
	defers   bool // the handler's work may go on in this filter
}

// New makes a chain of filters, outermost first, each of which reports to observer.
// Without one (nil) there are no probes, and nothing is counted.
func New(filters []Filter, observer Observer) *Chain {
	c := &Chain{filters: slices.Clone(filters), observer: observer, at: make([]int, len(filters)+1)}
	detached := false
	for i, f := range c.filters {
		c.at[i] = -1
		if f.Enabled {
			c.at[i] = len(c.stops)
			c.stops = append(c.stops, stop{filter: i, detached: detached, defers: f.defers})
			detached = f.detaches
		}
	}
	c.at[len(filters)] = len(c.stops)
	c.stops = append(c.stops, stop{filter: len(filters), detached: detached})
	c.newShards()
	return c
}

// Filters returns all filters, outermost first, also those that are off.
func (c *Chain) Filters() []Filter { return slices.Clone(c.filters) }

// Wrap builds the chain in front of handler.
func (c *Chain) Wrap(handler http.Handler) http.Handler {
	h := c.probe(len(c.filters), handler)
	for i, f := range slices.Backward(c.filters) {
		if f.Wrap != nil {
			h = f.Wrap(h)
		}
		if f.Enabled {
			h = c.probe(i, h)
		}
	}
	if c.observer == nil {
		return h
	}
	return &entrance{chain: c, next: h}
}

func (c *Chain) probe(filter int, next http.Handler) http.Handler {
	if c.observer == nil {
		return next
	}
	position := c.at[filter]
	return &probe{chain: c, position: position, detached: c.stops[position].detached, next: next}
}

// entrance stands in front of the first probe: it makes the record and ends it.
type entrance struct {
	chain *Chain
	next  http.Handler
}

// ServeHTTP serves one request with a record in its context.
func (e *entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reserveStack(0)
	record := e.chain.newRecord()
	inner := r.WithContext(context.WithValue(r.Context(), recordKey{}, record))
	if r.Body != nil && r.Body != http.NoBody { // both are looked for by identity further in
		inner.Body = &countedBody{ReadCloser: r.Body, record: record}
	}
	record.spans[0].request = inner
	e.chain.observer.Begin(record)
	record.phase.Store(phaseRunning)
	defer record.end(e.chain.observer)
	e.next.ServeHTTP(observeWriter(w, record), inner)
}

// probe stands in front of one filter, or of the handler behind the chain.
type probe struct {
	chain    *Chain
	position int
	detached bool
	next     http.Handler
}

// ServeHTTP notes when the filter was entered and how it was left. A panic passes.
func (p *probe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	record := RecordFrom(r.Context())
	if record == nil || record.chain != p.chain || !record.enter(p.position, r) {
		p.next.ServeHTTP(w, r)
		return
	}
	if p.detached { // the first of a new goroutine
		reserveStack(0)
	}
	returned := false
	defer func() {
		var left exit
		switch {
		case !returned:
			left = exitPanicked
		case p.detached:
			// The answer is looked at first: begun now and not cut off later, it is the
			// handler's own; not begun now, whoever begins it is further out.
			left = record.begun()
			if r.Context().Err() != nil && cutOff(w) {
				left |= exitLate
			}
			record.leave(p.position, left)
			return
		}
		record.leave(p.position, left|record.begun())
	}()
	p.next.ServeHTTP(w, r)
	returned = true
}

// Stats are the counts of one filter since the start.
type Stats struct {
	// Requests have reached the filter. Requests = PassedOn + sum(Terminated) +
	// Abandoned + InFlight.
	Requests int64
	// InFlight are here or further in.
	InFlight int64
	// PassedOn were handed on, and the answer came from further in.
	PassedOn int64
	// Abandoned were here or further in when a filter further out ended them, or when
	// the connection was aborted.
	Abandoned int64
	// Terminated ended here, by status code.
	Terminated map[int]int64
	// In is the filter's own time on the way in, of requests passed on or ended here.
	// A request that ended here without an answer of the next has all its time in In.
	In histogram.Snapshot
	// Back is the filter's own time on the way back, of those that came back.
	Back histogram.Snapshot
}

// Stats returns the counts of all filters, with the indices of Filters. Those of
// filters that are off are zero.
func (c *Chain) Stats() []Stats {
	stats := make([]Stats, len(c.filters))
	for i := range stats {
		if c.at[i] >= 0 {
			stats[i] = c.stats(c.at[i])
		}
	}
	return stats
}

// HandlerStats returns the counts of the handler behind the chain: Terminated are
// the requests that it answered, In is the time that it took.
func (c *Chain) HandlerStats() Stats { return c.stats(c.at[len(c.filters)]) }

// newRecord makes the record of a request that arrives now.
func (c *Chain) newRecord() *Record {
	record := &Record{chain: c, start: time.Now(), shard: c.shard()}
	record.spans = record.inline[:min(len(c.stops), len(record.inline))]
	if len(c.stops) > len(record.inline) {
		record.spans = make([]span, len(c.stops))
	}
	return record
}
