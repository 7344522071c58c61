package kinds

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func resourceKinds() []Kind {
	return []Kind{registrations(), storages(), transitions(), probes(), discoveries()}
}

func registrations() Kind {
	type object = *v1alpha1.APIResourceRegistration
	return Kind{
		Resource: "apiresourceregistrations", Singular: "apiresourceregistration", Kind: "APIResourceRegistration",
		ShortNames: []string{"registration", "registrations"}, Busy: true,
		New:     func() runtime.Object { return &v1alpha1.APIResourceRegistration{} },
		NewList: func() runtime.Object { return &v1alpha1.APIResourceRegistrationList{} },
		Columns: []Column{
			column("Group", "string", "API group", func(o object) any { return core(o.Spec.Group) }),
			column("Version", "string", "Version in the group", func(o object) any { return o.Spec.Version }),
			column("Kind", "string", "Kind of its objects", func(o object) any { return o.Spec.Kind }),
			column("Namespaced", "boolean", "Whether its objects are in namespaces", func(o object) any { return o.Spec.Namespaced }),
			column("Layer", "string", "Layer that serves it", func(o object) any { return o.Spec.Layer }),
			column("Served", "boolean", "Whether the server answers for it", func(o object) any { return o.Spec.Served }),
			column("Storage-Version", "string", "What its objects are written as", func(o object) any { return o.Spec.StorageVersion }),
			wide("Verbs", "string", "What can be done with it", func(o object) any { return list(o.Spec.Verbs) }),
			wide("Subresources", "string", "Names after the slash", func(o object) any { return list(o.Spec.Subresources) }),
			wide("Etcd-Prefix", "string", "Where its objects are in etcd", func(o object) any { return o.Spec.EtcdPrefix }),
			wide("Deprecated-In", "string", "Version that began to warn", func(o object) any { return o.Spec.DeprecatedIn }),
			wide("Removed-In", "string", "Version that no longer serves it", func(o object) any { return o.Spec.RemovedIn }),
			wide("Disabled-By", "string", "Why it is not served", func(o object) any { return o.Spec.DisabledBy }),
		},
		Fields: map[string]func(Object) string{
			"spec.group":    field(func(o object) string { return o.Spec.Group }),
			"spec.version":  field(func(o object) string { return o.Spec.Version }),
			"spec.resource": field(func(o object) string { return o.Spec.Resource }),
			"spec.kind":     field(func(o object) string { return o.Spec.Kind }),
			"spec.layer":    field(func(o object) string { return o.Spec.Layer }),
			"spec.served":   field(func(o object) string { return toString(o.Spec.Served) }),
		},
	}
}

func storages() Kind {
	type object = *v1alpha1.ResourceStorage
	cache := func(value func(*v1alpha1.WatchCache) string) func(object) any {
		return func(o object) any {
			if o.Status.WatchCache == nil {
				return "none"
			}
			return value(o.Status.WatchCache)
		}
	}
	return Kind{
		Resource: "resourcestorages", Singular: "resourcestorage", Kind: "ResourceStorage", ShortNames: []string{"storage"}, Busy: true,
		New:     func() runtime.Object { return &v1alpha1.ResourceStorage{} },
		NewList: func() runtime.Object { return &v1alpha1.ResourceStorageList{} },
		Columns: []Column{
			column("Objects", "string", "Objects that are stored", func(o object) any { return count(o.Status.Objects) }),
			column("Size", "string", "Size of the objects as stored", func(o object) any { return Size(o.Status.Bytes) }),
			column("Per-Hour", "string", "Growth of the size", func(o object) any { return growth(o.Status.BytesPerHour) }),
			column("Cache", "string", "Whether the watch cache answers", cache(func(c *v1alpha1.WatchCache) string {
				if c.Ready {
					return "ready"
				}
				return "not ready"
			})),
			column("Watchers", "integer", "Watches that are open", func(o object) any { return o.Status.Watchers }),
			column("Lists", "integer", "Lists that were answered", func(o object) any { return o.Status.ListRequests }),
			column("Etcd-P99", "string", "99th percentile of requests to etcd", func(o object) any { return Took(o.Status.EtcdLatency.P99) }),
			wide("Lag", "string", "Revisions of the store that the cache has not seen", cache(func(c *v1alpha1.WatchCache) string {
				return strconv.FormatInt(c.ResourceVersionLag, 10)
			})),
			wide("Capacity", "string", "Events that the cache remembers", cache(func(c *v1alpha1.WatchCache) string {
				return strconv.FormatInt(c.Capacity, 10)
			})),
			wide("Encrypted-By", "string", "Provider that encrypts new objects", func(o object) any { return o.Spec.EncryptedBy }),
			wide("Etcd-Prefix", "string", "Where the objects are in etcd", func(o object) any { return o.Spec.EtcdPrefix }),
		},
		Fields: map[string]func(Object) string{
			"spec.group":    field(func(o object) string { return o.Spec.Group }),
			"spec.resource": field(func(o object) string { return o.Spec.Resource }),
		},
	}
}

func growth(bytesPerHour int64) string {
	if bytesPerHour < 0 {
		return "-" + Size(-bytesPerHour)
	}
	return Size(bytesPerHour)
}

