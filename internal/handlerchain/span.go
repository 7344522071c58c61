package handlerchain

import (
	"net/http"
	"sync/atomic"
	"time"
)

// span is the way through one position. Times are nanoseconds since the start of the
// record, at least 1; 0 is not yet, sealed is never.
//
// A filter may return while the next goes on in another goroutine, so the end of a
// request and a late probe meet here. Both words are written once, by whoever comes
// first: the probe or the end. That makes counts exact and records final.
type span struct {
	entered atomic.Int64
	left    atomic.Int64 // an exit
	// request is written before entered, and read by the end alone: after it has seen
	// that entered is set.
	request *http.Request
}

const sealed = -1

// exit is how and when a position was left: the time, and flags below it.
type exit int64

const (
	exitPanicked = exit(1 << iota)
	exitBegun    // the answer was begun by then
	exitLate     // the filter in front had cut off the writer
	exitAlone    // the next position was still running
	exitEnded    // this position claims to have ended the request

	exitBits = 5
)

func (e exit) at() time.Duration { return time.Duration(e >> exitBits) }

// now is a time of a span.
func (r *Record) now() int64 { return max(int64(time.Since(r.start)), 1) }

// begun tells, as a flag, whether the answer was begun.
func (r *Record) begun() exit {
	if r.code.Load() != 0 {
		return exitBegun
	}
	return 0
}

// enter notes that a request reached a position. It refuses when the request is over,
// and when the position was entered before.
func (r *Record) enter(position int, request *http.Request) bool {
	s := &r.spans[position]
	if r.phase.Load() >= phaseSealing || s.entered.Load() != 0 {
		return false
	}
	s.request = request
	// Counted first, so that no outcome is counted before its request.
	r.shard.requests[position].Add(1)
	if s.entered.CompareAndSwap(0, r.now()) {
		return true
	}
	r.shard.requests[position].Add(-1)
	s.request = nil
	return false
}

// leave notes how a position was left.
func (r *Record) leave(position int, how exit) {
	if position+1 < len(r.spans) {
		how |= r.claim(position, how)
	}
	r.spans[position].left.CompareAndSwap(0, r.now()<<exitBits|int64(how))
}

// claim decides whether a filter that is being left ended the request: the rules are
// in the package comment.
func (r *Record) claim(position int, how exit) exit {
	entered, next := r.spans[position+1].entered.Load(), exit(r.spans[position+1].left.Load())
	answered := how&exitBegun != 0 && next&exitBegun == 0 && !r.chain.stops[position].defers
	switch panicked := how&exitPanicked != 0; {
	case entered <= 0 && !panicked:
		return exitEnded
	case next <= 0 && !panicked:
		return exitEnded | exitAlone
	case next <= 0:
		return exitAlone
	case answered, !panicked && next&(exitPanicked|exitLate) != 0:
		return exitEnded
	default:
		return 0
	}
}

// ownTime is what a request spent in one filter, without the filters behind it.
type ownTime struct {
	in, back time.Duration
	passed   bool // the next position was entered
	cameBack bool // the next position was left before this one
	deferred bool // the way back has the handler's work in it
}

func (r *Record) own(position int) ownTime {
	s := &r.spans[position]
	entered, left := time.Duration(s.entered.Load()), exit(s.left.Load())
	var own ownTime
	nextEntered, next := int64(0), exit(0)
	if position+1 < len(r.spans) {
		nextEntered, next = r.spans[position+1].entered.Load(), exit(r.spans[position+1].left.Load())
	}
	own.passed = nextEntered > 0
	own.cameBack = left > 0 && next > 0 && left&exitAlone == 0 && next&exitLate == 0
	switch {
	case own.cameBack:
		own.in, own.back = time.Duration(nextEntered)-entered, left.at()-next.at()
		own.deferred = r.chain.stops[position].defers && left&exitBegun != 0 && next&exitBegun == 0
	case left > 0:
		own.in = left.at() - entered
	case own.passed:
		own.in = time.Duration(nextEntered) - entered
	}
	return own
}

// end makes the record final, counts it and hands it to the observer. It runs when
// the outermost probe has been left, by a panic too.
func (r *Record) end(observer Observer) {
	r.seal()
	r.judge()
	r.shard.count(r)
	r.phase.Store(phaseEnding)
	observer.End(r)
	r.phase.Store(phaseOver)
	for i := range r.spans[:max(r.reached, 1)] {
		r.spans[i].request = nil // a kept record must not keep requests
	}
}

// seal closes all positions: from here on nothing in the spans changes.
func (r *Record) seal() {
	r.phase.Store(phaseSealing)
	r.reached = len(r.spans)
	for i := range r.spans {
		if r.spans[i].entered.CompareAndSwap(0, sealed) {
			r.reached = i
			break
		}
	}
	for i := range r.spans[:r.reached] {
		left := &r.spans[i].left
		if left.Load() == 0 {
			left.CompareAndSwap(0, sealed)
		}
		if left.Load() > 0 && r.still == i {
			r.still = i + 1
		}
	}
}

// judge finds who ended the request, and takes the other numbers with it.
func (r *Record) judge() {
	outermost := exit(r.spans[0].left.Load())
	r.outerPanicked = outermost&exitPanicked != 0
	r.duration = outermost.at() // 0 if no position was reached
	r.ended = len(r.spans) - 1
	if r.outerPanicked || r.reached == 0 { // or a filter that is said to be off kept it
		r.ended = -1
	}
	for i := range r.spans[:r.reached] {
		left := exit(r.spans[i].left.Load())
		if left > 0 && left&exitEnded != 0 {
			r.ended = i
			break
		}
		if left <= 0 || left&exitPanicked != 0 && !r.panickedAt(i+1) {
			break // the panic is from here: whatever was answered further in was cut off
		}
	}
	r.status = int(r.code.Load())
	if r.status == 0 && !r.outerPanicked {
		r.status = http.StatusOK // what net/http sends when a handler said nothing
	}
	r.wasHijacked = r.hijack.Load()
	r.bytesWritten, r.bytesRead = r.written.Load(), r.read.Load()
}

func (r *Record) panickedAt(position int) bool {
	if position >= r.reached {
		return false
	}
	left := exit(r.spans[position].left.Load())
	return left > 0 && left&exitPanicked != 0
}
