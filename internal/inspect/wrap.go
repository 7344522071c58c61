package inspect

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/handlerchain"
	"github.com/kapi-dev/kapi/internal/inspect/boot"
	inspectrest "github.com/kapi-dev/kapi/internal/inspect/rest"
)

// The methods below put observers around parts of the server while it is built.
// Without Options.Observe each returns what it was given, but for Authorizer.

// Handlers builds the handler chain of filters in front of api, the outermost layer.
func (i *Inspector) Handlers(filters []handlerchain.Filter, layer string, api http.Handler) http.Handler {
	if !i.cfg.Observe {
		return i.keep(i.requests.Unobserved(filters)).Wrap(api)
	}
	return i.keep(i.requests.NewChain(filters)).Wrap(i.requests.Layer(layer, i.requests.ObserveProxy(api)))
}

func (i *Inspector) keep(chain *handlerchain.Chain) *handlerchain.Chain {
	i.chain.Store(chain)
	return chain
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

// Authorizer returns next with a counter around each of its parts, always: a route
// explanation asks them one by one.
func (i *Inspector) Authorizer(next authorizer.Authorizer) authorizer.Authorizer {
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

// Hooks watches the post-start hooks; those that kapi adds go through its Func.
func (i *Inspector) Hooks() *boot.Hooks { return i.cfg.Start.Hooks }

// GroupInfo returns the group for a generic server to install.
func (i *Inspector) GroupInfo(scheme *runtime.Scheme) *genericapiserver.APIGroupInfo {
	storages := map[string]rest.Storage{}
	for _, kind := range kinds.All() {
		var options []inspectrest.Option
		if kind.Resource == traces {
			options = append(options, inspectrest.WithHidden(ownRequests), inspectrest.WithLimit(i.rate))
		}
		storages[kind.Resource] = inspectrest.New(kind, i.table(kind.Resource), options...)
	}
	storages[explanations] = inspectrest.NewExplanations(i.cfg.ServerID, i.explain)
	storages[storedKeys] = inspectrest.NewStoredKeyQueries(i.cfg.ServerID, i.lookUp)
	return inspectrest.GroupInfo(scheme, storages)
}