func transitions() Kind {
	type object = *v1alpha1.ConditionTransition
	return Kind{
		Resource: "conditiontransitions", Singular: "conditiontransition", Kind: "ConditionTransition",
		ShortNames: []string{"transition", "transitions"}, Busy: true,
		New:     func() runtime.Object { return &v1alpha1.ConditionTransition{} },
		NewList: func() runtime.Object { return &v1alpha1.ConditionTransitionList{} },
		Columns: []Column{
			column("Kind", "string", "Kind of the object", func(o object) any { return o.Spec.Object.Kind }),
			column("Object", "string", "Name of the object", func(o object) any { return o.Spec.Object.Name }),
			column("Type", "string", "Type of the condition", func(o object) any { return o.Spec.Type }),
			column("From", "string", "Status before", func(o object) any { return o.Spec.From }),
			column("To", "string", "Status after", func(o object) any { return o.Spec.To }),
			column("Reason", "string", "Reason after the change", func(o object) any { return o.Spec.Reason }),
			since("At", "Time since the change", func(o object) *metav1.MicroTime { return &o.Spec.At }),
			wide("Held-For", "string", "How long the status before had lasted", func(o object) any { return optional(o.Spec.HeldFor) }),
			wide("To-Established", "string", "Time from creation until established", func(o object) any { return optional(o.Spec.TimeToEstablished) }),
			wide("To-Served", "string", "Time from creation until served", func(o object) any { return optional(o.Spec.TimeToServed) }),
			wide("Message", "string", "Message after the change", func(o object) any { return short(o.Spec.Message, 80) }),
		},
		Fields: map[string]func(Object) string{
			"spec.object.kind": field(func(o object) string { return o.Spec.Object.Kind }),
			"spec.object.name": field(func(o object) string { return o.Spec.Object.Name }),
			"spec.type":        field(func(o object) string { return o.Spec.Type }),
			"spec.to":          field(func(o object) string { return o.Spec.To }),
			"spec.reason":      field(func(o object) string { return o.Spec.Reason }),
		},
	}
}

func probes() Kind {
	type object = *v1alpha1.APIServiceProbe
	return Kind{
		Resource: "apiserviceprobes", Singular: "apiserviceprobe", Kind: "APIServiceProbe", ShortNames: []string{"probe", "probes"},
		New:     func() runtime.Object { return &v1alpha1.APIServiceProbe{} },
		NewList: func() runtime.Object { return &v1alpha1.APIServiceProbeList{} },
		Columns: []Column{
			column("Service", "string", "Service of the aggregated server", func(o object) any {
				if o.Spec.Service == "" {
					return "Local"
				}
				return o.Spec.Service
			}),
			column("Available", "string", "Available condition of the APIService", func(o object) any { return o.Status.Available }),
			column("Failing-Step", "string", "Step at which the last probe failed", func(o object) any { return string(o.Status.FailingStep) }),
			column("Error", "string", "Why that step failed", func(o object) any { return short(o.Status.Error, 60) }),
			column("503s", "integer", "Requests of clients answered 503 in its place", func(o object) any { return o.Status.UnavailableAnswers }),
			since("Last-Probe", "Time since the last probe", func(o object) *metav1.MicroTime {
				if len(o.Status.Probes) == 0 {
					return nil
				}
				return &o.Status.Probes[0].At
			}).wide(),
		},
		Fields: map[string]func(Object) string{
			"spec.group":         field(func(o object) string { return o.Spec.Group }),
			"spec.service":       field(func(o object) string { return o.Spec.Service }),
			"status.available":   field(func(o object) string { return o.Status.Available }),
			"status.failingStep": field(func(o object) string { return string(o.Status.FailingStep) }),
		},
	}
}

func discoveries() Kind {
	type object = *v1alpha1.DiscoveryState
	listed := func(state v1alpha1.OpenAPIState) any {
		if state.Error != "" {
			return "?"
		}
		return toString(state.Listed)
	}
	return Kind{
		Resource: "discoverystates", Singular: "discoverystate", Kind: "DiscoveryState", ShortNames: []string{"discovery"},
		New:     func() runtime.Object { return &v1alpha1.DiscoveryState{} },
		NewList: func() runtime.Object { return &v1alpha1.DiscoveryStateList{} },
		Columns: []Column{
			column("Source", "string", "Where the group version comes from", func(o object) any { return o.Spec.Source }),
			column("Freshness", "string", "Current, Stale or Missing", func(o object) any { return string(o.Status.Freshness) }),
			column("Resources", "integer", "Resources that are listed", func(o object) any { return int64(o.Status.Resources) }),
			column("V2", "string", "Whether OpenAPI v2 has it", func(o object) any { return listed(o.Status.OpenAPIV2) }),
			column("V3", "string", "Whether OpenAPI v3 has it", func(o object) any { return listed(o.Status.OpenAPIV3) }),
			column("Error", "string", "Why it is not current", func(o object) any { return short(o.Status.Error, 60) }),
			wide("V3-Size", "string", "Size of the OpenAPI v3 document", func(o object) any {
				if o.Status.OpenAPIV3.Bytes == 0 {
					return ""
				}
				return Size(o.Status.OpenAPIV3.Bytes)
			}),
			since("Last-Fetch", "Time since it was looked at", func(o object) *metav1.MicroTime { return o.Status.LastFetch }).wide(),
		},
		Fields: map[string]func(Object) string{
			"spec.group":       field(func(o object) string { return o.Spec.Group }),
			"status.freshness": field(func(o object) string { return string(o.Status.Freshness) }),
		},
	}
}
