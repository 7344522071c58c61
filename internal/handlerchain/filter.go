package handlerchain

import (
	"net/http"

	"k8s.io/apiserver/pkg/features"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// Filter is one entry of the handler chain.
type Filter struct {
	// Name is stable and unique in a chain, such as "audit-init" or "authorization".
	Name string
	// Doc says in a sentence or two what the filter does and how it can end a request.
	Doc string
	// Enabled says that requests pass this filter.
	Enabled bool
	// Reason says why the filter is off, and which flag or feature gate turns it on.
	// Empty when it is on.
	Reason string
	// Wrap puts the filter in front of a handler. It is nil for a filter that is off,
	// except where upstream builds the filter in any case: then it lets all through.
	Wrap func(http.Handler) http.Handler

	// builder is what upstream calls for this entry; the drift test compares it.
	builder builder
	// always says that upstream builds the filter whether it does something or not:
	// what comes with it (filter latency metrics, warnings in the log) stays the same.
	always bool
	// detaches says that the filter may return while the next is running, and cuts off
	// the writer that it gave to it.
	detaches bool
	// defers says that the handler's work may go on here after the next has returned.
	defers bool
}

// builder names what upstream calls to build one filter.
type builder struct {
	constructor string   // function without package
	latency     string   // name in apiserver_request_filter_duration_seconds, when it has one
	when        string   // upstream's condition, as its source has it; empty when there is none
	failed      []string // what builds a second handler that the filter ends requests with
}

// Signals are the events in the life of the server that filters wait for. Upstream
// keeps them in an unexported field of its configuration. A nil channel is an event
// that never comes, for MuxAndDiscoveryComplete one that has come.
type Signals struct {
	// MuxAndDiscoveryComplete is closed when all paths are installed: until then an
	// unknown path is 503, not 404.
	MuxAndDiscoveryComplete <-chan struct{}
	// NotAcceptingNewRequest is closed when the delay of the shutdown is over and the
	// pre-shutdown hooks are done: from then on new requests get 429 (retry-after).
	NotAcceptingNewRequest <-chan struct{}
	// ShuttingDown tells running watches to end (watch-termination). Upstream uses one
	// event for both; nil means NotAcceptingNewRequest.
	ShuttingDown <-chan struct{}
}

// PeerProxy hands requests for what only a peer can serve to that peer. It is the
// one method of k8s.io/apiserver/pkg/util/peerproxy.Interface that the chain needs.
type PeerProxy interface {
	WrapHandler(http.Handler) http.Handler
}

// Options are what the chain needs beside the configuration of the server.
type Options struct {
	Signals
	// PeerProxy may be nil: then the filter is off.
	PeerProxy PeerProxy
	// StorageVersionPrecondition holds writes back until storage versions are
	// registered: on when the gates StorageVersionAPI and APIServerIdentity are.
	StorageVersionPrecondition bool
}

// Filters returns all filters of the chain in front of the outermost layer,
// outermost first, also those that are off. c must be complete: it is what upstream
// hands to Config.BuildHandlerChainFunc. Nothing is built before Wrap is called.
// Source: DefaultBuildHandlerChain in k8s.io/apiserver/pkg/server/config.go, and
// CreateAggregatorConfig in k8s.io/kubernetes/pkg/controlplane/apiserver/aggregator.go.
func Filters(c *genericapiserver.Config, o Options) []Filter {
	gates := c.FeatureGate
	if gates == nil { // the process's, which a configuration gets when it is completed
		gates = utilfeature.DefaultFeatureGate
	}
	t := table{
		c: c, o: o,
		routine:     gates.Enabled(features.APIServingWithRoutine),
		constrained: gates.Enabled(features.ConstrainedImpersonation),
	}
	var filters []Filter
	for _, part := range [][]Filter{t.arrival(), t.shutdown(), t.identity(), t.admission()} {
		filters = append(filters, part...)
	}
	for i := range filters {
		f := &filters[i]
		if f.Enabled {
			f.Reason = ""
		} else if !f.always {
			f.Wrap = nil
		}
	}
	return filters
}

// table builds the entries. In it every Reason is written, also of filters that
// are on; Filters clears those.
type table struct {
	c *genericapiserver.Config
	o Options

	routine, constrained bool // feature gates
}
