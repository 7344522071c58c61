package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"github.com/kapi-dev/kapi/internal/etcd"
)

// dataPrefix stands before each value in etcd that storagetesting.PrefixTransformer writes.
const dataPrefix = "test!"

var podResource = schema.GroupResource{Resource: "pods"}

// codecs are those of upstream's example API, as custom resources (JSON) and
// built-in ones (protobuf) are stored.
var codecs = sync.OnceValue(func() (c struct{ json, protobuf runtime.Codec }) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	utilruntime.Must(example.AddToScheme(scheme))
	utilruntime.Must(examplev1.AddToScheme(scheme))
	factory := serializer.NewCodecFactory(scheme)
	c.json = factory.LegacyCodec(examplev1.SchemeGroupVersion)
	pb := protobuf.NewSerializer(scheme, scheme)
	c.protobuf = factory.CodecForVersions(pb, pb, schema.GroupVersions{examplev1.SchemeGroupVersion}, nil)
	return c
})

func newPod() runtime.Object     { return &example.Pod{} }
func newPodList() runtime.Object { return &example.PodList{} }

// setup says what a test needs.
type setup struct {
	cached bool // the store has a watch cache
	own    bool // it compacts, counts revisions or stops etcd
	prefix string
	// bare has the helper's transformer and nothing around it: etcd3.New over
	// the Backend's client, instead of Backend.Store.
	bare          bool
	codec         runtime.Codec
	clusterScoped bool // keys of the watch cache have no namespace
	indexed       bool // the watch cache has the indexes of pods
	gates         map[featuregate.Feature]bool
	// alone is for tests that set gates themselves, or measure time.
	alone bool
}

// fixture is a store of pods of upstream's example API.
type fixture struct {
	storage.Interface // the store under test

	backend     *Backend
	etcd        *clientv3.Client // beside the store
	prefix      string           // of keys in etcd
	codec       runtime.Codec
	transformer *switchable
	reads       *storagetesting.KVRecorder
	lists       *storagetesting.KubernetesRecorder
}

// newFixture makes a store that lasts until the end of the test.
func newFixture(t testing.TB, s setup) *fixture {
	t.Helper()
	if len(s.gates) > 0 {
		featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, s.gates)
	}
	member := sharedEtcd
	if s.own {
		member = ownEtcd(t)
	} else if s.prefix == "" {
		s.prefix = "/" + strings.ToLower(strings.NewReplacer("/", "-", "=", "-", "#", "-").Replace(t.Name()))
	}
	f := &fixture{etcd: member.Client(), prefix: s.prefix, backend: newBackend(t, member, s.prefix)}
	f.lists = storagetesting.NewKubernetesRecorder(f.backend.client)
	f.reads = storagetesting.NewKVRecorder(f.backend.client.KV, f.lists)
	f.backend.client.Kubernetes, f.backend.client.KV = f.lists, f.reads
	f.open(t, s)
	return f
}

// newFixtureOn makes one more store on the Backend of f.
func newFixtureOn(t testing.TB, f *fixture, s setup) *fixture {
	t.Helper()
	n := &fixture{etcd: f.etcd, prefix: f.prefix, backend: f.backend, lists: f.lists, reads: f.reads}
	if s.prefix != "" {
		n.prefix = s.prefix
	}
	n.open(t, s)
	return n
}

func newBackend(t testing.TB, member *etcd.Member, prefix string) *Backend {
	t.Helper()
	b := New(Config{Client: member.Client(), Endpoint: member.Endpoint(), Prefix: prefix})
	t.Cleanup(b.Close)
	// The caches ask for it at each consistent list, and go to etcd before it is known.
	eventually(t, "it is known that etcd reports watch progress", func() error {
		if !feature.DefaultFeatureSupportChecker.Supports(storage.RequestWatchProgress) {
			return errors.New("not yet")
		}
		return nil
	})
	return b
}

func (f *fixture) config() *storagebackend.ConfigForResource {
	c := storagebackend.NewDefaultConfig(f.prefix, f.codec)
	c.Transformer = f.transformer
	return c.ForResource(podResource)
}

