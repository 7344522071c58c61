package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// workbench is a namespace of a server with all controllers and three nodes.
type workbench struct {
	server    *kapitest.Server
	client    kubernetes.Interface
	namespace string
}

// kubectl runs kubectl in the namespace.
func (w workbench) kubectl(t testing.TB, args ...string) string {
	t.Helper()
	return w.server.Run(t, append([]string{"kubectl", "-n", w.namespace}, args...)...)
}

func (w workbench) apply(t testing.TB, yaml string) {
	t.Helper()
	apply(t, w.server, w.namespace, yaml)
}

// pods returns those that are not being deleted.
func (w workbench) pods(ctx context.Context, selector string) ([]corev1.Pod, error) {
	list, err := w.client.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil }), nil
}

// awaitPods waits until so many pods are ready, and there are no others.
func (w workbench) awaitPods(t testing.TB, selector string, want int) []corev1.Pod {
	t.Helper()
	var pods []corev1.Pod
	eventually(t, func(ctx context.Context) (err error) {
		if pods, err = w.pods(ctx, selector); err != nil {
			return err
		}
		var ready []string
		for _, p := range pods {
			if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue }) {
				ready = append(ready, p.Name)
			}
		}
		if len(pods) != want || len(ready) != want {
			return fmt.Errorf("pods %s: %d are there, %d are ready, want %d", selector, len(pods), len(ready), want)
		}
		return nil
	})
	return pods
}

// TestWorkloads runs each kind of workload on nodes that do not exist.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t, "--controllers=all", "--fake-nodes", "3")
	awaitRunning(t, server, slices.Concat(servedAPI(), catalog.In(catalog.Workloads), catalog.In(catalog.Nodes))...)
	client := server.Client(t)
	for name, test := range map[string]func(*testing.T, workbench){
		"nodes": testNodes, "rollout": testRollout, "job": testJob, "failing job": testFailingJob, "cron job": testCronJob,
		"stateful set": testStatefulSet, "daemon set": testDaemonSet, "replication controller": testReplicationController,
		"disruption budget": testDisruptionBudget, "endpoints": testEndpoints, "mirrored endpoints": testMirroredEndpoints,
		"unschedulable": testUnschedulable, "autoscaler": testAutoscaler,
		"claim templates": testClaimTemplates, "late binding": testLateBinding, "static volume": testStaticVolume,
		"claims of a pod": testPodClaims, "nowhere": testNowhere,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, workbench{server, client, newHome(t, client)})
		})
	}
}

func testNodes(t *testing.T, w workbench) {
	eventually(t, func(ctx context.Context) error {
		nodes, err := w.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, node := range nodes.Items {
			if !slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			}) {
				return fmt.Errorf("node %s is not ready: %+v", node.Name, node.Status.Conditions)
			}
			if len(node.Spec.Taints) > 0 {
				return fmt.Errorf("node %s has taints: %+v", node.Name, node.Spec.Taints)
			}
			if _, err := w.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, node.Name, metav1.GetOptions{}); err != nil {
				return err
			}
		}
		if len(nodes.Items) != 3 {
			return fmt.Errorf("%d nodes", len(nodes.Items))
		}
		return nil
	})
}

func testRollout(t *testing.T, w workbench) {
	w.kubectl(t, "create", "deployment", "web", "--image=example.test/web:1", "--replicas=3")
	status := func() {
		t.Helper()
		if out := w.kubectl(t, "rollout", "status", "deployment/web", "--timeout=2m"); !strings.Contains(out, "successfully rolled out") {
			t.Error(out)
		}
	}
	status()
	awaitImages := func(image string, replicas int) {
		t.Helper()
		for _, pod := range w.awaitPods(t, "app=web", replicas) {
			if pod.Spec.Containers[0].Image != image || pod.Spec.NodeName == "" {
				t.Errorf("pod %s has image %s, want %s; node %q", pod.Name, pod.Spec.Containers[0].Image, image, pod.Spec.NodeName)
			}
		}
	}
	awaitImages("example.test/web:1", 3)
	w.kubectl(t, "set", "image", "deployment/web", "web=example.test/web:2")
	status()
	awaitImages("example.test/web:2", 3)
	w.kubectl(t, "scale", "deployment/web", "--replicas=5")
	status()
	awaitImages("example.test/web:2", 5)
	w.kubectl(t, "rollout", "undo", "deployment/web")
	status()
	awaitImages("example.test/web:1", 5)
	if sets, err := w.client.AppsV1().ReplicaSets(w.namespace).List(t.Context(), metav1.ListOptions{}); err != nil || len(sets.Items) != 2 {
		t.Errorf("two templates have been rolled out: %v %+v", err, sets)
	}
	w.kubectl(t, "delete", "deployment", "web", "--cascade=foreground")
	eventually(t, func(ctx context.Context) error {
		sets, err := w.client.AppsV1().ReplicaSets(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		pods, err := w.client.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(sets.Items)+len(pods.Items) > 0 {
			err = fmt.Errorf("of the deleted deployment %d ReplicaSets and %d pods are left", len(sets.Items), len(pods.Items))
		}
		return err
	})
}

// awaitJob waits until a Job has a condition, and returns it.
func (w workbench) awaitJob(t testing.TB, name string, condition batchv1.JobConditionType) (*batchv1.Job, batchv1.JobCondition) {
	t.Helper()
	var (
		job   *batchv1.Job
		found batchv1.JobCondition
	)
	eventually(t, func(ctx context.Context) (err error) {
		if job, err = w.client.BatchV1().Jobs(w.namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		i := slices.IndexFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == condition && c.Status == corev1.ConditionTrue })
		if i < 0 {
			return fmt.Errorf("job %s is not %s: %+v", name, condition, job.Status)
		}
		found = job.Status.Conditions[i]
		return nil
	})
	return job, found
}

