package resources

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// TestStorageOfARealServer reads what upstream's stores, caches and handlers count.
// The sample server is the only one of this process that keeps what it counts here,
// so the test is not parallel to others that have one.
func TestStorageOfARealServer(t *testing.T) {
	s := newSample(t)
	const fischers = "/apis/wardle.example.com/v1alpha1/fischers"
	for i := range 3 {
		s.request(t, http.MethodPost, fischers, fmt.Sprintf(`{"metadata":{"name":"f%d"}}`, i))
	}
	config := s.config()
	config.EncryptedBy = func(resource schema.GroupResource) string { return "test:" + resource.Resource }
	r := New(config)
	before := named[*v1alpha1.ResourceStorage](t, r.Storage)["fischers.wardle.example.com"].Status
	s.request(t, http.MethodGet, fischers, "")
	s.request(t, http.MethodGet, fischers+"?resourceVersion=0", "")

	web := httptest.NewServer(s.server.Handler)
	defer web.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+fischers+"?watch=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	watch, err := web.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	if watch.StatusCode != http.StatusOK {
		t.Fatalf("the watch was answered %s", watch.Status)
	}
	var object *v1alpha1.ResourceStorage
	waitFor(t, "the watch", func() bool {
		object = named[*v1alpha1.ResourceStorage](t, New(config).Storage)["fischers.wardle.example.com"]
		return object.Status.Watchers > before.Watchers && object.Status.WatchCache != nil && object.Status.WatchCache.Ready
	})
	status := object.Status
	if status.Objects != 3 || status.Bytes < 3*50 || status.Bytes > 3*2000 {
		t.Errorf("%d objects of %d bytes are stored, want 3 of some hundred each", status.Objects, status.Bytes)
	}
	if lists := status.ListRequests - before.ListRequests; lists != 2 { // refused ones don't count
		t.Errorf("%d lists, want 2", lists)
	}
	cache := status.WatchCache
	if cache.Capacity < 10 || cache.ResourceVersion <= 0 || cache.ResourceVersionLag < 0 {
		t.Errorf("watch cache is %+v", cache)
	}
	if l := status.EtcdLatency; l.Count < 3 || l.P50.Duration <= 0 || l.P50.Duration > l.P99.Duration || l.P99.Duration > l.Max.Duration {
		t.Errorf("etcd latency is %+v", l)
	}
	if object.Spec.EncryptedBy != "test:fischers" || object.Spec.EtcdPrefix != s.prefix+"/fischers" || object.ServerID != "server" {
		t.Errorf("object is %+v", object.Spec)
	}
	if _, ok := named[*v1alpha1.ResourceStorage](t, r.Storage)["flunders.wardle.example.com"]; !ok {
		t.Error("flunders are missing")
	}
}

func waitFor(t *testing.T, what string, yes func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !yes() {
		select {
		case <-deadline.C:
			t.Fatalf("%s: not within %v", what, patience)
		case <-again.C:
		}
	}
}

// put writes values of one size.
func put(t *testing.T, prefix string, from, to, size int) {
	t.Helper()
	for i := from; i < to; i++ {
		if _, err := sharedEtcd.Client().Put(t.Context(), fmt.Sprintf("%s/o%05d", prefix, i), strings.Repeat("x", size)); err != nil {
			t.Fatal(err)
		}
	}
}

// custom is a Resources with one custom resource below a prefix of its own.
func custom(t *testing.T, kv Getter) (*Resources, *clock, string) {
	t.Helper()
	c := newClock()
	d := definitions(crontabs(true))
	d.Prefix = ownPrefix(t)
	return New(Config{Custom: d, KV: kv, Now: c.time}), c, d.Prefix + "/example.com/crontabs"
}

func crontabStatus(t *testing.T, r *Resources) v1alpha1.ResourceStorageStatus {
	t.Helper()
	return named[*v1alpha1.ResourceStorage](t, r.Storage)["crontabs.example.com"].Status
}

func TestSizesAreEstimated(t *testing.T) {
	t.Parallel()
	r, c, prefix := custom(t, sharedEtcd.Client())
	if got := crontabStatus(t, r); got.Objects != 0 || got.Bytes != 0 {
		t.Errorf("nothing is stored, and it is %+v", got)
	}
	put(t, prefix, 0, 250, 1000)
	put(t, prefix+"2", 0, 10, 1000) // another resource, whose name begins the same
	if got := crontabStatus(t, r); got.Objects != 0 {
		t.Errorf("counted again at once: %+v", got)
	}
	c.later(countSlowest)
	each := int64(1000 + len(prefix) + len("/o00000"))
	if got := crontabStatus(t, r); got.Objects != 250 || got.Bytes != 250*each {
		t.Errorf("got %d objects of %d bytes, want 250 of %d", got.Objects, got.Bytes, 250*each)
	}
}