// open makes the store.
func (f *fixture) open(t testing.TB, s setup) {
	t.Helper()
	f.codec = s.codec
	if f.codec == nil {
		f.codec = codecs().json
		if s.cached {
			f.codec = codecs().protobuf
		}
	}
	f.transformer = &switchable{now: newPrefixTransformer()}
	if s.bare {
		versioner := storage.APIObjectVersioner{}
		store, err := etcd3.New(f.backend.streamPerWatch(), f.backend.compactor, f.codec, newPod, newPodList, f.prefix, "/pods/", podResource,
			f.transformer, etcd3.NewDefaultLeaseManagerConfig(), etcd3.NewDefaultDecoder(f.codec, versioner), versioner)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(store.Close)
		f.Interface = store
		return
	}
	decorate := f.backend.undecorated
	if s.cached {
		decorate = f.backend.cached
	}
	keyFunc := func(obj runtime.Object) (string, error) { return storage.NamespaceKeyFunc("/pods/", obj) }
	if s.clusterScoped {
		keyFunc = func(obj runtime.Object) (string, error) { return storage.NoNamespaceKeyFunc("/pods/", obj) }
	}
	var triggers storage.IndexerFuncs
	indexers := &cache.Indexers{}
	if s.indexed {
		triggers, indexers = podIndexes()
	}
	store, destroy, err := decorate(f.config(), "/pods/", keyFunc, newPod, newPodList, podAttrs, triggers, indexers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(destroy)
	f.Interface = store
	eventually(t, "the store is ready", store.ReadinessCheck)
}

// podAttrs are the labels and fields that a pod can be selected by.
func podAttrs(obj runtime.Object) (labels.Set, fields.Set, error) {
	pod, ok := obj.(*example.Pod)
	if !ok {
		return nil, nil, fmt.Errorf("%T is not a pod", obj)
	}
	return pod.Labels, fields.Set{
		"metadata.name": pod.Name, "metadata.namespace": pod.Namespace, "spec.nodeName": pod.Spec.NodeName,
		"spec.restartPolicy": string(pod.Spec.RestartPolicy), "status.phase": string(pod.Status.Phase),
	}, nil
}

// podIndexes are the trigger and the indexes that kube-apiserver gives to pods
// (k8s.io/kubernetes/pkg/registry/core/pod/strategy.go).
func podIndexes() (storage.IndexerFuncs, *cache.Indexers) {
	node := func(obj any) string { return obj.(*example.Pod).Spec.NodeName }
	return storage.IndexerFuncs{"spec.nodeName": func(obj runtime.Object) string { return node(obj) }},
		&cache.Indexers{
			storage.FieldIndex("spec.nodeName"):      func(obj any) ([]string, error) { return []string{node(obj)}, nil },
			storage.FieldIndex("metadata.namespace"): func(obj any) ([]string, error) { return []string{obj.(*example.Pod).Namespace}, nil },
		}
}

// switchable is a transformer that can be replaced under a running store.
type switchable struct {
	mu  sync.RWMutex
	now value.Transformer
}

func (s *switchable) get() value.Transformer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.now
}

// set returns what undoes it.
func (s *switchable) set(next value.Transformer) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.now
	s.now = next
	return func() { s.set(before) }
}

func (s *switchable) TransformFromStorage(ctx context.Context, data []byte, c value.Context) ([]byte, bool, error) {
	return s.get().TransformFromStorage(ctx, data, c)
}

func (s *switchable) TransformToStorage(ctx context.Context, data []byte, c value.Context) ([]byte, error) {
	return s.get().TransformToStorage(ctx, data, c)
}

// prefixed is the PrefixTransformer that is in force.
func (f *fixture) prefixed() *storagetesting.PrefixTransformer {
	return f.transformer.get().(*storagetesting.PrefixTransformer)
}

// UpdatePrefixTransformer implements storagetesting.InterfaceWithPrefixTransformer.
// What is changed is a new one like that of open: one that a cache reads with
// counts its reads, and can't be copied meanwhile.
func (f *fixture) UpdatePrefixTransformer(change storagetesting.PrefixTransformerModifier) func() {
	return f.transformer.set(change(newPrefixTransformer()))
}

func newPrefixTransformer() *storagetesting.PrefixTransformer {
	return storagetesting.NewPrefixTransformer([]byte(dataPrefix), false)
}

// UpdateTransformer implements storagetesting.InterfaceWithTransformerOverride.
func (f *fixture) UpdateTransformer(change storagetesting.TransformerModifier) func() {
	return f.transformer.set(change(f.transformer.get()))
}