func testJob(t *testing.T, w workbench) {
	w.apply(t, `
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  completions: 5
  parallelism: 2
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: example.test/c}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: short-lived}
spec:
  ttlSecondsAfterFinished: 1
  template: {spec: {restartPolicy: OnFailure, containers: [{name: c, image: example.test/c}]}}`)
	job, _ := w.awaitJob(t, "work", batchv1.JobComplete)
	if job.Status.Succeeded != 5 || job.Status.Failed != 0 {
		t.Errorf("%+v", job.Status)
	}
	pods, err := w.pods(t.Context(), "batch.kubernetes.io/job-name=work")
	if err != nil || len(pods) != 5 || slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodSucceeded }) {
		t.Errorf("%v, %d pods: %+v", err, len(pods), pods)
	}
	await(t, "the finished job with a time to live is gone", func(ctx context.Context) bool {
		_, err := w.client.BatchV1().Jobs(w.namespace).Get(ctx, "short-lived", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func testFailingJob(t *testing.T, w workbench) {
	w.apply(t, `
apiVersion: batch/v1
kind: Job
metadata: {name: fails}
spec:
  backoffLimit: 1
  template:
    metadata: {annotations: {fake-nodes.kapi.dev/exit-code: "3"}}
    spec: {restartPolicy: Never, containers: [{name: c, image: example.test/c}]}`)
	job, failed := w.awaitJob(t, "fails", batchv1.JobFailed)
	if failed.Reason != batchv1.JobReasonBackoffLimitExceeded || job.Status.Failed != 2 {
		t.Errorf("%+v", job.Status)
	}
	pods, err := w.pods(t.Context(), "batch.kubernetes.io/job-name=fails")
	if err != nil || len(pods) != 2 || slices.ContainsFunc(pods, func(p corev1.Pod) bool {
		return p.Status.Phase != corev1.PodFailed || len(p.Status.ContainerStatuses) != 1 || p.Status.ContainerStatuses[0].State.Terminated == nil || p.Status.ContainerStatuses[0].State.Terminated.ExitCode != 3
	}) {
		t.Errorf("%v, %d pods: %+v", err, len(pods), pods)
	}
}

// testCronJob waits for the next full minute.
func testCronJob(t *testing.T, w workbench) {
	w.kubectl(t, "create", "cronjob", "tick", "--image=example.test/tick", "--schedule=* * * * *")
	w.kubectl(t, "create", "job", "by-hand", "--from=cronjob/tick")
	w.awaitJob(t, "by-hand", batchv1.JobComplete)
	var scheduled string
	eventually(t, func(ctx context.Context) error {
		jobs, err := w.client.BatchV1().Jobs(w.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, job := range jobs.Items {
			if job.Name != "by-hand" && metav1.GetControllerOf(&job) != nil {
				scheduled = job.Name
				return nil
			}
		}
		return errors.New("no job has been scheduled")
	})
	w.awaitJob(t, scheduled, batchv1.JobComplete)
	if cron, err := w.client.BatchV1().CronJobs(w.namespace).Get(t.Context(), "tick", metav1.GetOptions{}); err != nil || cron.Status.LastScheduleTime == nil {
		t.Errorf("%v %+v", err, cron)
	}
}

func testStatefulSet(t *testing.T, w workbench) {
	w.apply(t, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: "example.test/db:1"}]}}`)
	names := func(replicas int) []string {
		t.Helper()
		var found []string
		for _, pod := range w.awaitPods(t, "app=db", replicas) {
			found = append(found, pod.Name)
		}
		return found
	}
	if got := names(3); !slices.Equal(got, []string{"db-0", "db-1", "db-2"}) {
		t.Error(got)
	}
	w.kubectl(t, "set", "image", "statefulset/db", "db=example.test/db:2")
	w.kubectl(t, "rollout", "status", "statefulset/db", "--timeout=2m")
	for _, pod := range w.awaitPods(t, "app=db", 3) {
		if pod.Spec.Containers[0].Image != "example.test/db:2" {
			t.Errorf("pod %s has image %s", pod.Name, pod.Spec.Containers[0].Image)
		}
	}
	w.kubectl(t, "scale", "statefulset/db", "--replicas=1")
	if got := names(1); !slices.Equal(got, []string{"db-0"}) {
		t.Error(got)
	}
}

func testDaemonSet(t *testing.T, w workbench) {
	w.apply(t, `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: agent, image: example.test/agent}]}}`)
	w.kubectl(t, "rollout", "status", "daemonset/agent", "--timeout=2m")
	nodes := map[string]bool{}
	for _, pod := range w.awaitPods(t, "app=agent", 3) {
		nodes[pod.Spec.NodeName] = true
	}
	if len(nodes) != 3 {
		t.Errorf("its pods are on nodes %v", nodes)
	}
	set, err := w.client.AppsV1().DaemonSets(w.namespace).Get(t.Context(), "agent", metav1.GetOptions{})
	if err != nil || set.Status.NumberReady != 3 || set.Status.DesiredNumberScheduled != 3 {
		t.Errorf("%v %+v", err, set)
	}
}

func testReplicationController(t *testing.T, w workbench) {
	w.apply(t, `
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec: {replicas: 2, selector: {app: old}, template: {metadata: {labels: {app: old}}, spec: {containers: [{name: old, image: example.test/old}]}}}`)
	pods := w.awaitPods(t, "app=old", 2)
	if err := w.client.CoreV1().Pods(w.namespace).Delete(t.Context(), pods[0].Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, pod := range w.awaitPods(t, "app=old", 2) {
		if pod.UID == pods[0].UID {
			t.Errorf("the deleted pod %s is there", pod.Name)
		}
	}
}

// testDisruptionBudget: an eviction that leaves too few is refused.
func testDisruptionBudget(t *testing.T, w workbench) {
	w.kubectl(t, "create", "deployment", "kept", "--image=example.test/kept", "--replicas=3")
	pods := w.awaitPods(t, "app=kept", 3)
	w.kubectl(t, "create", "poddisruptionbudget", "kept", "--selector=app=kept", "--min-available=3")
	awaitAllowed := func(allowed int32) {
		t.Helper()
		eventually(t, func(ctx context.Context) error {
			budget, err := w.client.PolicyV1().PodDisruptionBudgets(w.namespace).Get(ctx, "kept", metav1.GetOptions{})
			if err == nil && (budget.Status.CurrentHealthy != 3 || budget.Status.DisruptionsAllowed != allowed || budget.Status.ObservedGeneration != budget.Generation) {
				err = fmt.Errorf("want %d allowed: %+v", allowed, budget.Status)
			}
			return err
		})
	}
	evict := func() error {
		return w.client.PolicyV1().Evictions(w.namespace).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: pods[0].Name}})
	}
	awaitAllowed(0)
	if err := evict(); !apierrors.IsTooManyRequests(err) {
		t.Errorf("an eviction that leaves too few: %v", err)
	}
	w.kubectl(t, "patch", "poddisruptionbudget", "kept", "--patch", `{"spec":{"minAvailable":2}}`)
	awaitAllowed(1)
	if err := evict(); err != nil {
		t.Errorf("an eviction that leaves enough: %v", err)
	}
	w.awaitPods(t, "app=kept", 3)
}

// testEndpoints: they are those of the pods that are ready.
func testEndpoints(t *testing.T, w workbench) {
	w.kubectl(t, "create", "deployment", "api", "--image=example.test/api", "--replicas=3")
	w.kubectl(t, "expose", "deployment", "api", "--port=80", "--target-port=8080")
	for _, replicas := range []int{3, 1, 0} {
		w.kubectl(t, "scale", "deployment/api", fmt.Sprintf("--replicas=%d", replicas))
		var addresses []string
		for _, pod := range w.awaitPods(t, "app=api", replicas) {
			addresses = append(addresses, pod.Status.PodIP)
		}
		slices.Sort(addresses)
		eventually(t, func(ctx context.Context) error {
			sliced, legacy, err := w.addresses(ctx, "api")
			if err == nil && (!slices.Equal(sliced, addresses) || !slices.Equal(legacy, addresses)) {
				err = fmt.Errorf("the pods are at %v, the slices hold %v, the Endpoints %v", addresses, sliced, legacy)
			}
			return err
		})
	}
}

// addresses returns the ready ones of a Service's EndpointSlices, and of its Endpoints.
func (w workbench) addresses(ctx context.Context, service string) (sliced, legacy []string, err error) {
	list, err := w.client.DiscoveryV1().EndpointSlices(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service})
	if err != nil {
		return nil, nil, err
	}
	for _, slice := range list.Items {
		for _, endpoint := range slice.Endpoints {
			if ready := endpoint.Conditions.Ready; ready == nil || *ready {
				sliced = append(sliced, endpoint.Addresses...)
			}
		}
	}
	endpoints, err := w.client.CoreV1().Endpoints(w.namespace).Get(ctx, service, metav1.GetOptions{}) //nolint:staticcheck // deprecated, and still kept
	if err != nil {
		return nil, nil, err
	}
	for _, subset := range endpoints.Subsets {
		for _, address := range subset.Addresses {
			legacy = append(legacy, address.IP)
		}
	}
	slices.Sort(sliced)
	slices.Sort(legacy)
	return sliced, legacy, nil
}

// testMirroredEndpoints: those that a user makes get slices.
func testMirroredEndpoints(t *testing.T, w workbench) {
	w.apply(t, `
