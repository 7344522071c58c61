package resources

import (
	"context"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// DiscoveryStates returns a DiscoveryState for each group version that is in
// aggregated discovery, or has an APIService and should be. No document is built
// for it.
func (r *Resources) DiscoveryStates(ctx context.Context) ([]store.Object, error) {
	known, err := r.aggregated.get(ctx)
	if err != nil {
		return nil, err
	}
	v3, v2, err := r.openAPI.get(ctx)
	if err != nil {
		return nil, err
	}
	services, err := r.servicesByVersion()
	if err != nil {
		return nil, err
	}
	versions := make([]schema.GroupVersion, 0, len(known))
	for gv := range known {
		versions = append(versions, gv)
	}
	for gv := range services {
		if _, ok := known[gv]; !ok {
			versions = append(versions, gv)
		}
	}
	slices.SortFunc(versions, func(a, b schema.GroupVersion) int { return strings.Compare(versionName(a), versionName(b)) })

	objects := make([]store.Object, 0, len(versions))
	for _, gv := range versions {
		object := &v1alpha1.DiscoveryState{
			ObjectMeta: metav1.ObjectMeta{Name: versionName(gv)}, ServerID: r.config.ServerID,
			Spec:   v1alpha1.DiscoveryStateSpec{Group: gv.Group, Version: gv.Version, Source: sourceOf(services[gv])},
			Status: discoveryStatus(known, gv, services[gv]),
		}
		object.Status.OpenAPIV3 = v3[gv]
		if object.Status.OpenAPIV2 = v2[gv]; v2 == nil {
			object.Status.OpenAPIV2.Error = v2NotBuilt
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func (r *Resources) servicesByVersion() (map[schema.GroupVersion]*apiregistrationv1.APIService, error) {
	all, err := r.apiServices()
	if err != nil {
		return nil, err
	}
	services := make(map[schema.GroupVersion]*apiregistrationv1.APIService, len(all))
	for _, service := range all {
		services[servedBy(service)] = service
	}
	return services, nil
}

func sourceOf(service *apiregistrationv1.APIService) string {
	if service == nil || service.Spec.Service == nil {
		return "local"
	}
	return serviceOf(service)
}

func discoveryStatus(known discovered, gv schema.GroupVersion, service *apiregistrationv1.APIService) v1alpha1.DiscoveryStateStatus {
	version, ok := known[gv]
	if !ok {
		return v1alpha1.DiscoveryStateStatus{
			Freshness: v1alpha1.DiscoveryMissing, Error: whyNotCurrent(service, "nothing of it is in aggregated discovery"),
		}
	}
	fetched := metav1.NewMicroTime(version.fetched)
	status := v1alpha1.DiscoveryStateStatus{
		Freshness: v1alpha1.DiscoveryCurrent, Resources: int32(len(version.Resources)), LastFetch: &fetched,
	}
	if version.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
		status.Freshness = v1alpha1.DiscoveryStale
		status.Error = whyNotCurrent(service, "its server could not be asked")
	}
	return status
}

// whyNotCurrent is what the APIService says of itself, or else what is given.
func whyNotCurrent(service *apiregistrationv1.APIService, otherwise string) string {
	if service == nil {
		return otherwise
	}
	for _, condition := range service.Status.Conditions {
		if condition.Type == apiregistrationv1.Available && condition.Status != apiregistrationv1.ConditionTrue {
			return condition.Message
		}
	}
	return otherwise
}
