package requests

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/kapi-dev/kapi/internal/handlerchain"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// maxHops is more than a chain has layers; a request that enters layers more often,
// as a handler that calls others does with the same context, is not followed further.
const maxHops = 8

// trace is one request: what is noted while it runs, and what is made of that when
// it is over. Then it does not change any more, whatever a goroutine that was left
// behind by a timeout still reports.
type trace struct {
	observer *Observer
	record   *handlerchain.Record
	number   int64
	asked    asked

	mu   sync.Mutex
	over bool
	// Guarded by mu until over is set, and constant from then on.
	hops                      [maxHops]hop
	hopped                    int
	flowSchema, priorityLevel string
	rejectedBy                string // the admission plugin
	apiService, address       string
	connected                 bool // address is that of the connection that was used

	// Set by finish.
	info       info
	auditID    string
	user       identity
	filter     int    // the filter that ended the request; -1 if none did
	answeredBy *layer // nil if no layer did
	long, slow bool
}

// hop is the entry into a layer.
type hop struct {
	layer *layer
	at    time.Duration
}

// trace returns the trace of the request with this context; nil if it has none.
func (o *Observer) trace(ctx context.Context) *trace {
	record := handlerchain.RecordFrom(ctx)
	if record == nil {
		return nil
	}
	t, _ := record.Data.(*trace)
	if t == nil || t.observer != o {
		return nil
	}
	return t
}

// note changes the trace, unless the request is over.
func (t *trace) note(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		change()
	}
}

func (t *trace) hop(l *layer) {
	at := time.Since(t.record.Start())
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.hopped == maxHops {
		return
	}
	t.hops[t.hopped] = hop{layer: l, at: at}
	t.hopped++
	l.received.Add(1) // under the lock: what is counted here gets an outcome in count
}

// close ends all noting.
func (t *trace) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

func (t *trace) entered() []hop { return t.hops[:t.hopped] }

// innermost returns the name of the last layer that got the request.
func (t *trace) innermost() string {
	if t.hopped == 0 {
		return ""
	}
	return t.hops[t.hopped-1].layer.Name
}

// failed says that the answer tells of a fault of the server, or that there was none.
func (t *trace) failed() bool {
	status := t.record.Status()
	return status >= http.StatusInternalServerError || status == 0 || (t.filter < 0 && t.record.Panicked())
}

// worthKeeping chooses the traces that are kept longer than others.
func worthKeeping(entry store.Entry) bool {
	t, ok := entry.(*trace)
	return ok && (t.slow || t.failed())
}

// Name implements store.Entry. Names rise with time, also over restarts.
func (t *trace) Name() string { return t.observer.prefix + strconv.FormatInt(t.number, 10) }

// Rejected notes that an admission plugin has refused the change that the request
// with this context asks for.
func (o *Observer) Rejected(ctx context.Context, plugin string) {
	if t := o.trace(ctx); t != nil {
		t.note(func() { t.rejectedBy = plugin })
	}
}
