package resources

import (
	"context"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Storage returns a ResourceStorage for each resource that has objects in etcd.
// Of resources that share their objects (events) it is the one whose group they
// are written as. Sizes are estimated; counts says how.
func (r *Resources) Storage(ctx context.Context) ([]store.Object, error) {
	resources, err := r.storedResources(ctx)
	if err != nil {
		return nil, err
	}
	measures := readMeasures(r.counts.metrics.get())
	counted, revision := r.counts.get(ctx, resources, func(resource schema.GroupResource) float64 {
		return measures[resource].averageSize()
	})
	objects := make([]store.Object, 0, len(resources))
	for prefix, resource := range resources {
		objects = append(objects, r.resourceStorage(prefix, resource, counted[prefix], revision, measures[resource]))
	}
	slices.SortFunc(objects, func(a, b store.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return objects, nil
}

// storedResources are the resources that have objects, by the prefix of their keys.
func (r *Resources) storedResources(ctx context.Context) (map[string]schema.GroupResource, error) {
	all, err := r.registrations(ctx)
	if err != nil {
		return nil, err
	}
	resources := map[string]schema.GroupResource{}
	for _, one := range all {
		if one.EtcdPrefix == "" {
			continue
		}
		written, err := schema.ParseGroupVersion(one.StorageVersion)
		if _, taken := resources[one.EtcdPrefix]; !taken || (err == nil && written.Group == one.Group) {
			resources[one.EtcdPrefix] = schema.GroupResource{Group: one.Group, Resource: one.Resource}
		}
	}
	return resources, nil
}

func (r *Resources) resourceStorage(prefix string, resource schema.GroupResource, counted countedStock, revision int64, m *measure) store.Object {
	object := &v1alpha1.ResourceStorage{
		ObjectMeta: metav1.ObjectMeta{Name: resource.String()},
		ServerID:   r.config.ServerID,
		Spec:       v1alpha1.ResourceStorageSpec{Group: resource.Group, Resource: resource.Resource, EtcdPrefix: prefix},
		Status: v1alpha1.ResourceStorageStatus{
			Objects: counted.objects, Bytes: counted.bytes, BytesPerHour: counted.perHour,
		},
	}
	if r.config.EncryptedBy != nil {
		object.Spec.EncryptedBy = r.config.EncryptedBy(resource)
	}
	if m == nil {
		return object
	}
	if r.config.KV == nil { // upstream's count is better than none
		object.Status.Objects, object.Status.Bytes = m.knownObjects(), m.knownBytes()
	}
	object.Status.Watchers, object.Status.ListRequests = m.watchers, m.lists
	object.Status.EtcdLatency = m.etcd.Latency()
	if m.cacheCapacity > 0 {
		object.Status.WatchCache = &v1alpha1.WatchCache{
			Ready: m.cacheStarts > 0, Capacity: m.cacheCapacity, ResourceVersion: m.cacheVersion,
			ResourceVersionLag: m.lag(revision),
		}
	}
	return object
}

// measure is what upstream's metrics say of one resource.
type measure struct {
	counted, hasSize           bool
	objects, size              float64 // as of the last minute; -1 when upstream failed
	cacheCapacity, cacheStarts int64
	cacheVersion               int64
	watchers, lists            int64
	etcd                       families.Distribution
}

// averageSize is the size of one object; 0 when upstream does not know.
func (m *measure) averageSize() float64 {
	if m == nil || !m.counted || !m.hasSize || m.objects <= 0 || m.size <= 0 {
		return 0
	}
	return m.size / m.objects
}

func (m *measure) knownObjects() int64 {
	if !m.counted {
		return -1
	}
	return int64(m.objects)
}

func (m *measure) knownBytes() int64 {
	if !m.hasSize {
		return -1
	}
	return int64(m.size)
}

// lag is how far the watch cache is behind a revision of the store. The cache may
// be ahead, when the revision was read before.
func (m *measure) lag(revision int64) int64 {
	// The metric has the last 15 digits only.
	return max(0, revision%1_000_000_000_000_000-m.cacheVersion)
}

// measureFamilies are the metrics that are read, and what each adds to the
// measure of its resource. All have the labels group and resource.
// Source: k8s.io/apiserver/pkg/storage/etcd3/metrics, storage/cacher/metrics and
// endpoints/metrics.
func measureFamilies() map[string]func(*measure, *dto.Metric) {
	return map[string]func(*measure, *dto.Metric){
		"apiserver_resource_objects": func(m *measure, metric *dto.Metric) { m.counted, m.objects = true, families.Value(metric) },
		"apiserver_resource_size_estimate_bytes": func(m *measure, metric *dto.Metric) {
			m.hasSize, m.size = true, families.Value(metric)
		},
		"watch_cache_capacity":                        func(m *measure, metric *dto.Metric) { m.cacheCapacity = int64(families.Value(metric)) },
		"apiserver_watch_cache_resource_version":      func(m *measure, metric *dto.Metric) { m.cacheVersion = int64(families.Value(metric)) },
		"apiserver_watch_cache_initializations_total": func(m *measure, metric *dto.Metric) { m.cacheStarts = int64(families.Value(metric)) },
		"etcd_request_duration_seconds":               func(m *measure, metric *dto.Metric) { m.etcd.Add(metric.GetHistogram()) },
		"apiserver_longrunning_requests": func(m *measure, metric *dto.Metric) {
			if families.Label(metric, "verb") == "WATCH" {
				m.watchers += int64(families.Value(metric))
			}
		},
		"apiserver_request_total": func(m *measure, metric *dto.Metric) {
			if families.Label(metric, "verb") == "LIST" && strings.HasPrefix(families.Label(metric, "code"), "2") {
				m.lists += int64(families.Value(metric))
			}
		},
	}
}

func readMeasures(metrics families.Families) map[schema.GroupResource]*measure {
	measures := map[schema.GroupResource]*measure{}
	for name, add := range measureFamilies() {
		for _, metric := range metrics[name] {
			resource := schema.GroupResource{Group: families.Label(metric, "group"), Resource: families.Label(metric, "resource")}
			if measures[resource] == nil {
				measures[resource] = &measure{}
			}
			add(measures[resource], metric)
		}
	}
	return measures
}
