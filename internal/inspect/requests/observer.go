package requests

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/kapi-dev/kapi/internal/handlerchain"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// What a Config means where it is silent.
const (
	DefaultCapacity   = 2000
	DefaultKept       = 500
	DefaultBuffer     = 1000
	DefaultSlowerThan = time.Second
)

// Config is what an Observer needs to know of the server.
type Config struct {
	// ServerID is the identity of the API server; all objects carry it.
	ServerID string
	// Revision is the counter of the server's tables.
	Revision *store.Revision
	// Layers are the layers of the server chain, outermost first. The last one is
	// the end of the chain, which answers 404.
	Layers []Layer
	// Capacity is how many traces are kept; 0 means DefaultCapacity.
	Capacity int
	// Kept is how many traces of slow and failed requests are kept beyond that; 0
	// means DefaultKept.
	Kept int
	// Buffer is how many traces a watcher may be behind; 0 means DefaultBuffer.
	Buffer int
	// SlowerThan is how long a request that is not long-running takes when it is
	// slow; 0 means DefaultSlowerThan.
	SlowerThan time.Duration
	// MaxRequestBodyBytes is the limit of a request's body; 0 means that there is none.
	MaxRequestBodyBytes int64
	// LongRunning tells requests without a deadline; nil means that there are none.
	LongRunning apirequest.LongRunningRequestCheck
	// Proxied names the APIService of a group version that an aggregated server
	// serves; it is false for those that are served here. It is asked on the
	// request's way: it must be quick. nil means that there are none.
	Proxied func(group, version string) (apiService string, ok bool)
}

// Observer is told of every request, counts, and keeps traces. It implements
// handlerchain.Observer. All methods may be called by many goroutines.
type Observer struct {
	cfg    Config
	layers []*layer
	byName map[string]*layer
	traces *store.Log
	// chain is set before the first request comes.
	chain atomic.Pointer[observedChain]

	prefix                string // of the names of traces
	number                atomic.Int64
	received              atomic.Int64
	over                  atomic.Int64
	ended                 atomic.Int64 // by filters
	slow, failed, givenUp atomic.Int64

	unavailable unavailable
}

// observedChain is what is known of the handler chain that reports here.
type observedChain struct {
	chain *handlerchain.Chain
	names []string
	// impersonation is the index of the filter that changes the user; -1 if there is none.
	impersonation int
}

// New returns an observer that has seen nothing yet.
func New(cfg Config) *Observer {
	cfg = cfg.withDefaults()
	o := &Observer{cfg: cfg, byName: map[string]*layer{}, prefix: strconv.FormatInt(time.Now().UnixMilli(), 36) + "-"}
	for _, description := range cfg.Layers {
		l := &layer{Layer: description}
		o.layers = append(o.layers, l)
		o.byName[l.Name] = l
	}
	o.traces = store.NewLog(store.LogOptions{
		Revision: cfg.Revision, Capacity: cfg.Capacity, Buffer: cfg.Buffer,
		Kept: cfg.Kept, Keep: worthKeeping,
	})
	return o
}

func (c Config) withDefaults() Config {
	for _, one := range []struct {
		value    *int
		fallback int
	}{{&c.Capacity, DefaultCapacity}, {&c.Kept, DefaultKept}, {&c.Buffer, DefaultBuffer}} {
		if *one.value == 0 {
			*one.value = one.fallback
		}
	}
	if c.SlowerThan == 0 {
		c.SlowerThan = DefaultSlowerThan
	}
	if c.Revision == nil {
		c.Revision = store.NewRevision(time.Now())
	}
	return c
}

// NewChain makes the handler chain of filters that reports to o. It is to be called
// once, before the first request.
func (o *Observer) NewChain(filters []handlerchain.Filter) *handlerchain.Chain {
	observed := &observedChain{chain: handlerchain.New(filters, o), impersonation: -1}
	for i, filter := range filters {
		observed.names = append(observed.names, filter.Name)
		if filter.Enabled && changesUser[filter.Name] {
			observed.impersonation = i
		}
	}
	o.chain.Store(observed)
	return observed.chain
}

// Unobserved makes the handler chain of filters without probes: Filters lists them,
// and nothing is counted.
func (o *Observer) Unobserved(filters []handlerchain.Filter) *handlerchain.Chain {
	chain := handlerchain.New(filters, nil)
	o.chain.Store(&observedChain{chain: chain, impersonation: -1})
	return chain
}

// changesUser are the filters behind which a request may have another user.
var changesUser = map[string]bool{"impersonation": true, "constrained-impersonation": true}

func (c *observedChain) name(filter int) string {
	if c == nil || filter >= len(c.names) {
		return ""
	}
	return c.names[filter]
}

// Begin implements handlerchain.Observer.
func (o *Observer) Begin(record *handlerchain.Record) {
	o.received.Add(1)
	t := &trace{observer: o, record: record}
	t.asked.take(record.Deepest())
	record.Data = t
}

// End implements handlerchain.Observer.
func (o *Observer) End(record *handlerchain.Record) {
	t, _ := record.Data.(*trace)
	if t == nil {
		return
	}
	t.close()
	t.finish()
	o.count(t)
	t.number = o.number.Add(1)
	o.traces.Append(t)
	o.over.Add(1) // last: whoever sees a request as over sees all of it
}

// count adds a finished trace to the counters of the layers and of the whole.
func (o *Observer) count(t *trace) {
	hops := t.entered()
	for i, hop := range hops {
		switch {
		case i < len(hops)-1:
			hop.layer.passedOn.Add(1)
		case t.answeredBy != hop.layer:
			hop.layer.abandoned.Add(1)
		default:
			hop.layer.answered(t)
		}
	}
	switch {
	case t.filter >= 0:
		o.ended.Add(1)
	case t.record.Panicked():
		o.givenUp.Add(1)
	}
	if t.slow {
		o.slow.Add(1)
	}
	if t.failed() {
		o.failed.Add(1)
	}
	if t.apiService != "" && t.answeredBy != nil && t.record.Status() == http.StatusServiceUnavailable {
		o.unavailable.add(t.apiService)
	}
}

// Hop notes that a layer got a request. chain calls it for each layer, also the
// outermost; of a request without a record nothing is noted.
func (o *Observer) Hop(r *http.Request, layer string) {
	if t := o.trace(r.Context()); t != nil {
		if l := o.byName[layer]; l != nil {
			t.hop(l)
		}
	}
}

// Layer returns next with each of its requests noted as a hop into a layer.
func (o *Observer) Layer(layer string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.Hop(r, layer)
		next.ServeHTTP(w, r)
	})
}

// Traces returns the table of traces.
func (o *Observer) Traces() *store.Log { return o.traces }

// Totals are counts of all requests. Answers of layers, Terminated, GivenUp and
// InFlight add up to Received.
type Totals struct {
	// Received is how many requests have entered the chain.
	Received int64
	// InFlight is how many are in it now.
	InFlight int64
	// Terminated is how many were ended by filters.
	Terminated int64
	// GivenUp is how many ended without an answer: the connection was aborted.
	GivenUp int64
	// Slow and Failed are how many of those that are over were so.
	Slow, Failed int64
}

// Totals returns the counts of all requests since the start.
func (o *Observer) Totals() Totals {
	// What has ended is read first, so that InFlight is never negative.
	over, totals := o.over.Load(), Totals{
		Terminated: o.ended.Load(), GivenUp: o.givenUp.Load(), Slow: o.slow.Load(), Failed: o.failed.Load(),
	}
	totals.Received = o.received.Load()
	totals.InFlight = totals.Received - over
	return totals
}
