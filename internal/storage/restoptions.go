package storage

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/server/options"
)

// RESTOptions returns a getter that answers as upstream does but has stores of
// b where upstream would dial b's etcd. cacheSizes are the values of
// --watch-cache-sizes: a resource with size 0 has no watch cache; watchCache
// false means that none has one.
func (b *Backend) RESTOptions(upstream generic.RESTOptionsGetter, watchCache bool, cacheSizes []string) (generic.RESTOptionsGetter, error) {
	sizes, err := options.ParseWatchCacheSizes(cacheSizes)
	if err != nil {
		return nil, fmt.Errorf("reading watch cache sizes: %w", err)
	}
	return &restOptions{backend: b, upstream: upstream, watchCache: watchCache, sizes: sizes}, nil
}

type restOptions struct {
	backend    *Backend
	upstream   generic.RESTOptionsGetter
	watchCache bool
	sizes      map[schema.GroupResource]int
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (g *restOptions) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	opts, err := g.upstream.GetRESTOptions(resource, example)
	if err != nil {
		return generic.RESTOptions{}, err
	}
	if !g.backend.Serves(opts.StorageConfig.Transport.ServerList) {
		return opts, nil
	}
	opts.Decorator = g.backend.undecorated
	if g.caches(resource) {
		opts.Decorator = g.backend.cached
	}
	return opts, nil
}

func (g *restOptions) caches(resource schema.GroupResource) bool {
	size, set := g.sizes[resource]
	return g.watchCache && (!set || size > 0)
}
