package foreign

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// The metrics of what is stored. Source: k8s.io/apiserver/pkg/storage/etcd3/metrics,
// storage/cacher/metrics and endpoints/metrics.
const (
	objectsMetric     = "apiserver_resource_objects"
	objectsMetricOld  = "apiserver_storage_objects" // before 1.34; its resource is "deployments.apps"
	bytesMetric       = "apiserver_resource_size_estimate_bytes"
	capacityMetric    = "watch_cache_capacity"
	cacheVersion      = "apiserver_watch_cache_resource_version"
	cacheStarts       = "apiserver_watch_cache_initializations_total"
	etcdLatencyMetric = "etcd_request_duration_seconds"
	longRunning       = "apiserver_longrunning_requests"
	requestTotal      = "apiserver_request_total"
)

// countPeriod is the time between two counts of the objects of a resource.
// Source: startTracking in k8s.io/apiserver/pkg/registry/generic/registry/store.go.
const countPeriod = time.Minute

// stored is what the metrics say of one resource.
type stored struct {
	objects, bytes       float64
	sized                bool
	capacity, version    int64
	cached               int64
	watchers, lists      int64
	etcd                 families.Distribution
	hasObjects, hasCache bool
}

// storages finds the resources whose objects this server counts.
func (s *Server) storages(ctx context.Context, _ inspection.Query) (*finding, error) {
	metrics, err := s.metrics(ctx, objectsMetric, objectsMetricOld, bytesMetric, capacityMetric, cacheVersion, cacheStarts,
		etcdLatencyMetric, longRunning, requestTotal, startMetric)
	if err != nil {
		return nil, err
	}
	f := &finding{}
	resources := readStored(metrics)
	for _, resource := range slices.SortedFunc(keys(resources), func(a, b schema.GroupResource) int {
		return strings.Compare(a.String(), b.String())
	}) {
		if known := resources[resource]; known.hasObjects {
			f.add(storage(resource, known))
		}
	}
	if len(f.objects) == 0 {
		f.gap(fmt.Sprintf("%s has no %s yet; it is counted once a minute", metricsPath, objectsMetric), "")
	}
	if started := startOf(metrics); !started.IsZero() && time.Since(started) < 2*countPeriod {
		f.gap("this server counts once a minute, and has only just started", "Objects", "Size")
	}
	f.emptyFor("this server does not estimate it", "Size")
	f.gap("this server keeps no earlier sizes", "Per-Hour")
	f.gap("it needs the store's revision, which this server does not show", "Lag")
	f.gap("this server does not say under which keys it stores", "Etcd-Prefix")
	for family, column := range map[string]string{etcdLatencyMetric: "Etcd-P99", longRunning: "Watchers", requestTotal: "Lists", capacityMetric: "Capacity"} {
		if len(metrics[family]) == 0 {
			f.gap(noMetric(family), column)
		}
	}
	flags, err := s.flags(ctx)
	switch {
	case err != nil:
		f.gap("this server does not say it, and of its flags: "+why(err, flagsPath), "Encrypted-By")
	case flags["encryption-provider-config"] == "":
		f.gap("nothing is encrypted: --encryption-provider-config is not set", "Encrypted-By")
	default:
		f.gap(fmt.Sprintf("it stands in %s, on the server's disk", flags["encryption-provider-config"]), "Encrypted-By")
	}
	return f, nil
}

func noMetric(family string) string { return fmt.Sprintf("%s has no %s", metricsPath, family) }

func storage(resource schema.GroupResource, known *stored) *v1alpha1.ResourceStorage {
	object := &v1alpha1.ResourceStorage{
		Spec: v1alpha1.ResourceStorageSpec{Group: resource.Group, Resource: resource.Resource},
		Status: v1alpha1.ResourceStorageStatus{
			Objects: int64(known.objects), Bytes: -1,
			Watchers: known.watchers, ListRequests: known.lists, EtcdLatency: known.etcd.Latency(),
		},
	}
	object.Name = resource.String()
	if known.sized {
		object.Status.Bytes = int64(known.bytes)
	}
	if known.hasCache {
		object.Status.WatchCache = &v1alpha1.WatchCache{
			Ready: known.cached > 0, Capacity: known.capacity, ResourceVersion: known.version,
		}
	}
	return object
}

// readStored adds up the metrics by resource. All but the old one have the labels
// group and resource; releases before 1.34 have no group in them, and are read as
// far as the names go.
func readStored(metrics families.Families) map[schema.GroupResource]*stored {
	resources := map[schema.GroupResource]*stored{}
	read := map[string]func(*stored, *dto.Metric){
		objectsMetric:    func(r *stored, m *dto.Metric) { r.hasObjects, r.objects = true, families.Value(m) },
		objectsMetricOld: func(r *stored, m *dto.Metric) { r.hasObjects, r.objects = true, families.Value(m) },
		bytesMetric:      func(r *stored, m *dto.Metric) { r.sized, r.bytes = true, families.Value(m) },
		capacityMetric:   func(r *stored, m *dto.Metric) { r.hasCache, r.capacity = true, int64(families.Value(m)) },
		cacheVersion:     func(r *stored, m *dto.Metric) { r.version = int64(families.Value(m)) },
		cacheStarts:      func(r *stored, m *dto.Metric) { r.cached = int64(families.Value(m)) },
		etcdLatencyMetric: func(r *stored, m *dto.Metric) {
			r.etcd.Add(m.GetHistogram())
		},
		longRunning: func(r *stored, m *dto.Metric) {
			if families.Label(m, "verb") == "WATCH" {
				r.watchers += int64(families.Value(m))
			}
		},
		requestTotal: func(r *stored, m *dto.Metric) {
			if families.Label(m, "verb") == "LIST" && families.Label(m, "code") == fmt.Sprint(http.StatusOK) {
				r.lists += int64(families.Value(m))
			}
		},
	}
	for family, add := range read {
		for _, metric := range metrics[family] {
			resource := resourceOf(metric)
			if resources[resource] == nil {
				resources[resource] = &stored{}
			}
			add(resources[resource], metric)
		}
	}
	return resources
}

func resourceOf(metric *dto.Metric) schema.GroupResource {
	group, resource := families.Label(metric, "group"), families.Label(metric, "resource")
	if group == "" {
		return schema.ParseGroupResource(resource)
	}
	return schema.GroupResource{Group: group, Resource: resource}
}
