package controllers

import (
	"context"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	// resync is how often informers go through their objects again.
	// Source: MinResyncPeriod of k8s.io/controller-manager/options.
	resync = 12 * time.Hour
	// pruneAfter is how long a resource is not served any more before its informer
	// stops. In that time all who use it have seen that it is gone: one that is
	// served again later is asked for again.
	pruneAfter = time.Minute
)

// informers are shared by all controllers of a term: whole objects of the resources
// that somebody has asked for by type, and of all others, for the garbage collector
// and quotas, no more than their metadata.
type informers struct {
	typed    clientinformers.SharedInformerFactory
	metadata metadata.Interface
	name     *cache.InformerName

	mu sync.Mutex
	// whole are the resources with an informer in typed.
	whole map[schema.GroupVersionResource]bool
	// partial are the informers of metadata.
	partial map[schema.GroupVersionResource]*partial
	running sync.WaitGroup
}

// partial is an informer of metadata, with a life of its own.
type partial struct {
	clientinformers.GenericInformer
	stop chan struct{}
	// unserved is when its resource was first seen not to be served any more.
	unserved time.Time
	started  bool
}

func newInformers(config *rest.Config) (*informers, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	i := &informers{whole: map[schema.GroupVersionResource]bool{}, partial: map[schema.GroupVersionResource]*partial{}}
	if i.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	if i.name, err = cache.NewInformerName("kapi-controllers"); err != nil {
		return nil, err
	}
	i.typed = clientinformers.NewSharedInformerFactoryWithOptions(client, resync,
		clientinformers.WithTransform(withoutManagedFields), clientinformers.WithInformerName(i.name))
	return i, nil
}

// close waits for informers whose stop channel is closed, and gives their names back.
func (i *informers) close() {
	i.typed.Shutdown()
	i.running.Wait()
	i.name.Release()
}

// require makes ForResource give whole objects of resources.
func (i *informers) require(resources ...schema.GroupVersionResource) error {
	for _, r := range resources {
		informer, err := i.typed.ForResource(r)
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
func (i *informers) ForResource(r schema.GroupVersionResource) (clientinformers.GenericInformer, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.whole[r] {
		return i.typed.ForResource(r)
	}
	if known := i.partial[r]; known != nil {
		return known, nil
	}
	informer := metadatainformer.NewFilteredMetadataInformer(i.metadata, r, metav1.NamespaceAll, resync,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, nil)
	if err := informer.Informer().SetTransform(identityOnly); err != nil {
		return nil, err
	}
	i.partial[r] = &partial{GenericInformer: informer, stop: make(chan struct{})}
	return i.partial[r], nil
}

// Start starts the informers that don't run yet. The first call decides which
// resources are whole.
func (i *informers) Start(stop <-chan struct{}) {
	i.typed.Start(stop)
	i.mu.Lock()
	defer i.mu.Unlock()
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
func (i *informers) learn() {
	done, cancel := context.WithCancel(context.Background())
	cancel() // the answer names what has been started, and waits for nothing
	started := i.typed.WaitForCacheSyncWithContext(done).Synced
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

// prune stops informers of resources that have not been served for some time.
// Without it, that of a deleted CRD would ask for its objects for ever.
func (i *informers) prune(now map[schema.GroupVersionResource]bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for r, p := range i.partial {
		switch {
		case now[r]:
			p.unserved = time.Time{}
		case p.unserved.IsZero():
			p.unserved = time.Now()
		case time.Since(p.unserved) > pruneAfter:
			close(p.stop)
			delete(i.partial, r)
		}
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
