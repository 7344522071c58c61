package resources

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
)

// Known are the built-in resources that a server could serve.
type Known struct {
	// Scheme has their types, and from these their life cycle.
	Scheme *runtime.Scheme
	// Layer would serve them ("kube-apiserver").
	Layer string
	// Config says which are turned on (Config.MergedResourceConfig of the server).
	Config *serverstorage.ResourceConfig
	// Version is the release that the server behaves like (its emulation version).
	Version *version.Version
	// GateEnabled tells whether a feature gate is on.
	GateEnabled func(gate string) bool

	once sync.Once
	all  []registration // see read
}

// gates are the feature gates that a resource needs, beside being turned on.
// Source: k8s.io/kubernetes/pkg/registry/*/rest.
func gates() map[schema.GroupResource]string {
	return map[schema.GroupResource]string{
		{Group: "certificates.k8s.io", Resource: "clustertrustbundles"}:          "ClusterTrustBundle",
		{Group: "certificates.k8s.io", Resource: "podcertificaterequests"}:       "PodCertificateRequest",
		{Group: "lifecycle.k8s.io", Resource: "evictions"}:                       "EvictionRequestAPI",
		{Group: "lifecycle.k8s.io", Resource: "evictionrequests"}:                "EvictionRequestAPI",
		{Group: "scheduling.k8s.io", Resource: "workloads"}:                      "GenericWorkload",
		{Group: "scheduling.k8s.io", Resource: "podgroups"}:                      "GenericWorkload",
		{Group: "scheduling.k8s.io", Resource: "compositepodgroups"}:             "CompositePodGroup",
		{Group: "storagemigration.k8s.io", Resource: "storageversionmigrations"}: "StorageVersionMigrator",
	}
}

// The methods that types of pre-releases have.
// Source: k8s.io/code-generator/cmd/prerelease-lifecycle-gen.
type (
	introduced interface{ APILifecycleIntroduced() (major, minor int) }
	deprecated interface{ APILifecycleDeprecated() (major, minor int) }
	removed    interface{ APILifecycleRemoved() (major, minor int) }
)

// lifecycle returns the releases that warn of a kind and that no longer serve
// it, as "1.29"; empty where there is none.
func (k *Known) lifecycle(gvk schema.GroupVersionKind) (deprecatedIn, removedIn string) {
	if k == nil {
		return "", ""
	}
	object, err := k.Scheme.New(gvk)
	if err != nil {
		return "", ""
	}
	if d, ok := object.(deprecated); ok {
		deprecatedIn = release(d.APILifecycleDeprecated())
	}
	if r, ok := object.(removed); ok {
		removedIn = release(r.APILifecycleRemoved())
	}
	return deprecatedIn, removedIn
}

func release(major, minor int) string {
	if major == 0 && minor == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", major, minor)
}

// missing returns the resources that are known and not in registered.
func (k *Known) missing(registered []registration) []registration {
	if k == nil {
		return nil
	}
	k.once.Do(func() { k.all = k.read() })
	have := make(map[schema.GroupVersionResource]bool, len(registered))
	for i := range registered {
		have[versionResource(registered[i])] = true
	}
	var missing []registration
	for i := range k.all {
		if !have[versionResource(k.all[i])] {
			missing = append(missing, k.all[i])
		}
	}
	return missing
}

// read returns all known resources as they are when they are not registered. It
// reads types, so it knows nothing of those without a list of their own (reviews).
// Scheme and configuration change no more once the server serves.
func (k *Known) read() []registration {
	var all []registration
	for _, gv := range k.Scheme.PrioritizedVersionsAllGroups() {
		kinds := k.Scheme.KnownTypes(gv)
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			gvr, _ := meta.UnsafeGuessKindToResource(gv.WithKind(kind))
			if kinds[kind+"List"] == nil || !isObject(kinds[kind]) {
				continue
			}
			if reason := k.reason(gvr, kind); reason != "" {
				one := registration{
					Group: gv.Group, Version: gv.Version, Resource: gvr.Resource, Kind: kind, Layer: k.Layer, DisabledBy: reason,
				}
				one.DeprecatedIn, one.RemovedIn = k.lifecycle(gv.WithKind(kind))
				all = append(all, one)
			}
		}
	}
	return all
}

func isObject(kind reflect.Type) bool {
	_, ok := reflect.New(kind).Interface().(metav1.Object)
	return ok
}

// reason says why a resource is not served, and which flags would turn it on;
// empty for types that never were one.
func (k *Known) reason(gvr schema.GroupVersionResource, kind string) string {
	object, err := k.Scheme.New(gvr.GroupVersion().WithKind(kind))
	if err != nil {
		return ""
	}
	if r, ok := object.(removed); ok {
		if at := release(r.APILifecycleRemoved()); at != "" && k.Version != nil && !k.Version.LessThan(version.MustParseGeneric(at)) {
			return fmt.Sprintf("removed in Kubernetes %s; nothing turns it on", at)
		}
	}
	if i, ok := object.(introduced); ok {
		if at := release(i.APILifecycleIntroduced()); at != "" && k.Version != nil && k.Version.LessThan(version.MustParseGeneric(at)) {
			return fmt.Sprintf("new in Kubernetes %s; --emulated-version is %s", at, k.Version)
		}
	}
	if !k.configurable(gvr) {
		return ""
	}
	var flags []string
	if !k.Config.ResourceEnabled(gvr) {
		flags = append(flags, fmt.Sprintf("--runtime-config=%s=true", k.switchFor(gvr)))
	}
	if gate := gates()[gvr.GroupResource()]; gate != "" && k.GateEnabled != nil && !k.GateEnabled(gate) {
		flags = append(flags, fmt.Sprintf("--feature-gates=%s=true", gate))
	}
	if len(flags) == 0 {
		return "this server does not register it"
	}
	return "off; turned on by " + strings.Join(flags, " and ")
}

// configurable says that the configuration has a word for the resource.
func (k *Known) configurable(gvr schema.GroupVersionResource) bool {
	if k.Config == nil {
		return false
	}
	if _, ok := k.Config.GroupVersionConfigs[gvr.GroupVersion()]; ok {
		return true
	}
	_, ok := k.Config.ResourceConfigs[gvr]
	return ok
}

// switchFor is what --runtime-config turns on: the whole version, unless that is
// on and only the resource is off.
func (k *Known) switchFor(gvr schema.GroupVersionResource) string {
	gv := gvr.GroupVersion().String()
	if k.Config.GroupVersionConfigs[gvr.GroupVersion()] {
		return gv + "/" + gvr.Resource
	}
	return gv
}
