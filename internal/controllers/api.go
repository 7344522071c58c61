package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apiextensionsscheme "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	genericfeatures "k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/controller/scheduling/podgroupprotection"
	"k8s.io/kubernetes/pkg/controller/servicecidrs"
	"k8s.io/kubernetes/pkg/controller/storageversiongc"
	"k8s.io/kubernetes/pkg/controller/storageversionmigrator"
	"k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
	"k8s.io/kubernetes/pkg/controller/volume/vacprotection"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/generated/openapi"
	"k8s.io/kubernetes/pkg/quota/v1/install"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/controllers/informers"
)

// How many keys a controller works on at once, and how often it looks at everything
// again: the defaults of kube-controller-manager.
// Source: the files config/v1alpha1/defaults.go below k8s.io/kubernetes/pkg/controller.
const (
	namespaceWorkers = 10
	namespaceResync  = 5 * time.Minute
	collectorWorkers = 20
	collectorSync    = 30 * time.Second
	quotaWorkers     = 5
	// quotaResync is shorter than upstream's five minutes: a quota on objects of a CRD
	// that is new itself is counted only then.
	quotaResync        = 30 * time.Second
	aggregationWorkers = 5
	policyWorkers      = 5
	serviceCIDRWorkers = 5
)

// apiConstructors are those of the set api: what is here, and in accounts.go.
func apiConstructors() map[string]constructor {
	all := accountConstructors()
	all["namespace"] = constructor{make: makeNamespace}
	all[catalog.GarbageCollector] = constructor{make: makeGarbageCollector}
	all["clusterrole-aggregation"] = constructor{
		resources: []schema.GroupVersionResource{resource("rbac.authorization.k8s.io", "v1", "clusterroles")}, make: with(makeAggregation)}
	all["resourcequota"] = constructor{make: with(makeQuota)}
	all["validatingadmissionpolicy-status"] = constructor{
		resources: []schema.GroupVersionResource{resource("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")}, make: with(makePolicyStatus)}
	all[catalog.StorageVersionMigrator] = constructor{
		gates:     []featuregate.Feature{features.StorageVersionMigrator},
		resources: []schema.GroupVersionResource{resource("storagemigration.k8s.io", "v1", "storageversionmigrations")}, off: noMigrator, make: makeMigrator}
	all["storage-version-gc"] = constructor{
		gates:     []featuregate.Feature{genericfeatures.APIServerIdentity, genericfeatures.StorageVersionAPI},
		resources: []schema.GroupVersionResource{resource("internal.apiserver.k8s.io", "v1alpha1", "storageversions")}, make: with(makeStorageVersionGC)}
	all["service-cidr"] = constructor{
		gates:     []featuregate.Feature{features.MultiCIDRServiceAllocator},
		resources: []schema.GroupVersionResource{resource("networking.k8s.io", "v1", "servicecidrs")}, make: with(makeServiceCIDR)}
	all["pv-protection"] = constructor{make: with(makePVProtection)}
	all["pvc-protection"] = constructor{make: with(makePVCProtection)}
	all["vac-protection"] = constructor{
		gates:     []featuregate.Feature{features.VolumeAttributesClass},
		resources: []schema.GroupVersionResource{resource("storage.k8s.io", "v1", "volumeattributesclasses")}, make: with(makeVACProtection)}
	all["podgroup-protection"] = constructor{
		gates: []featuregate.Feature{features.GenericWorkload}, resources: podGroups(), make: with(makePodGroupProtection)}
	return all
}

// podGroups are the resource of gate GenericWorkload.
func podGroups() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{resource("scheduling.k8s.io", "v1beta1", "podgroups")}
}

// podGroupsIf are podGroups where a gate is on: it makes a controller wait for them,
// also where they are not served.
func podGroupsIf(gate featuregate.Feature) []schema.GroupVersionResource {
	if feature.DefaultFeatureGate.Enabled(gate) {
		return podGroups()
	}
	return nil
}

