package resources

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	acceptAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	// askAgain is how long an answer of the server's own handlers is taken as it
	// is, so that collections at the same time ask once.
	askAgain = 100 * time.Millisecond
)

// aggregatedDiscovery is what /api and /apis say. The documents are large with
// many definitions, so they are read again only when their ETag changes.
type aggregatedDiscovery struct {
	handler http.Handler
	now     func() time.Time

	lock      sync.Mutex
	until     time.Time
	documents [2]discoveryDocument
	known     discovered
}

type discoveryDocument struct {
	etag string
	list apidiscoveryv2.APIGroupDiscoveryList
	at   time.Time
}

// discovered are the group versions in aggregated discovery. It is not changed
// once it is made.
type discovered map[schema.GroupVersion]discoveredVersion

type discoveredVersion struct {
	apidiscoveryv2.APIVersionDiscovery

	fetched time.Time
}

// get returns what is known now.
func (a *aggregatedDiscovery) get(ctx context.Context) (discovered, error) {
	if a.handler == nil {
		return nil, nil
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.now().Before(a.until) {
		return a.known, nil
	}
	changed := a.known == nil
	for i, path := range []string{"/api", "/apis"} {
		news, err := a.refresh(ctx, &a.documents[i], path)
		if err != nil {
			return nil, err
		}
		changed = changed || news
	}
	if changed {
		a.known = merge(a.documents[:])
	}
	a.until = a.now().Add(askAgain)
	return a.known, nil
}

func (a *aggregatedDiscovery) refresh(ctx context.Context, document *discoveryDocument, path string) (changed bool, err error) {
	answer, err := ask(ctx, a.handler, path, acceptAggregated, document.etag)
	if isNotFound(err) { // no group is served there
		changed = document.etag != ""
		*document = discoveryDocument{}
		return changed, nil
	}
	if err != nil || answer.Code == http.StatusNotModified {
		return false, err
	}
	next := discoveryDocument{etag: answer.Header().Get("ETag"), at: a.now()}
	if err := json.Unmarshal(answer.Body.Bytes(), &next.list); err != nil {
		return false, fmt.Errorf("reading aggregated discovery of %s: %w", path, err)
	}
	*document = next
	return true, nil
}

func merge(documents []discoveryDocument) discovered {
	all := discovered{}
	for _, document := range documents {
		for _, group := range document.list.Items {
			for _, version := range group.Versions {
				all[schema.GroupVersion{Group: group.Name, Version: version.Version}] = discoveredVersion{version, document.at}
			}
		}
	}
	return all
}

// Served tells whether aggregated discovery lists a resource now. It fits
// TransitionsConfig.Served of package conditions.
func (r *Resources) Served(ctx context.Context, group, version, plural string) bool {
	known, err := r.aggregated.get(ctx)
	if err != nil {
		return false
	}
	resources := known[schema.GroupVersion{Group: group, Version: version}].Resources
	return slices.ContainsFunc(resources, func(one apidiscoveryv2.APIResourceDiscovery) bool { return one.Resource == plural })
}
