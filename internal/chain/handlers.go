package chain

import (
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/waitgroup"
	"k8s.io/apiserver/pkg/features"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/peerproxy"

	"github.com/kapi-dev/kapi/internal/handlerchain"
	"github.com/kapi-dev/kapi/internal/inspect"
)

// handlers builds the handler chain in front of the outermost layer; those of
// the inner layers are never used.
type handlers struct {
	inspector *inspect.Inspector
	peers     peerproxy.Interface
	// muxComplete and notAccepting are upstream's lifecycle events of these names.
	// A configuration keeps its own to itself; follow closes these.
	muxComplete, notAccepting chan struct{}
}

func newHandlers(inspector *inspect.Inspector, peers peerproxy.Interface) *handlers {
	return &handlers{inspector: inspector, peers: peers, muxComplete: make(chan struct{}), notAccepting: make(chan struct{})}
}

// build implements genericapiserver.Config.BuildHandlerChainFunc.
func (h *handlers) build(api http.Handler, config *genericapiserver.Config) http.Handler {
	config.Authentication.Authenticator = h.inspector.Authenticator(config.Authentication.Authenticator)
	options := handlerchain.Options{
		Signals: handlerchain.Signals{MuxAndDiscoveryComplete: h.muxComplete, NotAcceptingNewRequest: h.notAccepting},
		StorageVersionPrecondition: feature.DefaultFeatureGate.Enabled(features.StorageVersionAPI) &&
			feature.DefaultFeatureGate.Enabled(features.APIServerIdentity),
	}
	if h.peers != nil {
		options.PeerProxy = h.peers
	}
	return h.inspector.Handlers(handlerchain.Filters(config, options), LayerAggregator, api)
}

// follow closes the channels when the server that serves comes to the events. It
// returns when ended is closed.
func (h *handlers) follow(server *genericapiserver.GenericAPIServer, stopping, ended <-chan struct{}) {
	if installed(server, stopping, ended) {
		close(h.muxComplete)
	}
	select {
	case <-stopping:
	case <-ended:
		return
	}
	ticker := time.NewTicker(notAcceptingPoll)
	defer ticker.Stop()
	for !waiting(server.NonLongRunningRequestWaitGroup) {
		select {
		case <-ticker.C:
		case <-ended:
			return
		}
	}
	close(h.notAccepting)
}

// installed waits until all layers have all of their paths.
func installed(server *genericapiserver.GenericAPIServer, stopping, ended <-chan struct{}) bool {
	for _, complete := range server.MuxAndDiscoveryCompleteSignals() {
		select {
		case <-complete:
		case <-stopping:
			return false
		case <-ended:
			return false
		}
	}
	return true
}

// notAcceptingPoll is how often follow looks, and only while the server stops.
const notAcceptingPoll = 2 * time.Millisecond

// waiting says whether the server has begun to wait for its last requests. It
// does so as soon as the delay of the shutdown is over and all pre-shutdown hooks
// are done, which is the event NotAcceptingNewRequest.
func waiting(requests *waitgroup.SafeWaitGroup) bool {
	if err := requests.Add(1); err != nil {
		return true
	}
	requests.Done()
	return false
}
