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
//	boot       boot steps, post-start hooks, health checks
//	resources  registrations, storage, discovery, etcd
//	conditions transitions and APIService probes
//	metrics    the same as Prometheus metrics
//
// This package puts them together and nothing else. Only chain and app import it.
package inspect

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"

	"github.com/kapi-dev/kapi/internal/handlerchain"
	"github.com/kapi-dev/kapi/internal/inspect/auth"
	"github.com/kapi-dev/kapi/internal/inspect/auth/configured"
	"github.com/kapi-dev/kapi/internal/inspect/kinds"
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
	revision       *store.Revision
	requests       *requests.Observer
	authenticators *auth.Authenticators
	authorizers    *auth.Authorizers
	admission      *auth.Admission
	snapshots      map[string]*store.Snapshot
	// built is set by Attach: what is collected from the finished server.
	built atomic.Pointer[built]
}

// New returns an inspector whose tables are empty until Attach is called.
func New(cfg Config) *Inspector {
	i := &Inspector{cfg: cfg, revision: store.NewRevision(time.Now()), snapshots: map[string]*store.Snapshot{}}
	i.built.Store(&built{})
	i.requests = requests.New(requests.Config{
		ServerID: cfg.ServerID, Revision: i.revision, Layers: i.layers(),
		Capacity: cfg.Traces, Kept: cfg.NotableTraces, Buffer: buffer, SlowerThan: cfg.SlowerThan,
		MaxRequestBodyBytes: cfg.MaxRequestBodyBytes, LongRunning: cfg.LongRunning,
	})
	i.authenticators = auth.NewAuthenticators(cfg.Authentication.Config(cfg.ServerID))
	i.authorizers = auth.NewAuthorizers(cfg.Authorization.Config(cfg.ServerID))
	i.admission = auth.NewAdmission(auth.AdmissionConfig{
		ServerID: cfg.ServerID, Plugins: cfg.Plugins, Rejected: i.requests.Rejected,
	})
	for _, kind := range kinds.All() {
		if kind.Resource == traces {
			continue
		}
		i.snapshots[kind.Resource] = store.NewSnapshot(store.SnapshotOptions{
			Revision: i.revision, History: history, Buffer: buffer, Period: period,
		}, i.collect(kind.Resource))
	}
	return i
}

func (i *Inspector) collect(resource string) store.Collect {
	return func(ctx context.Context) ([]store.Object, error) {
		if collect := i.built.Load().collectors[resource]; collect != nil {
			return collect(ctx)
		}
		return nil, nil
	}
}

// Handlers builds the handler chain of filters in front of api, the outermost layer.
func (i *Inspector) Handlers(filters []handlerchain.Filter, layer string, api http.Handler) http.Handler {
	if !i.cfg.Observe {
		return handlerchain.New(filters, nil).Wrap(api)
	}
	return i.requests.NewChain(filters).Wrap(i.requests.Layer(layer, i.requests.ObserveProxy(api)))
}

// Layer returns next with each request that it gets noted as a hop into a layer.
func (i *Inspector) Layer(name string, next http.Handler) http.Handler {
	if !i.cfg.Observe {
		return next
	}
	return i.requests.Layer(name, next)
}

// FlowControl returns next with what it decides noted in request traces.
func (i *Inspector) FlowControl(next utilflowcontrol.Interface) utilflowcontrol.Interface {
	if !i.cfg.Observe {
		return next
	}
	return i.requests.FlowControl(next)
}

// Authenticator returns next with a counter around each of its parts.
func (i *Inspector) Authenticator(next authenticator.Request) authenticator.Request {
	if !i.cfg.Observe {
		return next
	}
	return i.authenticators.Wrap(next)
}

// Authorizer returns next with a counter around each of its parts.
func (i *Inspector) Authorizer(next authorizer.Authorizer) authorizer.Authorizer {
	if !i.cfg.Observe {
		return next
	}
	return i.authorizers.Wrap(next)
}

// Decorators returns decorators with one in front that counts what each admission
// plugin decides.
func (i *Inspector) Decorators(decorators admission.Decorators) admission.Decorators {
	if !i.cfg.Observe {
		return decorators
	}
	return append(admission.Decorators{i.admission}, decorators...)
}

// GroupInfo returns the group for a generic server to install.
func (i *Inspector) GroupInfo(scheme *runtime.Scheme) *genericapiserver.APIGroupInfo {
	storages := map[string]rest.Storage{}
	for _, kind := range kinds.All() {
		if table := i.snapshots[kind.Resource]; table != nil {
			storages[kind.Resource] = inspectrest.New(kind, table)
		} else {
			storages[kind.Resource] = inspectrest.New(kind, i.requests.Traces(),
				inspectrest.WithHidden(ownRequests), inspectrest.WithLimit(i.rate))
		}
	}
	return inspectrest.GroupInfo(scheme, storages)
}

// Run does what goes on while the server serves, and returns when ended is closed.
func (i *Inspector) Run(ended <-chan struct{}) {
	<-ended
	for _, table := range i.snapshots {
		table.Close()
	}
	i.requests.Traces().Close()
}
