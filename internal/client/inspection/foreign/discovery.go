package foreign

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// discoveryType asks for aggregated discovery; v2beta1 has the same fields.
const discoveryType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

// discovered is a version of a group in discovery.
type discovered struct {
	schema.GroupVersion
	apidiscoveryv2.APIVersionDiscovery
}

// discovery returns all versions of all groups, the core group first, then in the
// order in which the server lists them.
func (s *Server) discovery(ctx context.Context) ([]discovered, error) {
	var versions []discovered
	for _, path := range []string{"/api", "/apis"} {
		body, err := s.get(ctx, path, discoveryType)
		if err != nil {
			return nil, err
		}
		var list apidiscoveryv2.APIGroupDiscoveryList
		if err := json.Unmarshal(body, &list); err != nil {
			return nil, fmt.Errorf("reading %s: %w: %w", path, errFormat, err)
		}
		if list.Kind != "APIGroupDiscoveryList" {
			return nil, fmt.Errorf("reading %s: this server has no aggregated discovery (Kubernetes 1.27 and later do)", path)
		}
		for _, group := range list.Items {
			for _, version := range group.Versions {
				versions = append(versions, discovered{schema.GroupVersion{Group: group.Name, Version: version.Version}, version})
			}
		}
	}
	return versions, nil
}

// servicesByVersion returns the APIServices by what they serve.
func (s *Server) servicesByVersion(ctx context.Context) (map[schema.GroupVersion]*apiregistrationv1.APIService, error) {
	services, err := all(s.APIServices(ctx))
	if err != nil {
		return nil, err
	}
	byVersion := make(map[schema.GroupVersion]*apiregistrationv1.APIService, len(services))
	for _, service := range services {
		byVersion[schema.GroupVersion{Group: service.Spec.Group, Version: service.Spec.Version}] = service
	}
	return byVersion, nil
}

// discoveryStates finds the group versions that are in discovery, or have an
// APIService and should be.
func (s *Server) discoveryStates(ctx context.Context, query inspection.Query) (*finding, error) {
	versions, err := s.discovery(ctx)
	if err != nil {
		return nil, err
	}
	f := &finding{}
	services, noServices := s.servicesByVersion(ctx)
	if noServices != nil {
		f.gap(whyNot(noServices, "list", servicesResource), "Source")
	}
	documents, noDocuments := s.openAPI(ctx)
	states := map[schema.GroupVersion]*v1alpha1.DiscoveryState{}
	for _, version := range versions {
		state := discoveryState(version.GroupVersion, services[version.GroupVersion])
		state.Status.Freshness, state.Status.Resources = v1alpha1.DiscoveryCurrent, int32(len(version.Resources))
		if version.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
			state.Status.Freshness = v1alpha1.DiscoveryStale
			state.Status.Error = whyNotCurrent(services[version.GroupVersion], "its server could not be asked")
		}
		states[version.GroupVersion] = state
	}
	for gv, service := range services {
		if states[gv] == nil {
			states[gv] = discoveryState(gv, service)
			states[gv].Status.Freshness = v1alpha1.DiscoveryMissing
			states[gv].Status.Error = whyNotCurrent(service, "nothing of it is in aggregated discovery")
		}
	}
	order := make([]*v1alpha1.DiscoveryState, 0, len(states))
	for gv, state := range states {
		state.Status.OpenAPIV3 = s.document(ctx, documents[gv], noDocuments, state.Name == query.Name)
		state.Status.OpenAPIV2.Error = "not asked for"
		if state.Spec.Source == "" && noServices == nil {
			state.Spec.Source = "local"
		}
		order = append(order, state)
	}
	slices.SortFunc(order, func(a, b *v1alpha1.DiscoveryState) int { return strings.Compare(a.Name, b.Name) })
	for _, state := range order {
		f.add(state)
	}
	f.gap("it is one document of several megabytes, and is not fetched", "V2")
	if noDocuments != nil {
		f.gap(why(noDocuments, openAPIPath), "V3", "V3-Size")
	}
	f.emptyFor("a document is fetched only where one group version is named", "V3-Size")
	f.emptyFor("every group version is current; this server keeps no earlier errors", "Error")
	f.gap("this server does not say when it last asked", "Last-Fetch")
	return f, nil
}

func discoveryState(gv schema.GroupVersion, service *apiregistrationv1.APIService) *v1alpha1.DiscoveryState {
	state := &v1alpha1.DiscoveryState{Spec: v1alpha1.DiscoveryStateSpec{Group: gv.Group, Version: gv.Version}}
	state.Name = gv.Group + "." + gv.Version
	if gv.Group == "" {
		state.Name = "core." + gv.Version
	}
	if service != nil {
		state.Spec.Source = serviceOf(service)
	}
	return state
}

// whyNotCurrent is what the APIService says of itself, or else what is given.
func whyNotCurrent(service *apiregistrationv1.APIService, otherwise string) string {
	if service == nil {
		return otherwise
	}
	for _, condition := range service.Status.Conditions {
		if condition.Type == apiregistrationv1.Available && condition.Status != apiregistrationv1.ConditionTrue && condition.Message != "" {
			return condition.Message
		}
	}
	return otherwise
}

const openAPIPath = "/openapi/v3"

// openAPI returns the paths of the OpenAPI v3 documents, by group version.
func (s *Server) openAPI(ctx context.Context) (map[schema.GroupVersion]string, error) {
	body, err := s.get(ctx, openAPIPath, jsonType)
	if err != nil {
		return nil, err
	}
	var root struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(body, &root); err != nil {
		return nil, fmt.Errorf("reading %s: %w: %w", openAPIPath, errFormat, err)
	}
	documents := map[schema.GroupVersion]string{}
	for path, document := range root.Paths {
		parts := strings.Split(path, "/")
		switch {
		case len(parts) == 2 && parts[0] == "api":
			documents[schema.GroupVersion{Version: parts[1]}] = document.ServerRelativeURL
		case len(parts) == 3 && parts[0] == "apis":
			documents[schema.GroupVersion{Group: parts[1], Version: parts[2]}] = document.ServerRelativeURL
		}
	}
	return documents, nil
}

// document says what is known of an OpenAPI v3 document; its size only if it is to be read.
func (s *Server) document(ctx context.Context, location string, missing error, read bool) v1alpha1.OpenAPIState {
	if missing != nil {
		return v1alpha1.OpenAPIState{Error: firstLine(missing.Error())}
	}
	target, err := url.Parse(location)
	if location == "" || err != nil {
		return v1alpha1.OpenAPIState{}
	}
	state := v1alpha1.OpenAPIState{Listed: true, Hash: target.Query().Get("hash")}
	if !read {
		return state
	}
	begun := time.Now()
	body, err := s.get(ctx, target.Path, jsonType)
	if err != nil {
		state.Error = firstLine(err.Error())
		return state
	}
	state.Bytes, state.Cost = int64(len(body)), &metav1.Duration{Duration: time.Since(begun)}
	return state
}
