package storage

import (
	"sync"

	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"
)

// Store returns the store of one resource, without a watch cache. The returned
// function frees what the store holds, and may be called more than once.
// It is what factory.Create of upstream is for a dialled etcd.
func (b *Backend) Store(c storagebackend.ConfigForResource, newFunc, newListFunc func() runtime.Object, resourcePrefix string) (storage.Interface, factory.DestroyFunc, error) {
	return b.store(b.streamPerWatch(), c, newFunc, newListFunc, resourcePrefix)
}

func (b *Backend) store(client *kubernetes.Client, c storagebackend.ConfigForResource, newFunc, newListFunc func() runtime.Object, resourcePrefix string) (storage.Interface, factory.DestroyFunc, error) {
	transformer := c.Transformer
	if transformer == nil {
		transformer = identity.NewEncryptCheckTransformer()
	}
	versioner := storage.APIObjectVersioner{}
	decoder := etcd3.NewDefaultDecoder(c.Codec, versioner)
	deleteCorrupt := utilfeature.DefaultFeatureGate.Enabled(features.AllowUnsafeMalformedObjectDeletion)
	if deleteCorrupt {
		transformer = etcd3.WithCorruptObjErrorHandlingTransformer(transformer)
		decoder = etcd3.WithCorruptObjErrorHandlingDecoder(decoder)
	}
	store, err := etcd3.New(client, b.compactor, c.Codec, newFunc, newListFunc, c.Prefix, resourcePrefix,
		c.GroupResource, transformer, c.LeaseManagerConfig, decoder, versioner)
	if err != nil {
		return nil, nil, err
	}
	destroy := sync.OnceFunc(store.Close)
	if deleteCorrupt {
		return etcd3.NewStoreWithUnsafeCorruptObjectDeletion(store, c.GroupResource), destroy, nil
	}
	return store, destroy, nil
}

// undecorated is the StorageDecorator of a resource without a watch cache.
func (b *Backend) undecorated(c *storagebackend.ConfigForResource, resourcePrefix string, _ func(runtime.Object) (string, error),
	newFunc, newListFunc func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	return b.Store(*c, newFunc, newListFunc, resourcePrefix)
}

// cached is the StorageDecorator of a resource with a watch cache.
func (b *Backend) cached(c *storagebackend.ConfigForResource, resourcePrefix string, keyFunc func(runtime.Object) (string, error),
	newFunc, newListFunc func() runtime.Object, attrs storage.AttrFunc, triggers storage.IndexerFuncs, indexers *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	store, destroyStore, err := b.store(b.streamPerStore(), *c, newFunc, newListFunc, resourcePrefix)
	if err != nil {
		return nil, nil, err
	}
	watchCache, err := cacher.NewCacherFromConfig(cacher.Config{
		Storage:             store,
		Versioner:           storage.APIObjectVersioner{},
		GroupResource:       c.GroupResource,
		EventsHistoryWindow: c.EventsHistoryWindow,
		ResourcePrefix:      resourcePrefix,
		KeyFunc:             keyFunc,
		NewFunc:             newFunc,
		NewListFunc:         newListFunc,
		GetAttrsFunc:        attrs,
		IndexerFuncs:        triggers,
		Indexers:            indexers,
		Codec:               c.Codec,
	})
	if err != nil {
		destroyStore()
		return nil, nil, err
	}
	delegator := cacher.NewCacheDelegator(watchCache, store)
	// Registries call destroy once for a resource and once for each of its subresources.
	return delegator, sync.OnceFunc(func() {
		delegator.Stop()
		watchCache.Stop()
		destroyStore()
	}), nil
}

var _ generic.StorageDecorator = (*Backend)(nil).cached