func TestSampleIsBounded(t *testing.T) {
	t.Parallel()
	kv := &countingKV{Getter: sharedEtcd.Client()}
	r, _, prefix := custom(t, kv)
	put(t, prefix, 0, 40, 200_000)
	if got := crontabStatus(t, r); got.Objects != 40 || got.Bytes < 40*200_000 {
		t.Errorf("got %+v", got)
	}
	if kv.bytes > sampleBytes+samplePage*200_100 {
		t.Errorf("%d bytes were read for a sample", kv.bytes)
	}
	kv.bytes = 0
	crontabStatus(t, r)
	if kv.bytes != 0 {
		t.Errorf("%d bytes were read again", kv.bytes)
	}
}

type countingKV struct {
	Getter

	bytes int
}

func (c *countingKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	response, err := c.Getter.Get(ctx, key, opts...)
	if err == nil {
		for _, kv := range response.Kvs {
			c.bytes += len(kv.Key) + len(kv.Value)
		}
	}
	return response, err
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	r, c, prefix := custom(t, sharedEtcd.Client())
	put(t, prefix, 0, 10, 1000)
	size := crontabStatus(t, r).Bytes / 10
	for i := range 13 {
		c.later(samplePeriod)
		put(t, prefix, 10+i, 11+i, 1000)
		got := crontabStatus(t, r).BytesPerHour
		if i < 11 && got != 0 {
			t.Errorf("growth is %d bytes an hour after %d minutes", got, i+1)
		}
	}
	got, want := crontabStatus(t, r).BytesPerHour, 60*size
	if got < want*99/100 || got > want*101/100 {
		t.Errorf("growth is %d bytes an hour, want %d: an object a minute", got, want)
	}
}

// What nobody has touched does not grow, although the estimate of its size changes:
// upstream's is of other objects from minute to minute.
func TestEstimatesDoNotGrow(t *testing.T) {
	t.Parallel()
	prefix, c := ownPrefix(t), newClock()
	put(t, prefix, 0, 10, 1000)
	counted := counts{kv: sharedEtcd.Client(), now: c.time}
	resources := map[string]schema.GroupResource{prefix: {Resource: "crontabs"}}
	for i := range 20 {
		average := float64(2000 - 50*i)
		got, _ := counted.get(t.Context(), resources, func(schema.GroupResource) float64 { return average })
		if one := got[prefix]; one.objects != 10 || one.bytes != int64(10*average) || one.perHour != 0 {
			t.Fatalf("after %d minutes: %+v", i, one)
		}
		c.later(samplePeriod)
	}
}

func TestEtcdAway(t *testing.T) {
	t.Parallel()
	r, _, _ := custom(t, brokenKV{})
	if got := crontabStatus(t, r); got.Objects != -1 || got.Bytes != -1 {
		t.Errorf("status is %+v", got)
	}
	r, _, _ = custom(t, nil)
	if got := crontabStatus(t, r); got.Objects != -1 || got.Bytes != -1 || got.WatchCache != nil {
		t.Errorf("without etcd: %+v", got)
	}
}

type brokenKV struct{}

func (brokenKV) Get(context.Context, string, ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return nil, errors.New("etcd is away")
}

// TestMetricNames holds the names that are read to those that upstream registers.
func TestMetricNames(t *testing.T) {
	s := newSample(t)
	s.request(t, http.MethodGet, "/apis/wardle.example.com/v1alpha1/fischers", "")
	known := map[string]bool{}
	waitFor(t, "all metrics", func() bool {
		families, err := legacyregistry.DefaultGatherer.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			known[family.GetName()] = true
		}
		for name := range measureFamilies() {
			// Only a watch through the filters makes the gauge of long-running requests.
			if !known[name] && name != "apiserver_longrunning_requests" {
				return false
			}
		}
		return true
	})
}

func TestQuantiles(t *testing.T) {
	t.Parallel()
	registry := metrics.NewKubeRegistry()
	histogram := metrics.NewHistogramVec(&metrics.HistogramOpts{Name: "h", Buckets: []float64{0.1, 0.2, 0.4}}, []string{"part"})
	registry.MustRegister(histogram)
	for range 50 {
		histogram.WithLabelValues("a").Observe(0.05)
		histogram.WithLabelValues("b").Observe(0.15)
	}
	c := newClock()
	source := gathered{from: registry, now: c.time}
	got := latencyOf(source.get()["h"])
	for name, test := range map[string]struct{ got, want time.Duration }{
		"p50": {got.P50.Duration, 100 * time.Millisecond}, "p90": {got.P90.Duration, 180 * time.Millisecond},
		"p99": {got.P99.Duration, 198 * time.Millisecond}, "max": {got.Max.Duration, 200 * time.Millisecond},
	} {
		if test.got != test.want {
			t.Errorf("%s is %v, want %v", name, test.got, test.want)
		}
	}
	histogram.WithLabelValues("a").Observe(5) // beyond the last bucket
	if count := latencyOf(source.get()["h"]).Count; count != 100 {
		t.Errorf("gathered again at once: %d", count)
	}
	c.later(askAgain)
	if got := latencyOf(source.get()["h"]); got.Count != 101 || got.Max.Duration != 400*time.Millisecond {
		t.Errorf("with one beyond the last bucket: %+v", got)
	}
	if empty := (&families.Distribution{}).Latency(); empty.Count != 0 || empty.Max.Duration != 0 {
		t.Errorf("empty is %+v", empty)
	}
}
