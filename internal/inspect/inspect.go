// Package inspect is the lid taken off: it collects what the observers of its
// subpackages see, and serves it as the group inspect.kapi.dev, a layer of the
// server chain. The subpackages are
//
//	store      tables in memory, listed and watched
//	kinds      how each resource looks: names, columns, fields
//	rest       tables as REST resources
//	requests   layers, filters and request traces
//	auth       authenticators, authorizers, admission plugins, flow control
//	route      dry run of a request
//	stored     keys and values of etcd
//	boot       boot steps, post-start hooks, health checks
//	resources  registrations, storage, discovery, etcd
//	conditions transitions and APIService probes
//	metrics    the same as Prometheus metrics
//	refdoc     the command that writes docs/reference/inspect-api.md
//
// This package puts them together and nothing else. Only chain and app import it.
package inspect

import (
	"context"
	"sync/atomic"
	"time"

	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/handlerchain"
	"github.com/kapi-dev/kapi/internal/inspect/auth"
	"github.com/kapi-dev/kapi/internal/inspect/auth/configured"
	"github.com/kapi-dev/kapi/internal/inspect/requests"
	inspectrest "github.com/kapi-dev/kapi/internal/inspect/rest"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Sizes and times of tables.
const (
	// history is how many changes of a table a watch can be resumed from.
	history = 1000
	// buffer is how many events a watch may be behind before it is dropped.
	buffer = 1000
	// period is how often counters are published to those who watch.
	period = 500 * time.Millisecond
	// transitionsKept is how many changes of conditions are remembered.
	transitionsKept = 1000
)

// Names of resources that this package speaks of.
const (
	traces         = v1alpha1.ResourceRequestTraces
	transitions    = "conditiontransitions"
	explanations   = v1alpha1.ResourceRouteExplanations
	storedKeys     = v1alpha1.ResourceStoredKeyQueries
	bootSteps      = "bootsteps"
	postStartHooks = "poststarthooks"
	probes         = "apiserviceprobes"

	discoveryStates = "discoverystates"
)

// Options say what is remembered; package config documents each.
type Options struct {
	// Observe puts observers around filters, layers and plugins.
	Observe bool
	// Traces and NotableTraces are how many request traces are kept.
	Traces, NotableTraces int
	// SlowerThan is the duration from which a request is slow.
	SlowerThan time.Duration
	// WatchRate is how many traces a second one watch gets.
	WatchRate int
}

// Config is what is known of the server before its layers are built.
type Config struct {
	Options

	// Start has watched the start so far.
	Start *Start
	// ServerID is the identity of the server (genericapiserver.Config.APIServerID).
	ServerID string
	// Layers are the names of the layers, outermost first, with the end of the chain.
	Layers []string
	// MaxRequestBodyBytes is the limit of a request's body.
	MaxRequestBodyBytes int64
	// LongRunning tells requests without a deadline.
	LongRunning apirequest.LongRunningRequestCheck
	// Authentication and Authorization are as configured.
	Authentication *configured.Authentication
	Authorization  *configured.Authorization
	// Plugins are all admission plugins, in order.
	Plugins []auth.ConfiguredPlugin
}

// Inspector holds the observers and the tables of one server.
type Inspector struct {
	cfg            Config
	started        time.Time
	revision       *store.Revision
	requests       *requests.Observer
	authenticators *auth.Authenticators
	authorizers    *auth.Authorizers
	admission      *auth.Admission

	// transitions is the one log that no observer keeps itself.
	transitions *store.Log
	snapshots   map[string]*store.Snapshot
	// chain is the handler chain, once it is built.
	chain atomic.Pointer[handlerchain.Chain]
	// built is set by Attach: what is collected from the finished server.
	built atomic.Pointer[built]
}

// New returns an inspector whose tables are empty until Attach is called.
func New(cfg Config) *Inspector {
	i := &Inspector{cfg: cfg, started: time.Now(), revision: store.NewRevision(time.Now()), snapshots: map[string]*store.Snapshot{}}
	i.built.Store(&built{})
	i.requests = requests.New(requests.Config{
		ServerID: cfg.ServerID, Revision: i.revision, Layers: i.layers(),
		Capacity: cfg.Traces, Kept: cfg.NotableTraces, Buffer: buffer, SlowerThan: cfg.SlowerThan,
		MaxRequestBodyBytes: cfg.MaxRequestBodyBytes, LongRunning: cfg.LongRunning, Proxied: i.proxied,
	})
	i.authenticators = auth.NewAuthenticators(cfg.Authentication.Config(cfg.ServerID))
	i.authorizers = auth.NewAuthorizers(cfg.Authorization.Config(cfg.ServerID))
	i.admission = auth.NewAdmission(auth.AdmissionConfig{
		ServerID: cfg.ServerID, Plugins: cfg.Plugins, Rejected: i.requests.Rejected,
	})
	i.transitions = store.NewLog(store.LogOptions{Revision: i.revision, Capacity: transitionsKept, Buffer: buffer})
	for _, kind := range kinds.All() {
		if i.log(kind.Resource) == nil {
			i.snapshots[kind.Resource] = store.NewSnapshot(store.SnapshotOptions{
				Revision: i.revision, History: history, Buffer: buffer, Period: period,
			}, i.collect(kind.Resource))
		}
	}
	cfg.Start.inspector.Store(i)
	return i
}

// log returns the table of a resource that is a history, nil for all others.
func (i *Inspector) log(resource string) *store.Log {
	switch resource {
	case traces:
		return i.requests.Traces()
	case transitions:
		return i.transitions
	}
	return nil
}

// table returns the table of any resource.
func (i *Inspector) table(resource string) inspectrest.Table {
	if log := i.log(resource); log != nil {
		return log
	}
	if resource == discoveryStates {
		return measured{i.snapshots[resource], i.measure}
	}
	return i.snapshots[resource]
}

func (i *Inspector) collect(resource string) store.Collect {
	return func(ctx context.Context) ([]store.Object, error) {
		if collect := i.built.Load().collectors[resource]; collect != nil {
			return collect(ctx)
		}
		return nil, nil
	}
}

// close ends all watches.
func (i *Inspector) close() {
	for _, table := range i.snapshots {
		table.Close()
	}
	i.transitions.Close()
	i.requests.Traces().Close()
}
