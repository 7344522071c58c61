package chain

import (
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"
)

// HopObserver is told when a layer gets a request that the layer before it
// passed on. It is called on the request's path: it must be quick and safe for
// use by many goroutines.
type HopObserver interface {
	Hop(r *http.Request, layer string)
}

// observed returns target, with each request that enters it reported as a hop
// into layer. Only the handler is replaced: hooks, health checks and listed
// paths of the delegate stay as they are.
func observed(target genericapiserver.DelegationTarget, layer string, observer HopObserver) genericapiserver.DelegationTarget {
	if observer == nil {
		return target
	}
	return &observedDelegate{DelegationTarget: target, layer: layer, observer: observer}
}

type observedDelegate struct {
	genericapiserver.DelegationTarget

	layer    string
	observer HopObserver
}

// UnprotectedHandler implements genericapiserver.DelegationTarget. Upstream
// takes it once, when it builds the server in front of this one.
func (d *observedDelegate) UnprotectedHandler() http.Handler {
	next := d.DelegationTarget.UnprotectedHandler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.observer.Hop(r, d.layer)
		next.ServeHTTP(w, r)
	})
}
