package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	schedulinginformers "k8s.io/client-go/informers/scheduling/v1beta1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/endpointslicemirroring"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	"k8s.io/kubernetes/pkg/controller/podgc"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/kubernetes/pkg/features"
	resourceclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/custom_metrics"
	"k8s.io/metrics/pkg/client/external_metrics"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

// Defaults of kube-controller-manager; see api.go.
const (
	workloadWorkers     = 5
	daemonSetWorkers    = 2
	disruptionWorkers   = 1
	endpointsPerSlice   = 100
	endpointsPerSubset  = 1000
	terminatedPods      = 12500
	autoscaleEvery      = 15 * time.Second
	downscaleAfter      = 5 * time.Minute
	autoscaleTolerance  = 0.1
	cpuInitialization   = 5 * time.Minute
	initialReadiness    = 30 * time.Second
	nodeMonitorPeriod   = 5 * time.Second
	nodeStartupGrace    = time.Minute
	nodeMonitorGrace    = 50 * time.Second
	evictionRate        = 0.1
	evictionRateUnwell  = 0.01
	largeCluster        = 50
	unwellZone          = 0.55
	daemonSetBackoff    = time.Second
	daemonSetBackoffMax = 15 * time.Minute
)

// workloadConstructors are those of the set workloads.
func workloadConstructors() map[string]constructor {
	apps := func(name string) []schema.GroupVersionResource {
		return []schema.GroupVersionResource{resource("apps", "v1", name)}
	}
	jobs := []schema.GroupVersionResource{resource("batch", "v1", "jobs")}
	endpoints := []schema.GroupVersionResource{resource("discovery.k8s.io", "v1", "endpointslices")}
	return map[string]constructor{
		"deployment":             {resources: apps("deployments"), make: with(makeDeployments)},
		"replicaset":             {resources: apps("replicasets"), make: with(makeReplicaSets)},
		"replicationcontroller":  {make: with(makeReplicationControllers)},
		"statefulset":            {resources: apps("statefulsets"), make: with(makeStatefulSets)},
		"daemonset":              {resources: apps("daemonsets"), make: with(makeDaemonSets)},
		"job":                    {resources: slices.Concat(jobs, podGroupsIf(features.WorkloadWithJob)), make: with(makeJobs)},
		"cronjob":                {resources: append(jobs, resource("batch", "v1", "cronjobs")), make: with(makeCronJobs)},
		"ttl-after-finished":     {resources: jobs, make: with(makeTTLAfterFinished)},
		"endpoint":               {make: with(makeEndpoints)},
		"endpointslice":          {resources: endpoints, make: with(makeEndpointSlices)},
		"endpointslicemirroring": {resources: endpoints, make: with(makeEndpointSliceMirroring)},
		"disruption": {resources: append(append(apps("deployments"), append(apps("replicasets"), apps("statefulsets")...)...),
			resource("policy", "v1", "poddisruptionbudgets")), make: makeDisruption},
		catalog.VolumeBinder: {resources: []schema.GroupVersionResource{resource("storage.k8s.io", "v1", "storageclasses")},
			make: with(makeVolumeBinder)},
		"ephemeral-volume": {make: with(makeEphemeralVolumes)},
		"resourceclaim": {gates: []featuregate.Feature{features.DynamicResourceAllocation}, resources: append(podGroupsIf(features.GenericWorkload),
			resource("resource.k8s.io", "v1", "resourceclaims"), resource("resource.k8s.io", "v1", "resourceclaimtemplates")),
			make: with(makeResourceClaims)},
		"nodelifecycle":  {resources: append(apps("daemonsets"), resource("coordination.k8s.io", "v1", "leases")), make: with(makeNodeLifecycle)},
		"taint-eviction": {make: with(makeTaintEviction)},
		"podgc":          {make: with(makePodGC)},
		"horizontalpodautoscaling": {resources: []schema.GroupVersionResource{resource("autoscaling", "v2", "horizontalpodautoscalers")},
			make: makeAutoscaler},
	}
}

func makeDeployments(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	apps := t.informers.Typed.Apps().V1()
	deployments, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), t.informers.Typed.Core().V1().Pods(), client)
	if err != nil {
		return nil, err
	}
	return workers(deployments.Run, workloadWorkers), nil
}

func makeReplicaSets(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	return workers(replicaset.NewReplicaSetController(ctx, t.informers.Typed.Apps().V1().ReplicaSets(),
		t.informers.Typed.Core().V1().Pods(), client, replicaset.BurstReplicas).Run, workloadWorkers), nil
}

func makeReplicationControllers(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	return workers(replication.NewReplicationManager(ctx, core.Pods(), core.ReplicationControllers(), client, replication.BurstReplicas).Run,
		workloadWorkers), nil
}

func makeStatefulSets(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core, apps := t.informers.Typed.Core().V1(), t.informers.Typed.Apps().V1()
	return workers(statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(),
		apps.ControllerRevisions(), client).Run, workloadWorkers), nil
}

