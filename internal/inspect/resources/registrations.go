package resources

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

type registration = v1alpha1.APIResourceRegistrationSpec

// Registrations returns an APIResourceRegistration for each resource in each
// version that a layer has registered, and for those that it could serve and
// does not. Two layers may register the same one: the outer one answers.
func (r *Resources) Registrations(ctx context.Context) ([]store.Object, error) {
	all, err := r.registrations(ctx)
	if err != nil {
		return nil, err
	}
	objects := make([]store.Object, 0, len(all))
	seen := make(map[string]bool, len(all))
	for _, one := range all {
		name := resourceName(versionResource(one))
		if seen[name] {
			name += "." + one.Layer
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		objects = append(objects, &v1alpha1.APIResourceRegistration{
			ObjectMeta: metav1.ObjectMeta{Name: name}, ServerID: r.config.ServerID, Spec: one,
		})
	}
	return objects, nil
}

func versionResource(one registration) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: one.Group, Version: one.Version, Resource: one.Resource}
}

// registrations returns all, ordered by group, version and resource; of the same
// resource the one that answers comes first.
func (r *Resources) registrations(ctx context.Context) ([]registration, error) {
	proxied, err := r.proxiedServices()
	if err != nil {
		return nil, err
	}
	all, err := r.aggregatedResources(ctx, proxied)
	if err != nil {
		return nil, err
	}
	for _, layer := range r.config.Layers {
		own, err := r.layerResources(ctx, layer)
		if err != nil {
			return nil, fmt.Errorf("listing the resources of layer %s: %w", layer.Name, err)
		}
		all = append(all, own...)
	}
	custom, err := r.customResources()
	if err != nil {
		return nil, err
	}
	all = append(all, custom...)
	all = append(all, r.config.Known.missing(all)...)
	overshadow(all, proxied)
	slices.SortStableFunc(all, compareRegistrations)
	return all, nil
}

func compareRegistrations(a, b registration) int {
	return cmp.Or(strings.Compare(a.Group, b.Group),
		-version.CompareKubeAwareVersionStrings(a.Version, b.Version), strings.Compare(a.Resource, b.Resource))
}

// overshadow marks what no request reaches, since an APIService proxies its group
// version, or a layer further out answers first.
func overshadow(all []registration, proxied map[schema.GroupVersion]*apiregistrationv1.APIService) {
	first := map[schema.GroupVersionResource]string{}
	for i := range all {
		one := &all[i]
		gvr := versionResource(*one)
		service := proxied[gvr.GroupVersion()]
		switch layer, ok := first[gvr]; {
		case !one.Served:
		case service != nil && one.APIService == "":
			one.Served, one.DisabledBy = false, fmt.Sprintf("APIService %s sends the requests to %s", service.Name, serviceOf(service))
		case ok:
			one.Served, one.DisabledBy = false, fmt.Sprintf("layer %s answers first", layer)
		default:
			first[gvr] = one.Layer
		}
	}
}

// proxiedServices are the APIServices that have a service, by group version.
func (r *Resources) proxiedServices() (map[schema.GroupVersion]*apiregistrationv1.APIService, error) {
	all, err := r.apiServices()
	if err != nil {
		return nil, err
	}
	proxied := map[schema.GroupVersion]*apiregistrationv1.APIService{}
	for _, service := range all {
		if service.Spec.Service != nil {
			proxied[servedBy(service)] = service
		}
	}
	return proxied, nil
}

func (r *Resources) apiServices() ([]*apiregistrationv1.APIService, error) {
	if r.config.APIServices == nil {
		return nil, nil
	}
	all, err := r.config.APIServices()
	if err != nil {
		return nil, fmt.Errorf("listing APIServices: %w", err)
	}
	return all, nil
}

func servedBy(service *apiregistrationv1.APIService) schema.GroupVersion {
	return schema.GroupVersion{Group: service.Spec.Group, Version: service.Spec.Version}
}

// serviceOf writes the service of an APIService as "namespace/name:port".
func serviceOf(service *apiregistrationv1.APIService) string {
	reference := service.Spec.Service
	port := int32(443) // the API's default
	if reference.Port != nil {
		port = *reference.Port
	}
	return fmt.Sprintf("%s/%s:%d", reference.Namespace, reference.Name, port)
}

// aggregatedResources are those of aggregated servers, as discovery last knew them.
func (r *Resources) aggregatedResources(ctx context.Context, proxied map[schema.GroupVersion]*apiregistrationv1.APIService) ([]registration, error) {
	if len(proxied) == 0 {
		return nil, nil
	}
	known, err := r.aggregated.get(ctx)
	if err != nil {
		return nil, err
	}
	var all []registration
	for gv, service := range proxied {
		for _, resource := range known[gv].Resources {
			one := registration{
				Group: gv.Group, Version: gv.Version, Resource: resource.Resource,
				Namespaced: resource.Scope == "Namespaced", Verbs: resource.Verbs,
				ShortNames: resource.ShortNames, Categories: resource.Categories,
				Layer: r.config.ProxyLayer, APIService: service.Name, Served: true,
			}
			if resource.ResponseKind != nil {
				one.Kind = resource.ResponseKind.Kind
			}
			for _, sub := range resource.Subresources {
				one.Subresources = append(one.Subresources, sub.Subresource)
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// layerResources are those that a layer serves itself.
func (r *Resources) layerResources(ctx context.Context, layer Layer) ([]registration, error) {
	lists, err := layer.Discovery(ctx)
	if err != nil {
		return nil, err
	}
	var all []registration
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		all = append(all, r.listedResources(layer, gv, list.APIResources)...)
	}
	return all, nil
}

func (r *Resources) listedResources(layer Layer, gv schema.GroupVersion, listed []metav1.APIResource) []registration {
	subresources := map[string][]string{}
	var all []registration
	for _, resource := range listed {
		if name, sub, ok := strings.Cut(resource.Name, "/"); ok {
			subresources[name] = append(subresources[name], sub)
			continue
		}
		one := registration{
			Group: gv.Group, Version: gv.Version, Resource: resource.Name, Kind: resource.Kind,
			Namespaced: resource.Namespaced, Verbs: resource.Verbs,
			ShortNames: resource.ShortNames, Categories: resource.Categories,
			Layer: layer.Name, Served: true,
		}
		// A resource has this hash when it has a store: reviews have none.
		if layer.Stored != nil && resource.StorageVersionHash != "" {
			if stored, ok := layer.Stored(schema.GroupResource{Group: gv.Group, Resource: resource.Name}, resource.Kind); ok {
				one.EtcdPrefix, one.StorageVersion = stored.Prefix, stored.Version.String()
			}
		}
		one.DeprecatedIn, one.RemovedIn = r.config.Known.lifecycle(gv.WithKind(resource.Kind))
		all = append(all, one)
	}
	for i := range all {
		all[i].Subresources = subresources[all[i].Resource]
	}
	return all
}
