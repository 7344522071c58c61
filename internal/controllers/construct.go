package controllers

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

// constructor says how a controller is made.
type constructor struct {
	// gates must be on, and resources served, or there is nothing for it to do.
	gates     []featuregate.Feature
	resources []schema.GroupVersionResource
	// anyOf is a resource by its versions, one of which must be served.
	anyOf []schema.GroupVersionResource
	// off says why a server with this configuration has nothing to do for it, or "";
	// it may be nil.
	off  func(Config) string
	make func(context.Context, *term, catalog.Controller) (loop, error)
}

// with makes a controller that needs no more than a client of its own.
func with(construct func(context.Context, *term, kubernetes.Interface) (loop, error)) func(context.Context, *term, catalog.Controller) (loop, error) {
	return func(ctx context.Context, t *term, c catalog.Controller) (loop, error) {
		client, err := t.client(c)
		if err != nil {
			return nil, err
		}
		return construct(ctx, t, client)
	}
}

// constructors are those of all controllers in the catalog, by name.
func constructors() map[string]constructor {
	all := apiConstructors()
	maps.Copy(all, workloadConstructors())
	maps.Copy(all, nodeConstructors())
	return all
}

// idle returns why there is nothing to do for a controller whatever is served, or "".
func (c constructor) idle(cfg Config) string {
	for _, gate := range c.gates {
		if !feature.DefaultFeatureGate.Enabled(gate) {
			return "Feature gate " + string(gate) + " is off."
		}
	}
	if c.off != nil {
		return c.off(cfg)
	}
	return ""
}

// missing returns what a controller needs and the server does not serve, or "".
func (t *term) missing(c constructor) string {
	for _, resource := range c.resources {
		if !t.served.Has(resource) {
			return resource.GroupResource().String() + " are not served in " + resource.Version + "; see --runtime-config."
		}
	}
	if len(c.anyOf) > 0 && !slices.ContainsFunc(c.anyOf, t.served.Has) {
		return c.anyOf[0].GroupResource().String() + " are not served; see --runtime-config."
	}
	return ""
}

// resource is short for a table.
func resource(group, version, name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: name}
}

// together runs several loops as one.
func together(loops ...loop) loop {
	return func(ctx context.Context) {
		var wg sync.WaitGroup
		for _, run := range loops {
			wg.Go(func() { run(ctx) })
		}
		wg.Wait()
	}
}

// workers is a loop of a controller that is told how many keys to work on at once.
func workers(run func(context.Context, int), count int) loop {
	return func(ctx context.Context) { run(ctx, count) }
}
