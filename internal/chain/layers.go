package chain

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/notfoundhandler"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	kubeoptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/controlplane"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect"
	"github.com/kapi-dev/kapi/internal/inspect/rest"
	"github.com/kapi-dev/kapi/internal/storage"
)

// Names of the layers, as they are shown everywhere.
const (
	LayerAggregator    = "aggregator"
	LayerKubeAPIServer = "kube-apiserver"
	LayerInspect       = "inspect"
	LayerAPIExtensions = "apiextensions"
	// LayerNotFound is the end of the chain: it answers 404.
	LayerNotFound = "not-found"
)

// Config is all that a chain is built from.
type Config struct {
	// Options are the completed and validated options of kube-apiserver, with
	// the listener set (Options.SecureServing.Listener).
	Options kubeoptions.CompletedOptions
	// Backend is the embedded etcd; nil means that Options.Etcd names an external one.
	Backend *storage.Backend
	// Services are the services that are reached at a fixed address.
	Services ServiceMap
	// Nowhere are addresses of pods that nobody runs; nil means that there are none.
	Nowhere Nowhere
	// Etcd reaches the store past the resources, to ask how it is.
	Etcd Etcd
	// Start has watched the start of the process so far.
	Start *inspect.Start
	// Inspect says what the layer of inspect.kapi.dev remembers.
	Inspect inspect.Options
	// Given says whether a flag was given, and is no default; nil means that none was.
	Given func(flag string) bool
	// Controllers returns the controllers that the process could run, as they are now;
	// it is asked whenever somebody looks, may be called from many goroutines, and what
	// it returns is its caller's. Nil means that there are none.
	Controllers func() []*v1alpha1.Controller
	// Identity is this server's among all on the same etcd; empty means that the host's
	// name tells them apart.
	Identity string
	// GitVersion is the Kubernetes version that /version answers ("v1.37.2").
	GitVersion string
}

// Etcd is the store as something to look at.
type Etcd struct {
	// Client asks it; nil means that it can't be asked.
	Client *clientv3.Client
	// Endpoints are its members' URLs.
	Endpoints []string
	// Quota is the size at which writes are refused, in bytes; 0 if it is not known.
	Quota int64
}

// Layer is one server of the chain.
type Layer = inspect.Layer

// Chain is the built server chain. It is built by New, and serves in Run.
type Chain struct {
	// Layers are the servers, outermost first.
	Layers []Layer

	aggregator *aggregator.APIAggregator
	handlers   *handlers
	inspector  *inspect.Inspector
	stopping   <-chan struct{}
	// apis are the informers of what adds APIs to the server.
	apis []cache.SharedIndexInformer
}

// configs are the three upstream configurations before they are completed.
type configs struct {
	generic       *generic
	inspector     *inspect.Inspector
	handlers      *handlers
	kubeAPIs      *controlplane.Config
	apiExtensions *apiextensions.Config
	aggregator    *aggregator.Config
}

// New builds the chain: it opens no port and starts no controller, but the
// stores that it creates begin to fill their watch caches.
func New(cfg Config) (*Chain, error) {
	c, err := newConfigs(cfg)
	if err != nil {
		return nil, err
	}
	notFound := genericapiserver.NewEmptyDelegateWithCustomHandler(
		notfoundhandler.New(c.kubeAPIs.ControlPlane.Generic.Serializer, genericapifilters.NoMuxAndDiscoveryIncompleteKey))

	// Innermost first: a server takes its delegate when it is made.
	apiExtensionsServer, err := c.apiExtensions.Complete().New(c.layer(LayerNotFound, notFound))
	if err != nil {
		return nil, fmt.Errorf("building layer %s: %w", LayerAPIExtensions, err)
	}
	inspectServer, err := newInspect(c, c.layer(LayerAPIExtensions, apiExtensionsServer.GenericAPIServer))
	if err != nil {
		return nil, fmt.Errorf("building layer %s: %w", LayerInspect, err)
	}
	kubeAPIServer, err := newKubeAPIServer(c, c.layer(LayerInspect, wrapped{inspectServer, rest.Abortable}))
	if err != nil {
		return nil, fmt.Errorf("building layer %s: %w", LayerKubeAPIServer, err)
	}
	aggregatorServer, err := newAggregator(c.aggregator, c.layer(LayerKubeAPIServer, kubeAPIServer), apiExtensionsServer, c.apiExtensions)
	if err != nil {
		return nil, fmt.Errorf("building layer %s: %w", LayerAggregator, err)
	}
	chain := &Chain{
		aggregator: aggregatorServer,
		handlers:   c.handlers,
		inspector:  c.inspector,
		stopping:   c.aggregator.GenericConfig.ShutdownInitiatedNotify(),
		Layers: []Layer{
			{Name: LayerAggregator, Server: aggregatorServer.GenericAPIServer},
			{Name: LayerKubeAPIServer, Server: kubeAPIServer},
			{Name: LayerInspect, Server: inspectServer},
			{Name: LayerAPIExtensions, Server: apiExtensionsServer.GenericAPIServer},
		},
	}
	done := &finished{configs: c, layers: chain.Layers, aggregator: aggregatorServer, apiExtensions: apiExtensionsServer}
	target, err := done.inspected(cfg)
	if err != nil {
		return nil, fmt.Errorf("building layer %s: %w", LayerInspect, err)
	}
	chain.apis = []cache.SharedIndexInformer{target.Definitions, target.APIServices}
	return chain, c.inspector.Attach(target)
}

