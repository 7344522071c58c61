// Package informers is what the controllers of one term share to see the server: the
// informers of its objects, and the list of what it serves.
//
// It knows no controller. It may import client-go only.
package informers

import (
	"context"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	// Resync is how often informers go through their objects again.
	// Source: MinResyncPeriod of k8s.io/controller-manager/options.
	Resync = 12 * time.Hour
	// pruneAfter is how long a resource is not served any more before its informer
	// stops. In that time all who use it have seen that it is gone: one that is
	// served again later is asked for again.
	pruneAfter = time.Minute
)

// Set is the informers of a term: of whole objects where somebody has asked for them
// by type, and of no more than metadata for all other resources that the garbage
// collector and quotas ask for.
type Set struct {
	// Typed makes the informers of whole objects.
	Typed    informers.SharedInformerFactory
	client   kubernetes.Interface
	metadata metadata.Interface
	name     *cache.InformerName

	mu sync.Mutex
	// selected are the factories of Selected, by their selectors.
	selected map[string]informers.SharedInformerFactory
	// whole are the resources with an informer in Typed.
	whole map[schema.GroupVersionResource]bool
	// learned is from how many informers whole was made.
	learned int
	// partial are the informers of metadata.
	partial map[schema.GroupVersionResource]*partial
	running sync.WaitGroup
}

// partial is an informer of metadata, with a life of its own.
type partial struct {
	informers.GenericInformer
	stop chan struct{}
	// unserved is when its resource was first seen not to be served any more.
	unserved time.Time
	started  bool
	// stopped says that stop is closed. Who counts objects of the resource still
	// reads it: there are none.
	stopped bool
}

// New returns a set without informers, which asks the server at config.
func New(config *rest.Config) (*Set, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	i := &Set{whole: map[schema.GroupVersionResource]bool{}, partial: map[schema.GroupVersionResource]*partial{}, selected: map[string]informers.SharedInformerFactory{}, client: client}
	if i.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	if i.name, err = cache.NewInformerName("kapi-controllers"); err != nil {
		return nil, err
	}
	i.Typed = informers.NewSharedInformerFactoryWithOptions(client, Resync,
		informers.WithTransform(withoutManagedFields), informers.WithInformerName(i.name))
	return i, nil
}

// Close waits for informers whose stop channel is closed, and gives their names back.
func (i *Set) Close() {
	i.Typed.Shutdown()
	i.mu.Lock()
	for _, factory := range i.selected {
		factory.Shutdown()
	}
	i.mu.Unlock()
	i.running.Wait()
	i.name.Release()
}

// Selected makes informers of those objects only that a field selector selects, for
// who needs a few of the ConfigMaps or Secrets of a server that may have very many.
func (i *Set) Selected(fields string) informers.SharedInformerFactory {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.selected[fields] == nil {
		i.selected[fields] = informers.NewSharedInformerFactoryWithOptions(i.client, Resync, informers.WithTransform(withoutManagedFields),
			informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.FieldSelector = fields }))
	}
	return i.selected[fields]
}

// Require makes ForResource give whole objects of resources.
func (i *Set) Require(resources ...schema.GroupVersionResource) error {
	for _, r := range resources {
		informer, err := i.Typed.ForResource(r)
		if err != nil {
			return err
		}
		informer.Informer()
		i.mu.Lock()
		i.whole[r] = true
		i.mu.Unlock()
	}
	return nil
}

// ForResource returns the informer of a resource: of whole objects if a controller
// has one already, of metadata otherwise. The metadata has no labels and annotations.
func (i *Set) ForResource(r schema.GroupVersionResource) (informers.GenericInformer, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.whole[r] {
		return i.Typed.ForResource(r)
	}
	if known := i.partial[r]; known != nil {
		return known, nil
	}
	informer := metadatainformer.NewFilteredMetadataInformer(i.metadata, r, metav1.NamespaceAll, Resync,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, nil)
	if err := informer.Informer().SetTransform(identityOnly); err != nil {
		return nil, err
	}
	if err := informer.Informer().SetWatchErrorHandlerWithContext(watchFailed); err != nil {
		return nil, err
	}
	i.partial[r] = &partial{GenericInformer: informer, stop: make(chan struct{})}
	return i.partial[r], nil
}

// Start starts the informers that don't run yet. The first call decides which
// resources are whole.
func (i *Set) Start(stop <-chan struct{}) {
	i.Typed.Start(stop)
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, factory := range i.selected {
		factory.Start(stop)
	}
	i.learn()
	for _, p := range i.partial {
		if p.started {
			continue
		}
		p.started = true
		informer := p.Informer()
		i.running.Go(func() { runUntil(informer, stop, p.stop) })
	}
}

// learn finds out which resources have informers of whole objects.
func (i *Set) learn() {
	done, cancel := context.WithCancel(context.Background())
	cancel() // the answer names what has been started, and waits for nothing
	started := i.Typed.WaitForCacheSyncWithContext(done).Synced
	if len(started) == i.learned {
		return
	}
	i.learned = len(started)
	for kind, kindType := range scheme.Scheme.AllKnownTypes() {
		if _, ok := started[reflect.PointerTo(kindType)]; ok {
			r, _ := meta.UnsafeGuessKindToResource(kind)
			i.whole[r] = true
		}
	}
}

// runUntil runs an informer until one of two channels is closed.
func runUntil(informer cache.SharedIndexInformer, stop, own <-chan struct{}) {
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		defer close(ended)
		select {
		case <-stop:
		case <-own:
		}
	})
	informer.Run(ended)
	watching.Wait()
}

// Prune stops informers of resources that have not been served for some time.
// Without it, that of a deleted CRD would ask for its objects for ever.
func (i *Set) Prune(now map[schema.GroupVersionResource]bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for r, p := range i.partial {
		switch {
		case now[r] && p.stopped:
			delete(i.partial, r) // it is back: the next who asks gets a new one
		case now[r] || p.stopped:
			p.unserved = time.Time{}
		case p.unserved.IsZero():
			p.unserved = time.Now()
		case time.Since(p.unserved) > pruneAfter:
			close(p.stop)
			p.stopped = true
		}
	}
}

// watchFailed says that objects could not be listed or watched, unless their CRD was
// deleted: that is known, and the informer ends soon.
func watchFailed(ctx context.Context, r *cache.Reflector, err error) {
	if !apierrors.IsNotFound(err) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
	}
}

// withoutManagedFields drops what no controller reads.
func withoutManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil && accessor.GetManagedFields() != nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// identityOnly keeps of an object's metadata what says who it is and whom it belongs to.
func identityOnly(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
		accessor.SetAnnotations(nil)
		accessor.SetLabels(nil)
	}
	return object, nil
}
