package chain

import (
	"maps"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/common"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"

	inspectopenapi "github.com/kapi-dev/kapi/internal/apis/inspect/openapi"
	"github.com/kapi-dev/kapi/internal/inspect"
	"github.com/kapi-dev/kapi/internal/inspect/auth/configured"
)

// layerNames are all layers, outermost first, with the end of the chain.
func layerNames() []string {
	return []string{LayerAggregator, LayerKubeAPIServer, LayerInspect, LayerAPIExtensions, LayerNotFound}
}

// newInspector makes the observers, and puts those into the configuration that
// must be there before anything is built from it.
func newInspector(cfg Config, g *generic) (*inspect.Inspector, error) {
	authentication, err := configured.NewAuthentication(cfg.Options.Authentication, cfg.Given)
	if err != nil {
		return nil, err
	}
	authorization, err := configured.NewAuthorization(cfg.Options.Authorization, cfg.Given)
	if err != nil {
		return nil, err
	}
	plugins, err := configured.Plugins(cfg.Options.Admission, cfg.Given)
	if err != nil {
		return nil, err
	}
	inspector := inspect.New(inspect.Config{
		Options:             cfg.Inspect,
		Start:               cfg.Start,
		ServerID:            g.config.APIServerID,
		Layers:              layerNames(),
		MaxRequestBodyBytes: g.config.MaxRequestBodyBytes,
		LongRunning:         g.config.LongRunningFunc,
		Authentication:      authentication,
		Authorization:       authorization,
		Plugins:             plugins,
	})
	g.config.Authorization.Authorizer = inspector.Authorizer(g.config.Authorization.Authorizer)
	decorated := cfg.Options.Admission.GenericAdmission
	decorated.Decorators = inspector.Decorators(decorated.Decorators)
	return inspector, nil
}

// newInspect builds the layer that serves inspect.kapi.dev: a server of its own,
// made from a copy of the generic configuration the way apiextensions' is. It
// stores nothing in etcd.
func newInspect(c *configs, delegate genericapiserver.DelegationTarget) (*genericapiserver.GenericAPIServer, error) {
	config := *c.kubeAPIs.ControlPlane.Generic
	config.PostStartHooks = map[string]genericapiserver.PostStartHookConfigEntry{}
	config.RESTOptionsGetter = nil
	server, err := config.Complete(c.kubeAPIs.ControlPlane.VersionedInformers).New(LayerInspect, delegate)
	if err != nil {
		return nil, err
	}
	if err := server.InstallAPIGroup(c.inspector.GroupInfo(c.generic.inspectScheme)); err != nil {
		return nil, err
	}
	return server, nil
}

// definitions are the OpenAPI definitions of all layers. The v3 configuration
// reads them at once, so that none can be added later. The generator gives types
// of apimachinery along with ours: upstream's own come last and win.
func definitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := inspectopenapi.GetOpenAPIDefinitions(ref)
	maps.Copy(all, generatedopenapi.GetOpenAPIDefinitions(ref))
	return all
}