func makePodGroupProtection(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	groups, err := podgroupprotection.NewPodGroupProtectionController(klog.FromContext(ctx),
		t.informers.Typed.Scheduling().V1beta1().PodGroups(), t.informers.Typed.Core().V1().Pods(), client)
	if err != nil {
		return nil, err
	}
	return workers(groups.Run, 1), nil
}

func makeNamespace(ctx context.Context, t *term, c catalog.Controller) (loop, error) {
	client, err := t.client(c)
	if err != nil {
		return nil, err
	}
	objects, err := metadata.NewForConfig(t.config(c))
	if err != nil {
		return nil, err
	}
	// What is served is asked for at each deletion: an answer that is a moment old
	// could leave objects of a new kind behind.
	namespaces := namespace.NewNamespaceController(ctx, client, objects, client.Discovery().ServerPreferredNamespacedResources,
		t.informers.Typed.Core().V1().Namespaces(), namespaceResync, corev1.FinalizerKubernetes)
	return workers(namespaces.Run, namespaceWorkers), nil
}

func makeGarbageCollector(ctx context.Context, t *term, c catalog.Controller) (loop, error) {
	client, err := t.client(c)
	if err != nil {
		return nil, err
	}
	objects, err := metadata.NewForConfig(t.config(c))
	if err != nil {
		return nil, err
	}
	collector, err := garbagecollector.NewComposedGarbageCollector(ctx, client, objects, t.mapper, t.dependencies(ctx, objects))
	if err != nil {
		return nil, err
	}
	return together(
		func(ctx context.Context) { collector.Run(ctx, collectorWorkers, collectorSync) },
		func(ctx context.Context) { collector.Sync(ctx, t.served, informers.FollowEvery) },
	), nil
}

// dependencies returns the graph of owners, which the migrator reads too.
func (t *term) dependencies(ctx context.Context, objects metadata.Interface) *garbagecollector.GraphBuilder {
	ignored := map[schema.GroupResource]struct{}{}
	for r := range garbagecollector.DefaultIgnoredResources() {
		ignored[r] = struct{}{}
	}
	t.graph = garbagecollector.NewDependencyGraphBuilder(ctx, objects, t.mapper, ignored, t.informers, t.started)
	return t.graph
}

func makeAggregation(_ context.Context, t *term, client kubernetes.Interface) (loop, error) {
	aggregation := clusterroleaggregation.NewClusterRoleAggregation(t.informers.Typed.Rbac().V1().ClusterRoles(), client.RbacV1())
	return workers(aggregation.Run, aggregationWorkers), nil
}

// counted are the resources that quotas look into; of all others they count objects.
func counted() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		resource("", "v1", "pods"), resource("", "v1", "services"), resource("", "v1", "persistentvolumeclaims"),
		resource("resource.k8s.io", "v1", "resourceclaims"),
	}
}

func makeQuota(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	for _, r := range counted() {
		if !t.served.Has(r) {
			continue
		}
		if err := t.informers.Require(r); err != nil {
			return nil, err
		}
	}
	evaluators, err := install.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(t.informers.ForResource), t.informers.Typed)
	if err != nil {
		return nil, err
	}
	quotas, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               client.CoreV1(),
		ResourceQuotaInformer:     t.informers.Typed.Core().V1().ResourceQuotas(),
		ResyncPeriod:              controller.StaticResyncPeriodFunc(quotaResync),
		InformerFactory:           t.informers,
		ReplenishmentResyncPeriod: controller.StaticResyncPeriodFunc(informers.Resync),
		// None at first: which resources others watch whole is known when their
		// informers have started, and Sync begins then.
		DiscoveryFunc:        func() ([]*metav1.APIResourceList, error) { return nil, nil },
		IgnoredResourcesFunc: evaluators.IgnoredResources,
		InformersStarted:     t.started,
		Registry:             generic.NewRegistry(evaluators.Evaluators()),
		UpdateFilter:         install.DefaultUpdateFilter(),
	})
	if err != nil {
		return nil, err
	}
	return together(
		workers(quotas.Run, quotaWorkers),
		func(ctx context.Context) {
			quotas.Sync(ctx, t.served.ServerPreferredNamespacedResources, informers.FollowEvery)
		},
	), nil
}