// newKubeAPIServer builds the layer with the built-in groups.
func newKubeAPIServer(c *configs, delegate genericapiserver.DelegationTarget) (*genericapiserver.GenericAPIServer, error) {
	config := c.kubeAPIs.ControlPlane.Generic
	replaced := disableReplacedHooks(config)
	config.SkipOpenAPIInstallation = true // serveOpenAPI does it
	server, err := c.kubeAPIs.Complete().New(delegate)
	if err != nil {
		return nil, err
	}
	generic := server.ControlPlane.GenericAPIServer
	if err := addBootstrapHooks(generic, c, replaced); err != nil {
		return nil, err
	}
	if err := addFaults(generic, c); err != nil {
		return nil, err
	}
	return generic, serveOpenAPI(generic, config.OpenAPIConfig, config.OpenAPIV3Config)
}

// layer returns target with each request that it gets reported as a hop.
func (c *configs) layer(name string, target genericapiserver.DelegationTarget) genericapiserver.DelegationTarget {
	return wrapped{target, func(next http.Handler) http.Handler { return c.inspector.Layer(name, next) }}
}

func newConfigs(cfg Config) (*configs, error) {
	if cfg.Given == nil {
		cfg.Given = func(string) bool { return false }
	}
	generic, err := newGeneric(cfg)
	if err != nil {
		return nil, err
	}
	inspector, err := newInspector(cfg, generic)
	if err != nil {
		return nil, fmt.Errorf("configuring layer %s: %w", LayerInspect, err)
	}
	kubeAPIs, services, initializers, err := newKubeAPIs(cfg, generic)
	if err != nil {
		return nil, fmt.Errorf("configuring layer %s: %w", LayerKubeAPIServer, err)
	}
	kubeAPIs.ControlPlane.Generic.FlowControl = inspector.FlowControl(kubeAPIs.ControlPlane.Generic.FlowControl)
	apiExtensionsConfig, err := newAPIExtensions(cfg, kubeAPIs, services, initializers)
	if err != nil {
		return nil, fmt.Errorf("configuring layer %s: %w", LayerAPIExtensions, err)
	}
	handlers := newHandlers(inspector, kubeAPIs.ControlPlane.PeerProxy)
	aggregatorConfig, err := newAggregatorConfig(cfg, handlers, kubeAPIs, services, initializers)
	if err != nil {
		return nil, fmt.Errorf("configuring layer %s: %w", LayerAggregator, err)
	}
	return &configs{generic, inspector, handlers, kubeAPIs, apiExtensionsConfig, aggregatorConfig}, nil
}

// Run serves until ctx is done, and then ends as upstream does: readyz fails,
// requests under way finish, watches are closed, hooks stop. It returns the
// error that kept it from serving or from ending cleanly.
func (c *Chain) Run(ctx context.Context) error {
	ended := make(chan struct{})
	var beside sync.WaitGroup
	defer beside.Wait()
	defer close(ended)
	// Before the informers start: what they bring then was not seen to come about.
	beside.Go(func() { c.inspector.Run(ended) })
	prepared, err := c.aggregator.PrepareRun()
	if err != nil {
		return fmt.Errorf("preparing the server chain: %w", err)
	}
	c.inspector.AttachHooks()
	beside.Go(func() { c.inspector.RunHooks(ended) })
	beside.Go(func() { c.closeLoopback(ended) })
	beside.Go(func() { c.handlers.follow(c.Outermost(), c.stopping, ended) })
	return prepared.Run(ctx)
}

// FollowAPIs calls back whenever a CustomResourceDefinition or an APIService was
// added, changed or deleted, and at first for each that there is. The callback must
// return at once.
func (c *Chain) FollowAPIs(callback func()) error {
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { callback() },
		UpdateFunc: func(any, any) { callback() },
		DeleteFunc: func(any) { callback() },
	}
	for _, informer := range c.apis {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	return nil
}

// closeLoopback closes idle connections of the server to itself from the moment
// it is told to stop. A connection that is idle when the server says goodbye on
// it (GOAWAY) stays open for a second, which the stop would wait for; a busy one
// is closed when its last request ends.
func (c *Chain) closeLoopback(ended <-chan struct{}) {
	select {
	case <-c.stopping:
	case <-ended:
		return
	}
	transport, err := clientrest.TransportFor(c.Outermost().LoopbackClientConfig)
	if err != nil {
		return
	}
	ticker := time.NewTicker(loopbackClosePoll)
	defer ticker.Stop()
	for {
		utilnet.CloseIdleConnectionsFor(transport)
		select {
		case <-ticker.C:
		case <-ended:
			return
		}
	}
}

// loopbackClosePoll is how often closeLoopback looks for idle connections.
const loopbackClosePoll = time.Millisecond

// Outermost returns the server that all requests enter.
func (c *Chain) Outermost() *genericapiserver.GenericAPIServer { return c.Layers[0].Server }

// Unprotected returns the chain without its filters: no authentication, no
// authorization. It is for checks from inside the process only.
func (c *Chain) Unprotected() http.Handler { return c.Outermost().UnprotectedHandler() }
