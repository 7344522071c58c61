package data

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// discoveryAge is how long what discovery has said is believed.
const discoveryAge = time.Minute

// discovered is what discovery has said last.
type discovered struct {
	client *discovery.DiscoveryClient
	// busy has an element while somebody asks; it guards the others.
	busy chan struct{}
	at   time.Time
	all  []Resource
}

// resources asks where the last answer is too old. Groups that can't be had, since
// their server is away, are left out, and asked for again.
func (d *discovered) resources(ctx context.Context) ([]Resource, error) {
	select {
	case d.busy <- struct{}{}:
		defer func() { <-d.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if !d.at.IsZero() && time.Since(d.at) < discoveryAge {
		return d.all, nil
	}
	groups, lists, err := d.client.ServerGroupsAndResourcesWithContext(ctx)
	partial := discovery.IsGroupDiscoveryFailedError(err)
	if err != nil && !partial {
		return nil, err
	}
	all := resourcesOf(groups, lists)
	if !partial {
		d.all, d.at = all, time.Now()
	}
	return all, nil
}

// resourcesOf are all resources, those of preferred versions first, each in the
// server's order.
func resourcesOf(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) []Resource {
	known := make(map[string]*metav1.APIResourceList, len(lists)) // they come in any order
	for _, list := range lists {
		known[list.GroupVersion] = list
	}
	var first, others []Resource
	for _, group := range groups {
		for _, version := range group.Versions {
			resources := resourcesIn(known[version.GroupVersion])
			if version == group.PreferredVersion {
				first = append(first, resources...)
			} else {
				others = append(others, resources...)
			}
		}
	}
	return append(first, others...)
}

// resourcesIn are those of one version; none where its server is away.
func resourcesIn(list *metav1.APIResourceList) []Resource {
	if list == nil {
		return nil
	}
	version, err := schema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return nil
	}
	var all []Resource
	for _, one := range list.APIResources {
		if strings.Contains(one.Name, "/") { // a subresource
			continue
		}
		all = append(all, Resource{
			GroupVersionResource: version.WithResource(one.Name), Kind: one.Kind, Singular: one.SingularName,
			ShortNames: one.ShortNames, Namespaced: one.Namespaced, Verbs: one.Verbs,
		})
	}
	return all
}