func makePolicyStatus(_ context.Context, t *term, client kubernetes.Interface) (loop, error) {
	schemas := lazySchemas(sync.OnceValue(func() resolver.SchemaResolver {
		return resolver.NewDefinitionsSchemaResolver(openapi.GetOpenAPIDefinitions, scheme.Scheme, apiextensionsscheme.Scheme).
			Combine(&resolver.ClientDiscoveryResolver{Discovery: client.Discovery()})
	}))
	policies, err := validatingadmissionpolicystatus.NewController(
		t.informers.Typed.Admissionregistration().V1().ValidatingAdmissionPolicies(),
		client.AdmissionregistrationV1().ValidatingAdmissionPolicies(),
		&validating.TypeChecker{SchemaResolver: schemas, RestMapper: t.mapper},
	)
	if err != nil {
		return nil, err
	}
	return workers(policies.Run, policyWorkers), nil
}

// noMigrator says why there can be no migrator.
// Source: newSVMController in k8s.io/kubernetes/cmd/kube-controller-manager/app.
func noMigrator(cfg Config) string {
	if !cfg.Selected.Has(catalog.GarbageCollector) {
		return "It needs the controller " + catalog.GarbageCollector + ", which is off."
	}
	for _, gate := range []clientfeatures.Feature{clientfeatures.InformerResourceVersion, clientfeatures.InOrderInformers} {
		if !clientfeatures.FeatureGates().Enabled(gate) {
			return "Feature gate " + string(gate) + " of the client is off."
		}
	}
	return ""
}

// lazySchemas makes its resolver when a schema is asked for: it keeps 7 MB of
// definitions, and without a policy nobody asks.
type lazySchemas func() resolver.SchemaResolver

// ResolveSchema implements resolver.SchemaResolver.
func (l lazySchemas) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return l().ResolveSchema(kind)
}

func makeMigrator(ctx context.Context, t *term, c catalog.Controller) (loop, error) {
	if t.graph == nil {
		return nil, fmt.Errorf("it needs the controller %s, which was not made", catalog.GarbageCollector)
	}
	client, err := t.client(c)
	if err != nil {
		return nil, err
	}
	config := t.config(c)
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	partial, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	resources, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	definitions, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	migrations := t.informers.Typed.Storagemigration().V1().StorageVersionMigrations()
	const name = "storage-version-migrator-controller"
	return together(
		storageversionmigrator.NewSVMController(ctx, client, objects, migrations, name, t.mapper, t.graph).Run,
		storageversionmigrator.NewResourceVersionController(ctx, client, resources, partial, migrations, t.mapper).Run,
		storageversionmigrator.NewCustomResourceController(ctx, client, migrations, definitions.ApiextensionsV1().CustomResourceDefinitions()).Run,
	), nil
}

func makeStorageVersionGC(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	return storageversiongc.NewStorageVersionGC(ctx, client,
		t.informers.Typed.Coordination().V1().Leases(), t.informers.Typed.Internal().V1alpha1().StorageVersions()).Run, nil
}

func makeServiceCIDR(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	networking := t.informers.Typed.Networking().V1()
	return workers(servicecidrs.NewController(ctx, networking.ServiceCIDRs(), networking.IPAddresses(), client).Run, serviceCIDRWorkers), nil
}

func makePVProtection(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	volumes, err := pvprotection.NewPVProtectionController(klog.FromContext(ctx), t.informers.Typed.Core().V1().PersistentVolumes(), client)
	if err != nil {
		return nil, err
	}
	return workers(volumes.Run, 1), nil
}

func makePVCProtection(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	claims, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx), core.PersistentVolumeClaims(), core.Pods(), client)
	if err != nil {
		return nil, err
	}
	return workers(claims.Run, 1), nil
}

func makeVACProtection(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	classes, err := vacprotection.NewVACProtectionController(klog.FromContext(ctx), client,
		core.PersistentVolumeClaims(), core.PersistentVolumes(), t.informers.Typed.Storage().V1().VolumeAttributesClasses())
	if err != nil {
		return nil, err
	}
	return workers(classes.Run, 1), nil
}
