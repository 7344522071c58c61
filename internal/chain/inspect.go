package chain

import (
	"maps"
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kubernetes/pkg/controlplane"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"

	inspectopenapi "github.com/kapi-dev/kapi/internal/apis/inspect/openapi"
	"github.com/kapi-dev/kapi/internal/inspect"
	"github.com/kapi-dev/kapi/internal/inspect/rest"
)

// newInspect builds the layer that serves inspect.kapi.dev: a server of its own,
// made from a copy of the generic configuration the way apiextensions' is. It
// stores nothing in etcd.
func newInspect(g *generic, kube *controlplane.Config, inspector *inspect.Inspector, delegate genericapiserver.DelegationTarget) (*genericapiserver.GenericAPIServer, error) {
	config := *kube.ControlPlane.Generic
	config.PostStartHooks = map[string]genericapiserver.PostStartHookConfigEntry{}
	config.RESTOptionsGetter = nil
	server, err := config.Complete(kube.ControlPlane.VersionedInformers).New(LayerInspect, delegate)
	if err != nil {
		return nil, err
	}
	return server, server.InstallAPIGroup(inspector.GroupInfo(g.inspectScheme))
}

// definitions are the OpenAPI definitions of all layers. The v3 configuration
// reads them at once, so that none can be added later. The generator gives types
// of apimachinery along with ours: upstream's own come last and win.
func definitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := inspectopenapi.GetOpenAPIDefinitions(ref)
	maps.Copy(all, generatedopenapi.GetOpenAPIDefinitions(ref))
	return all
}

// abortable lets the layer end watches that nobody reads.
type abortable struct {
	genericapiserver.DelegationTarget
}

// UnprotectedHandler implements genericapiserver.DelegationTarget.
func (a abortable) UnprotectedHandler() http.Handler {
	return rest.Abortable(a.DelegationTarget.UnprotectedHandler())
}
