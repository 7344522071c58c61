package handlerchain

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/kapi-dev/kapi/internal/histogram"
)

// maxShards bounds the memory of the counts: a shard of 30 filters takes 130 KiB.
const maxShards = 16

// shard is one of several equal sets of counts. Each request uses the one that is
// near its processor, since a counter that moves between the caches of processors
// costs more than all the rest of a probe. Nothing depends on which one it is.
type shard struct {
	// requests is counted at once, by position; everything else when the request is over.
	requests []atomic.Int64

	mu       sync.Mutex
	outcomes []outcome // by position
}

// outcome is what became of the requests that reached a position.
type outcome struct {
	passedOn, abandoned, ended int64
	endedBy                    map[int]int64 // status → count; ended is their sum
	in, back                   histogram.Snapshot
}

func (c *Chain) newShards() {
	for range min(runtime.GOMAXPROCS(0), maxShards) {
		c.shards = append(c.shards, &shard{
			requests: make([]atomic.Int64, len(c.stops)), outcomes: make([]outcome, len(c.stops)),
		})
	}
	// A pool keeps what is put in near the processor that put it. It may forget: then
	// the next in turn is taken.
	c.local.New = func() any { return c.shards[int(c.turn.Add(1))%len(c.shards)] }
}

// shard returns the set of counts near this processor.
func (c *Chain) shard() *shard {
	s, _ := c.local.Get().(*shard) // nothing else is put in
	c.local.Put(s)
	return s
}

// stats sums the shards. A request is counted in requests before it has an outcome,
// and outcomes are read first: InFlight is never negative.
func (c *Chain) stats(position int) Stats {
	sum := Stats{Terminated: map[int]int64{}}
	var ended int64
	for _, s := range c.shards {
		s.mu.Lock()
		o := &s.outcomes[position]
		sum.PassedOn += o.passedOn
		sum.Abandoned += o.abandoned
		ended += o.ended
		for status, n := range o.endedBy {
			sum.Terminated[status] += n
		}
		sum.In.Merge(o.in)
		sum.Back.Merge(o.back)
		s.mu.Unlock()
		sum.Requests += s.requests[position].Load()
	}
	sum.InFlight = sum.Requests - sum.PassedOn - sum.Abandoned - ended
	return sum
}

// count adds the outcome of a request that is over.
func (s *shard) count(r *Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for position := range r.reached {
		o := &s.outcomes[position]
		if r.ended < position {
			o.abandoned++
			continue
		}
		own := r.own(position)
		o.in.Add(own.in)
		if own.cameBack && !own.deferred {
			o.back.Add(own.back)
		}
		if position < r.ended {
			o.passedOn++
			continue
		}
		o.ended++
		if o.endedBy == nil {
			o.endedBy = map[int]int64{}
		}
		o.endedBy[r.status]++
	}
}
