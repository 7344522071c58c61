package handlerchain

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// inlineSpans are as many as a full chain has, so that a record is one allocation.
const inlineSpans = 32

// Record is one request on its way through the chain. While the request runs it may
// be read by any goroutine; once Observer.End is called it does not change any more,
// whatever a goroutine that was left behind still does.
type Record struct {
	// Data is the observer's own: set in Begin, before anybody else sees the record.
	Data any

	chain *Chain
	shard *shard
	start time.Time

	phase   atomic.Int32
	code    atomic.Int32 // status of the answer; 0 until it is begun
	hijack  atomic.Bool
	written atomic.Int64
	read    atomic.Int64

	// Set when the request is over, before phaseOver is stored.
	status        int
	ended         int // position that ended it; -1 when nobody did
	reached       int // how many positions were entered
	still         int // how many of these, from the outermost on, run no more
	duration      time.Duration
	bytesWritten  int64
	bytesRead     int64
	wasHijacked   bool
	outerPanicked bool
	spans         []span
	inline        [inlineSpans]span
	_             [0]func() // records are not compared
}

// The life of a record. The order counts.
const (
	phaseBeginning = int32(iota) // Observer.Begin is running
	phaseRunning
	phaseSealing // no position can be entered any more
	phaseEnding  // the record is final; Observer.End is running
	phaseOver    // requests are let go
)

type recordKey struct{}

// RecordFrom returns the record of the request with this context, nil when there is
// none: when the chain is not observed, or the request did not come through it.
func RecordFrom(ctx context.Context) *Record {
	record, _ := ctx.Value(recordKey{}).(*Record)
	return record
}

func (r *Record) final() bool { return r.phase.Load() >= phaseEnding }

// Start returns when the request reached the chain.
func (r *Record) Start() time.Time { return r.start }

// Over says that the request has ended: the record is final.
func (r *Record) Over() bool { return r.final() }

// Duration returns how long the request was in the chain, until now if it still is.
func (r *Record) Duration() time.Duration {
	if r.final() {
		return r.duration
	}
	return time.Since(r.start)
}

// Status returns the status code of the answer: 0 while there is none or when the
// connection was aborted before, 101 when the connection was taken over without one.
func (r *Record) Status() int {
	if r.final() {
		return r.status
	}
	return int(r.code.Load())
}

// BytesWritten returns the bytes of the answer's body, before TLS; what is written to
// a connection after it was taken over is not among them.
func (r *Record) BytesWritten() int64 {
	if r.final() {
		return r.bytesWritten
	}
	return r.written.Load()
}

// BytesRead returns the bytes of the request's body that were read.
func (r *Record) BytesRead() int64 {
	if r.final() {
		return r.bytesRead
	}
	return r.read.Load()
}

// Hijacked says that the connection was taken over, as exec and attach do with HTTP/1.1.
func (r *Record) Hijacked() bool {
	if r.final() {
		return r.wasHijacked
	}
	return r.hijack.Load()
}

// Upgraded says that the connection was taken over to speak another protocol: status 101.
func (r *Record) Upgraded() bool { return r.Hijacked() && r.Status() == http.StatusSwitchingProtocols }

// Panicked says that a panic left the chain, on purpose (http.ErrAbortHandler) or not:
// the connection is aborted, and the client may not have got what was written.
func (r *Record) Panicked() bool { return r.final() && r.outerPanicked }

// Terminator returns the index of the filter that ended the request. It is false when
// the handler behind the chain answered, when nobody did (Panicked), and while the
// request runs.
func (r *Record) Terminator() (filter int, ok bool) {
	if !r.final() || r.ended < 0 || r.ended == len(r.spans)-1 {
		return 0, false
	}
	return r.chain.stops[r.ended].filter, true
}

// Span is the way of one request through one filter.
type Span struct {
	Entered  bool // the request reached the filter
	Passed   bool // the filter handed it on
	Returned bool // the filter is done with it
	Panicked bool // it was left by a panic, its own or one from further in
	// At is when the request reached the filter, counted from Record.Start.
	At time.Duration
	// In and Back are the filter's own time, without that of the filters behind it. A
	// request that ended here without an answer of the next has all its time in In.
	In, Back time.Duration
}

// Span returns the way through the filter with index i of Chain.Filters; i =
// len(Filters()) is the handler behind the chain. It is zero for a filter that is
// off, was not reached, or does not exist.
func (r *Record) Span(i int) Span {
	if i < 0 || i >= len(r.chain.at) || r.chain.at[i] < 0 {
		return Span{}
	}
	position := r.chain.at[i]
	s := &r.spans[position]
	entered := s.entered.Load()
	if entered <= 0 {
		return Span{}
	}
	left := exit(s.left.Load())
	own := r.own(position)
	return Span{
		Entered: true, Passed: own.passed, Returned: left > 0, Panicked: left > 0 && left&exitPanicked != 0,
		At: time.Duration(entered), In: own.in, Back: own.back,
	}
}

// RequestAt returns the request as the filter with index i got it; i = len(Filters())
// is the handler behind the chain. It is nil if the filter was not reached, or if a
// goroutine that was left behind may still be changing the request. Only Observer.Begin
// (for the outermost filter) and End may call it: at other times it returns nil.
func (r *Record) RequestAt(i int) *http.Request {
	if i < 0 || i >= len(r.chain.at) || r.chain.at[i] < 0 {
		return nil
	}
	return r.request(r.chain.at[i])
}

// Deepest returns the request as the innermost filter or handler that it reached got
// it, under the conditions of RequestAt.
func (r *Record) Deepest() *http.Request {
	position := 0
	if r.final() {
		position = max(r.still, 1) - 1
	}
	return r.request(position)
}

func (r *Record) request(position int) *http.Request {
	switch phase := r.phase.Load(); {
	case phase == phaseBeginning && position == 0, phase == phaseEnding && position < max(r.still, 1):
		return r.spans[position].request
	default:
		return nil
	}
}

// Context returns the context of the request as the innermost filter or handler that
// it reached got it, also where a goroutine that was left behind has it: a context
// does not change. It knows the RequestInfo, the user, and what else filters attached.
// Only Observer.Begin and End may call it: at other times it returns nil.
func (r *Record) Context() context.Context {
	switch r.phase.Load() {
	case phaseBeginning:
		return r.spans[0].request.Context()
	case phaseEnding:
		return r.spans[max(r.reached, 1)-1].request.Context()
	default:
		return nil
	}
}
