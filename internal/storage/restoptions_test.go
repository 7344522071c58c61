package storage

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

var errUpstream = errors.New("this is upstream's decorator")

// fakeUpstream answers as upstream's getter: events are sent elsewhere.
type fakeUpstream struct{ f *fixture }

func (u fakeUpstream) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	if resource.Resource == "bad" {
		return generic.RESTOptions{}, errors.New("no such resource")
	}
	config := storagebackend.NewDefaultConfig(u.f.prefix, u.f.codec).ForResource(resource)
	config.Transport.ServerList = []string{u.f.backend.endpoint}
	if resource.Resource == "events" {
		config.Transport.ServerList = []string{"https://127.0.0.1:1"}
	}
	return generic.RESTOptions{
		StorageConfig: config, ResourcePrefix: "/" + resource.String(), DeleteCollectionWorkers: 7, EnableGarbageCollection: true,
		Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object,
			storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
			return nil, nil, errUpstream
		},
	}, nil
}

// kindOf says what the decorator of a resource makes.
func kindOf(t *testing.T, g generic.RESTOptionsGetter, resource string) string {
	t.Helper()
	opts, err := g.GetRESTOptions(schema.ParseGroupResource(resource), &example.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	if opts.DeleteCollectionWorkers != 7 || !opts.EnableGarbageCollection || opts.ResourcePrefix == "" {
		t.Errorf("%s: upstream's other options are lost: %+v", resource, opts)
	}
	keyFunc := func(obj runtime.Object) (string, error) { return storage.NamespaceKeyFunc(opts.ResourcePrefix, obj) }
	store, destroy, err := opts.Decorator(opts.StorageConfig, opts.ResourcePrefix, keyFunc, newPod, newPodList, podAttrs, nil, nil)
	if errors.Is(err, errUpstream) {
		return "upstream's"
	}
	if err != nil {
		t.Fatal(err)
	}
	// Registries call it for each subresource.
	t.Cleanup(func() { destroy(); destroy() })
	eventually(t, "the store is ready", store.ReadinessCheck)
	pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
	if err := store.Create(t.Context(), opts.ResourcePrefix+"/ns/a", pod, nil, 0); err != nil {
		t.Errorf("%s: the store does not work: %v", resource, err)
	}
	if _, cached := store.(*cacher.CacheDelegator); cached {
		return "cached"
	}
	return "not cached"
}

func TestRESTOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		watchCache bool
		sizes      []string
		want       map[string]string
	}{
		{true, nil, map[string]string{"pods": "cached", "events": "upstream's", "widgets.example.com": "cached"}},
		{true, []string{"pods#0", "widgets.example.com#100"}, map[string]string{"pods": "not cached", "widgets.example.com": "cached", "widgets": "cached"}},
		{true, []string{"widgets#0"}, map[string]string{"widgets.example.com": "cached"}},
		{true, []string{"events#0"}, map[string]string{"events": "upstream's"}},
		{false, []string{"pods#100"}, map[string]string{"pods": "not cached", "events": "upstream's"}},
	} {
		t.Run(fmt.Sprint(c.watchCache, c.sizes), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, setup{})
			g, err := f.backend.RESTOptions(fakeUpstream{f}, c.watchCache, c.sizes)
			if err != nil {
				t.Fatal(err)
			}
			for resource, want := range c.want {
				if got := kindOf(t, g, resource); got != want {
					t.Errorf("%s is %s, want %s", resource, got, want)
				}
			}
			if _, err := g.GetRESTOptions(schema.GroupResource{Resource: "bad"}, nil); err == nil {
				t.Error("upstream's error is lost")
			}
		})
	}
}

func TestRESTOptionsRefusesSizes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{})
	for _, size := range []string{"pods", "pods#", "pods#x", "pods#-1", "pods#1#2"} {
		if _, err := f.backend.RESTOptions(fakeUpstream{f}, true, []string{size}); err == nil || !strings.Contains(err.Error(), size) {
			t.Errorf("%q: error %v, want one that names it", size, err)
		}
	}
}

// TestStoreRefusesPrefix: a resource prefix that upstream's store does not take.
func TestStoreRefusesPrefix(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{})
	for _, prefix := range []string{"", "/", "pods"} {
		for name, decorate := range map[string]generic.StorageDecorator{"not cached": f.backend.undecorated, "cached": f.backend.cached} {
			if _, _, err := decorate(f.config(), prefix, nil, newPod, newPodList, podAttrs, nil, nil); err == nil {
				t.Errorf("%s: prefix %q is accepted", name, prefix)
			}
		}
	}
}

func TestServes(t *testing.T) {
	t.Parallel()
	b := &Backend{endpoint: "unix:///run/client.sock"}
	for servers, want := range map[string]bool{
		"unix:///run/client.sock": true, "unix:///run/other.sock": false, "": false,
		"unix:///run/client.sock unix:///run/client.sock": false, "unix:///run/client.sock http://127.0.0.1:1": false,
	} {
		if got := b.Serves(strings.Fields(servers)); got != want {
			t.Errorf("%q: %v, want %v", servers, got, want)
		}
	}
}
