package foreign

import (
	"cmp"
	"context"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// The layers that can be told from outside. Every kube-apiserver has them.
const (
	layerAggregator    = "aggregator"
	layerAPIExtensions = "apiextensions"
)

// registrations finds the resources that are in discovery.
func (s *Server) registrations(ctx context.Context, _ inspection.Query) (*finding, error) {
	versions, err := s.discovery(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(versions, func(a, b discovered) int {
		return cmp.Or(strings.Compare(a.Group, b.Group),
			-version.CompareKubeAwareVersionStrings(a.GroupVersion.Version, b.GroupVersion.Version))
	})
	f := &finding{}
	services, err := s.servicesByVersion(ctx)
	if err != nil {
		f.gap(whyNot(err, "list", servicesResource), "Layer")
	}
	custom, err := s.storageVersions(ctx)
	if err != nil {
		f.gap(whyNot(err, "list", definitionsResource), "Layer", "Storage-Version")
	}
	for _, found := range versions {
		resources := slices.SortedFunc(slices.Values(found.Resources), func(a, b apidiscoveryv2.APIResourceDiscovery) int {
			return strings.Compare(a.Resource, b.Resource)
		})
		for _, resource := range resources {
			object := registration(found.GroupVersion, resource)
			written, isCustom := custom[schema.GroupResource{Group: found.Group, Resource: resource.Resource}]
			switch service := services[found.GroupVersion]; {
			case service != nil && service.Spec.Service != nil:
				object.Spec.Layer, object.Spec.APIService = layerAggregator, service.Name
			case isCustom:
				object.Spec.Layer, object.Spec.StorageVersion = layerAPIExtensions, written
			default:
				object.Spec.Layer = ownLayer(found.Group)
			}
			f.add(object)
		}
	}
	f.gap("this server does not say which of its layers serves a resource; only of custom and aggregated ones it can be told", "Layer")
	f.gap("this server does not say what objects are written as; only of custom resources it can be told", "Storage-Version")
	f.gap("this server does not say under which keys it stores", "Etcd-Prefix")
	f.gap("discovery does not say it; a request that is deprecated is answered with a warning", "Deprecated-In", "Removed-In")
	f.gap("discovery has only what is served", "Disabled-By")
	return f, nil
}

// ownLayer is the layer that serves a group which is what the layer is for.
func ownLayer(group string) string {
	return map[string]string{"apiregistration.k8s.io": layerAggregator, "apiextensions.k8s.io": layerAPIExtensions}[group]
}

// storageVersions returns the group and version that custom resources are written as.
func (s *Server) storageVersions(ctx context.Context) (map[schema.GroupResource]string, error) {
	written := map[schema.GroupResource]string{}
	for definition, err := range s.Definitions(ctx) {
		if err != nil {
			return nil, err
		}
		spec := &definition.Spec
		i := slices.IndexFunc(spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
		if i < 0 {
			continue
		}
		gv := schema.GroupVersion{Group: spec.Group, Version: spec.Versions[i].Name}
		written[schema.GroupResource{Group: spec.Group, Resource: spec.Names.Plural}] = gv.String()
	}
	return written, nil
}

func registration(gv schema.GroupVersion, resource apidiscoveryv2.APIResourceDiscovery) *v1alpha1.APIResourceRegistration {
	object := &v1alpha1.APIResourceRegistration{Spec: v1alpha1.APIResourceRegistrationSpec{
		Group: gv.Group, Version: gv.Version, Resource: resource.Resource,
		Namespaced: resource.Scope == apidiscoveryv2.ScopeNamespace, Verbs: resource.Verbs,
		ShortNames: resource.ShortNames, Categories: resource.Categories, Served: true,
	}}
	object.Name = strings.TrimSuffix(resource.Resource+"."+gv.Version+"."+gv.Group, ".")
	if resource.ResponseKind != nil {
		object.Spec.Kind = resource.ResponseKind.Kind
	}
	for _, sub := range resource.Subresources {
		object.Spec.Subresources = append(object.Spec.Subresources, sub.Subresource)
	}
	return object
}
