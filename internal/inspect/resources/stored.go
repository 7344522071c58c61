package resources

import (
	"path"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
)

// Stored says where the objects of a resource are in etcd, and in which form.
type Stored struct {
	// Prefix is the key below which they are ("/registry/services/specs").
	Prefix string
	// Version is the group and version that they are written as.
	Version schema.GroupVersion
}

// StoredFunc returns where the objects of a resource are. kind is their kind.
// It is asked only for resources that have a store.
type StoredFunc func(resource schema.GroupResource, kind string) (Stored, bool)

// StoredByFactory answers for the layer of the built-in resources, as its
// stores were made: with the prefixes of its own that some resources have
// (nodes are below minions), resources that live with those of another group,
// and versions held back for an emulated release.
func StoredByFactory(factory *serverstorage.DefaultStorageFactory, scheme *runtime.Scheme) StoredFunc {
	var known sync.Map // schema.GroupResource to Stored: a factory does not change
	return func(resource schema.GroupResource, kind string) (Stored, bool) {
		if found, ok := known.Load(resource); ok {
			stored, ok := found.(Stored)
			return stored, ok
		}
		internal := schema.GroupVersionKind{Group: resource.Group, Version: runtime.APIVersionInternal, Kind: kind}
		example, err := scheme.New(internal)
		if err != nil {
			return Stored{}, false
		}
		config, err := factory.NewConfig(resource, example)
		if err != nil {
			return Stored{}, false
		}
		written, ok := config.EncodeVersioner.KindForGroupVersionKinds([]schema.GroupVersionKind{internal})
		if !ok {
			return Stored{}, false
		}
		stored := Stored{Prefix: path.Join("/", config.Prefix, factory.ResourcePrefix(resource)), Version: written.GroupVersion()}
		known.Store(resource, stored)
		return stored, true
	}
}

// StoredByGroup answers for layers that keep objects below PREFIX/GROUP/PLURAL,
// as apiextensions and the aggregator do. encode says which version they are
// written as (storagebackend.Config.EncodeVersioner). It is not always the one that
// is served: upstream writes CustomResourceDefinitions as v1beta1.
// Source: k8s.io/kubernetes/pkg/controlplane/apiserver/apiextensions.go.
func StoredByGroup(prefix string, encode runtime.GroupVersioner) StoredFunc {
	return func(resource schema.GroupResource, kind string) (Stored, bool) {
		stored := Stored{Prefix: groupPrefix(prefix, resource)}
		internal := schema.GroupVersionKind{Group: resource.Group, Version: runtime.APIVersionInternal, Kind: kind}
		if written, ok := encode.KindForGroupVersionKinds([]schema.GroupVersionKind{internal}); ok {
			stored.Version = written.GroupVersion()
		}
		return stored, true
	}
}

func groupPrefix(prefix string, resource schema.GroupResource) string {
	return path.Join("/", prefix, resource.Group, resource.Resource)
}