apiVersion: v1
kind: Service
metadata: {name: outside}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: outside}
subsets: [{addresses: [{ip: 192.0.2.7}], ports: [{port: 80}]}]`)
	eventually(t, func(ctx context.Context) error {
		sliced, _, err := w.addresses(ctx, "outside")
		if err == nil && !slices.Equal(sliced, []string{"192.0.2.7"}) {
			err = fmt.Errorf("the slices hold %v", sliced)
		}
		return err
	})
}

// testUnschedulable: a pod that fits nowhere says why, and runs when it fits.
func testUnschedulable(t *testing.T, w workbench) {
	w.apply(t, `
apiVersion: v1
kind: Pod
metadata: {name: big}
spec: {containers: [{name: c, image: example.test/c, resources: {requests: {cpu: "100"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: picky}
spec: {nodeSelector: {e2e.test/place: here}, containers: [{name: c, image: example.test/c}]}`)
	for name, why := range map[string]string{"big": "Insufficient cpu", "picky": "node affinity/selector"} {
		eventually(t, func(ctx context.Context) error {
			pod, err := w.client.CoreV1().Pods(w.namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable && strings.Contains(c.Message, "0/3 nodes are available") && strings.Contains(c.Message, why)
			}) {
				return fmt.Errorf("pod %s does not say that %s: %+v", name, why, pod.Status)
			}
			return nil
		})
	}
	nodes, err := w.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) == 0 {
		t.Fatalf("%v: %+v", err, nodes)
	}
	node := nodes.Items[0].Name
	w.kubectl(t, "label", "node", node, "e2e.test/place=here")
	eventually(t, func(ctx context.Context) error {
		pod, err := w.client.CoreV1().Pods(w.namespace).Get(ctx, "picky", metav1.GetOptions{})
		if err == nil && (pod.Status.Phase != corev1.PodRunning || pod.Spec.NodeName != node) {
			err = fmt.Errorf("the pod is %s on node %q, want %q", pod.Status.Phase, pod.Spec.NodeName, node)
		}
		return err
	})
}

// testAutoscaler: without metrics it says so, and scales nothing.
func testAutoscaler(t *testing.T, w workbench) {
	w.kubectl(t, "create", "deployment", "scaled", "--image=example.test/scaled", "--replicas=2")
	w.kubectl(t, "autoscale", "deployment", "scaled", "--min=2", "--max=9", "--cpu=50%")
	eventually(t, func(ctx context.Context) error {
		hpa, err := w.client.AutoscalingV2().HorizontalPodAutoscalers(w.namespace).Get(ctx, "scaled", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range hpa.Status.Conditions {
			if c.Type == "ScalingActive" && c.Status == corev1.ConditionFalse && c.Reason == "FailedGetResourceMetric" {
				return nil
			}
		}
		return fmt.Errorf("%+v", hpa.Status)
	})
	if d, err := w.client.AppsV1().Deployments(w.namespace).Get(t.Context(), "scaled", metav1.GetOptions{}); err != nil || *d.Spec.Replicas != 2 {
		t.Errorf("%v %+v", err, d)
	}
}
