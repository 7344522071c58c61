package chain

import (
	"strings"

	restful "github.com/emicklei/go-restful/v3"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const gvkExtension = "x-kubernetes-group-version-kind"

// serveOpenAPI serves /openapi/v2 and /openapi/v3 of a layer, and builds each
// document when it is first asked for. Upstream builds them all, and writes out
// those of v3, before the server listens: most of a second of one core. All web
// services of the layer must be installed.
// Source: k8s.io/apiserver/pkg/server/routes/openapi.go; a test compares the documents.
func serveOpenAPI(server *genericapiserver.GenericAPIServer, v2 *common.Config, v3 *common.OpenAPIV3Config) error {
	paths, container := server.Handler.NonGoRestfulMux, server.Handler.GoRestfulContainer
	handler.NewOpenAPIServiceLazy(cached.Once(cached.Func(func() (*spec.Swagger, string, error) {
		swagger, err := buildV2(container.RegisteredWebServices(), v2)
		return swagger, "never-changes", err
	}))).RegisterOpenAPIVersionedService("/openapi/v2", paths)

	return serveV3(container.RegisteredWebServices(), v3, paths)
}

func buildV2(services []*restful.WebService, config *common.Config) (*spec.Swagger, error) {
	swagger, err := builder.BuildOpenAPISpecFromRoutes(restfuladapter.AdaptWebServices(services), config)
	if err != nil {
		return nil, err
	}
	swagger.Definitions = handler.PruneDefaults(swagger.Definitions)
	return swagger, nil
}

func buildV3(service *restful.WebService, name string, config *common.OpenAPIV3Config) (*spec3.OpenAPI, error) {
	document, err := builder3.BuildOpenAPISpecFromRoutes(restfuladapter.AdaptWebServices([]*restful.WebService{service}), config)
	if err != nil {
		return nil, err
	}
	if group, version, ok := groupVersionOf(name); ok && document.Components != nil {
		keepOwnKinds(document.Components.Schemas, group, version)
	}
	return document, nil
}

// groupVersionOf reads "api/v1" and "apis/GROUP/VERSION".
func groupVersionOf(path string) (group, version string, ok bool) {
	parts := strings.Split(path, "/")
	switch {
	case len(parts) == 2 && parts[0] == "api":
		return "", parts[1], true
	case len(parts) == 3 && parts[0] == "apis":
		return parts[1], parts[2], true
	}
	return "", "", false
}

// keepOwnKinds shortens the list of kinds on the two types that metav1 puts
// into every group version, from all of them to this one and core v1.
func keepOwnKinds(schemas map[string]*spec.Schema, group, version string) {
	for name, schema := range schemas {
		short := name[strings.LastIndex(name, ".")+1:]
		if schema == nil || (short != "WatchEvent" && short != "DeleteOptions") {
			continue
		}
		all, ok := schema.Extensions[gvkExtension].([]any)
		if !ok || len(all) <= 1 {
			continue
		}
		var own []any
		for _, entry := range all {
			gvk, ok := entry.(map[string]any)
			if !ok {
				continue
			}
			if (gvk["group"] == group && gvk["version"] == version) || (gvk["group"] == "" && gvk["version"] == "v1") {
				own = append(own, entry)
			}
		}
		if len(own) > 0 {
			schema.Extensions[gvkExtension] = own
		}
	}
}
