package chain

import (
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"
)

// wrapped is a delegation target with something in front of its handler. Only the
// handler is replaced: hooks, health checks and listed paths of the delegate stay
// as they are.
type wrapped struct {
	genericapiserver.DelegationTarget

	wrap func(http.Handler) http.Handler
}

// UnprotectedHandler implements genericapiserver.DelegationTarget. Upstream
// takes it once, when it builds the server in front of this one.
func (w wrapped) UnprotectedHandler() http.Handler {
	return w.wrap(w.DelegationTarget.UnprotectedHandler())
}
