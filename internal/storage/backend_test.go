package storage

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3/metrics"
	"k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/component-base/metrics/legacyregistry"
)

// TestFeatureCheck: what newBackend waits for happens in a checker of its own
// too, and needs the endpoint that an in-process client lacks.
func TestFeatureCheck(t *testing.T) {
	t.Parallel()
	client := sharedEtcd.Client()
	if endpoints := client.Endpoints(); len(endpoints) > 0 {
		t.Errorf("the in-process client has the endpoints %v: statusClient is not needed any more", endpoints)
	}
	checker := feature.NewDefaultFeatureSupportChecker()
	checker.CheckClient(t.Context(), statusClient{client, sharedEtcd.Endpoint()}, storage.RequestWatchProgress)
	eventually(t, "progress is known to be supported", func() error {
		if !checker.Supports(storage.RequestWatchProgress) {
			return errors.New("it is not")
		}
		return nil
	})
}

// backgroundStacks are the goroutines of stores, caches, compactors and etcd's
// client, by their number.
func backgroundStacks() map[string]string {
	buf := make([]byte, 64<<20)
	buf = buf[:runtime.Stack(buf, true)]
	ours := regexp.MustCompile(`k8s\.io/apiserver/pkg/storage/|go\.etcd\.io/etcd/client/v3|grpcproxy/adapter|kapi/internal/storage\.\(`)
	all := map[string]string{}
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		number, _, _ := strings.Cut(stack, " [")
		if ours.MatchString(stack) && !strings.Contains(stack, "backgroundStacks") {
			all[number] = stack
		}
	}
	return all
}

// TestCloseLeavesNothing is not parallel, to count goroutines.
func TestCloseLeavesNothing(t *testing.T) {
	before := backgroundStacks()
	b := New(Config{Client: sharedEtcd.Client(), Endpoint: sharedEtcd.Endpoint(), Prefix: "/close", CompactionInterval: time.Hour})
	defer b.Close()
	var stops []func()
	for prefix, decorate := range map[string]generic.StorageDecorator{"/pods/": b.undecorated, "/cached/": b.cached} {
		config := storagebackend.NewDefaultConfig("/close", codecs().json).ForResource(podResource)
		keyFunc := func(obj k8sruntime.Object) (string, error) { return storage.NamespaceKeyFunc(prefix, obj) }
		store, destroy, err := decorate(config, prefix, keyFunc, newPod, newPodList, podAttrs, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer destroy()
		eventually(t, "the store is ready", store.ReadinessCheck)
		pod, out := &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}, &example.Pod{}
		if err := store.Create(t.Context(), prefix+"ns/a", pod, out, 60); err != nil {
			t.Fatal(err)
		}
		w, err := store.Watch(t.Context(), prefix, storage.ListOptions{ResourceVersion: out.ResourceVersion, Recursive: true, Predicate: storage.Everything})
		if err != nil {
			t.Fatal(err)
		}
		stops = append(stops, w.Stop, destroy)
	}
	if len(backgroundStacks()) <= len(before) {
		t.Fatal("no goroutine is seen: the test looks for the wrong ones")
	}
	for _, stop := range stops {
		stop()
	}
	b.Close()
	b.Close()
	eventually(t, "all goroutines have ended", func() error {
		for number, stack := range backgroundStacks() {
			if before[number] == "" {
				return fmt.Errorf("left:\n%s", stack)
			}
		}
		return nil
	})
	// The client is not the Backend's to close.
	if _, err := sharedEtcd.Client().Get(t.Context(), "/close"); err != nil {
		t.Errorf("using the client afterwards: %v", err)
	}
}

// TestSizeIsReported is not parallel: the source of the metric is one for the process.
func TestSizeIsReported(t *testing.T) {
	metrics.Register()
	b := newBackend(t, sharedEtcd, "/size")
	t.Cleanup(func() { metrics.SetStorageMonitorGetter(func() ([]metrics.Monitor, error) { return nil, nil }) })
	size := func() float64 {
		families, err := legacyregistry.DefaultGatherer.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			if family.GetName() == "apiserver_storage_size_bytes" {
				return family.GetMetric()[0].GetGauge().GetValue()
			}
		}
		return -1
	}
	if got := size(); got != -1 {
		t.Errorf("before, the size is %v", got)
	}
	b.ReportSize()
	status, err := sharedEtcd.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := size(); got <= 0 || got < float64(status.DBSize)/2 {
		t.Errorf("the size is %v, want about %d", got, status.DBSize)
	}
}

// TestLatencyIsBooked: a request knows how long it waited for etcd, and the
// client that others use knows nothing of requests.
func TestLatencyIsBooked(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{})
	ctx := request.WithLatencyTrackers(t.Context())
	trackers, _ := request.LatencyTrackersFrom(ctx)
	if _, err := f.etcd.Get(ctx, "a"); err != nil || trackers.StorageTracker.GetLatency() != 0 {
		t.Errorf("the plain client has booked %v, error %v", trackers.StorageTracker.GetLatency(), err)
	}
	if err := f.Get(ctx, podKey("none"), storage.GetOptions{IgnoreNotFound: true}, &example.Pod{}); err != nil {
		t.Fatal(err)
	}
	if trackers.StorageTracker.GetLatency() == 0 {
		t.Error("nothing is booked for a get")
	}
}