func makeDaemonSets(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core, apps := t.informers.Typed.Core().V1(), t.informers.Typed.Apps().V1()
	sets, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), client,
		flowcontrol.NewBackOff(daemonSetBackoff, daemonSetBackoffMax))
	if err != nil {
		return nil, err
	}
	return workers(sets.Run, daemonSetWorkers), nil
}

func makeJobs(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	var workloads schedulinginformers.WorkloadInformer
	var groups schedulinginformers.PodGroupInformer
	if feature.DefaultFeatureGate.Enabled(features.WorkloadWithJob) {
		scheduling := t.informers.Typed.Scheduling().V1beta1()
		workloads, groups = scheduling.Workloads(), scheduling.PodGroups()
	}
	jobs, err := job.NewController(ctx, client, t.informers.Typed.Core().V1().Pods(), t.informers.Typed.Batch().V1().Jobs(), workloads, groups)
	if err != nil {
		return nil, err
	}
	return workers(jobs.Run, workloadWorkers), nil
}

func makeCronJobs(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	batch := t.informers.Typed.Batch().V1()
	jobs, err := cronjob.NewControllerV2(ctx, batch.Jobs(), batch.CronJobs(), client)
	if err != nil {
		return nil, err
	}
	return workers(jobs.Run, workloadWorkers), nil
}

func makeTTLAfterFinished(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	return workers(ttlafterfinished.New(ctx, t.informers.Typed.Batch().V1().Jobs(), client).Run, workloadWorkers), nil
}

func makeEndpoints(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	return workers(endpoint.NewEndpointController(ctx, core.Pods(), core.Services(), core.Endpoints(), client, 0).Run, workloadWorkers), nil
}

func makeEndpointSlices(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	return workers(endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(),
		t.informers.Typed.Discovery().V1().EndpointSlices(), endpointsPerSlice, client, 0).Run, workloadWorkers), nil
}

func makeEndpointSliceMirroring(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	return workers(endpointslicemirroring.NewController(ctx, core.Endpoints(), t.informers.Typed.Discovery().V1().EndpointSlices(),
		core.Services(), endpointsPerSubset, client, 0).Run, workloadWorkers), nil
}

func makeDisruption(ctx context.Context, t *term, c catalog.Controller) (loop, error) {
	client, err := t.client(c)
	if err != nil {
		return nil, err
	}
	scales, err := scale.NewForConfig(t.config(c), t.mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, err
	}
	core, apps := t.informers.Typed.Core().V1(), t.informers.Typed.Apps().V1()
	budgets := disruption.NewDisruptionController(ctx, core.Pods(), t.informers.Typed.Policy().V1().PodDisruptionBudgets(),
		core.ReplicationControllers(), apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), client, t.mapper, scales, client.Discovery())
	return workers(budgets.Run, disruptionWorkers), nil
}

func makeNodeLifecycle(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	nodes, err := nodelifecycle.NewNodeLifecycleController(ctx, t.informers.Typed.Coordination().V1().Leases(), core.Pods(), core.Nodes(),
		t.informers.Typed.Apps().V1().DaemonSets(), client, nodeMonitorPeriod, nodeStartupGrace, nodeMonitorGrace,
		evictionRate, evictionRateUnwell, largeCluster, unwellZone)
	if err != nil {
		return nil, err
	}
	return nodes.Run, nil
}

func makeTaintEviction(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	evictions, err := tainteviction.New(ctx, client, core.Pods(), core.Nodes(), "taint-eviction-controller")
	if err != nil {
		return nil, err
	}
	return evictions.Run, nil
}

func makePodGC(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	return podgc.NewPodGC(ctx, client, core.Pods(), core.Nodes(), terminatedPods).Run, nil
}

// makeAutoscaler makes it whether a metrics API is served or not: one may come
// later, and until then each autoscaler says in its conditions what is missing.
func makeAutoscaler(ctx context.Context, t *term, c catalog.Controller) (loop, error) {
	client, err := t.client(c)
	if err != nil {
		return nil, err
	}
	config := t.config(c)
	scales, err := scale.NewForConfig(config, t.mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, fmt.Errorf("making the client of scales: %w", err)
	}
	resources, err := resourceclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client of resource metrics: %w", err)
	}
	external, err := external_metrics.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client of external metrics: %w", err)
	}
	versions := custom_metrics.NewAvailableAPIsGetter(client.Discovery())
	autoscaler := podautoscaler.NewHorizontalController(ctx, client.CoreV1(), scales, client.AutoscalingV2(), t.mapper,
		metrics.NewRESTMetricsClient(resources, custom_metrics.NewForConfig(config, t.mapper, versions), external),
		t.informers.Typed.Autoscaling().V2().HorizontalPodAutoscalers(), t.informers.Typed.Core().V1().Pods(),
		autoscaleEvery, downscaleAfter, autoscaleTolerance, cpuInitialization, initialReadiness)
	return together(
		func(ctx context.Context) { custom_metrics.PeriodicallyInvalidate(versions, autoscaleEvery, ctx.Done()) },
		workers(autoscaler.Run, workloadWorkers),
	), nil
}
