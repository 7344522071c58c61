package fakenodes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

const version = "v1.2.3"

// world is a fake server with our nodes on it, and time that passes when it is told to.
type world struct {
	*fake.Clientset
	t     *testing.T
	clock *clocktesting.FakeClock
}

func newWorld(t *testing.T, objects ...runtime.Object) *world {
	t.Helper()
	return &world{Clientset: fake.NewClientset(objects...), t: t, clock: clocktesting.NewFakeClock(birth)}
}

// run runs nodes until the test or the returned function ends them.
func (w *world) run(count int) (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	factory := informers.NewSharedInformerFactory(w, 0)
	n, err := New(ctx, Config{
		Count:  count,
		Client: func(string) (kubernetes.Interface, error) { return w, nil },
		Admin:  w, Informers: factory, Clock: w.clock, KubeletVersion: version,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.Run(ctx)
	}()
	factory.StartWithContext(ctx)
	stop = func() {
		cancel()
		<-done
		factory.Shutdown()
	}
	w.t.Cleanup(stop)
	return stop
}

// pass lets time pass in small steps until something holds.
func (w *world) pass(what string, holds func() bool) {
	w.t.Helper()
	err := wait.PollUntilContextTimeout(w.t.Context(), 5*time.Millisecond, 3*time.Minute, true, func(context.Context) (bool, error) {
		if holds() {
			return true, nil
		}
		w.clock.Step(500 * time.Millisecond)
		return false, nil
	})
	if err != nil {
		w.t.Fatalf("waiting until %s: %v", what, err)
	}
}

func (w *world) node(name string) *corev1.Node {
	node, err := w.CoreV1().Nodes().Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return node
}

func (w *world) pod(name string) *corev1.Pod {
	pod, err := w.CoreV1().Pods("default").Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return pod
}

func (w *world) create(pods ...*corev1.Pod) {
	w.t.Helper()
	for _, pod := range pods {
		if _, err := w.CoreV1().Pods("default").Create(w.t.Context(), pod, metav1.CreateOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) renewed(name string) time.Time {
	lease, err := w.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return time.Time{}
	}
	return lease.Spec.RenewTime.Time
}

func readyNode(node *corev1.Node) bool {
	if node == nil {
		return false
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func TestConfig(t *testing.T) {
	client := fake.NewClientset()
	good := Config{
		Count: 1, Client: func(string) (kubernetes.Interface, error) { return client, nil },
		Admin: client, Informers: informers.NewSharedInformerFactory(client, 0), KubeletVersion: version,
	}
	for _, test := range []struct {
		name   string
		change func(*Config)
		code   int
	}{
		{"none", func(c *Config) { c.Count = 0 }, fault.CodeUsage},
		{"too many", func(c *Config) { c.Count = MaxNodes + 1 }, fault.CodeUsage},
		{"no client", func(c *Config) { c.Client = nil }, fault.CodeFailure},
		{"no informers", func(c *Config) { c.Informers = nil }, fault.CodeFailure},
		{"no version", func(c *Config) { c.KubeletVersion = "" }, fault.CodeFailure},
		{"a client that fails", func(c *Config) {
			c.Client = func(string) (kubernetes.Interface, error) { return nil, errors.New("broken") }
		}, fault.CodeFailure},
		{"all", func(*Config) {}, 0},
	} {
		config := good
		test.change(&config)
		if _, err := New(t.Context(), config); fault.Code(err) != test.code {
			t.Errorf("%s: %v, code %d, want %d", test.name, err, fault.Code(err), test.code)
		}
	}
}

// TestNodes: they register, stay alive, lose the taint, come back after a
// deletion, and what an earlier start has left behind goes.
func TestNodes(t *testing.T) {
	surplus := newNode(3, four(), version, birth)
	theirs := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "kapi-node-4"}}
	orphan := podOf("Always", named("orphan"))
	orphan.Spec.NodeName = surplus.Name
	w := newWorld(t, surplus, theirs, orphan)
	w.PrependReactor("create", "nodes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		// As the admission plugin TaintNodesByCondition does.
		node := action.(clienttesting.CreateAction).GetObject().(*corev1.Node)
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
		return false, nil, nil
	})
	w.run(2)

	for _, name := range []string{"kapi-node-1", "kapi-node-2"} {
		w.pass(name+" is ready and without taint", func() bool {
			node := w.node(name)
			return readyNode(node) && !tainted(node)
		})
		first := w.clock.Now()
		w.pass(name+" has renewed its lease", func() bool { return w.renewed(name).After(first) })
		w.pass(name+" has renewed it again", func() bool { return w.renewed(name).After(first.Add(leaseEvery)) })
	}
	w.pass("the node that is too many has gone", func() bool { return w.node("kapi-node-3") == nil })
	w.pass("and its pod", func() bool { return w.pod("orphan") == nil })
	late := podOf("Always", named("late"))
	late.Spec.NodeName = surplus.Name
	w.create(late)
	w.pass("a pod that was bound to it late has gone, too", func() bool { return w.pod("late") == nil })
	if w.node("kapi-node-4") == nil {
		t.Error("a node that is not ours was deleted")
	}

	node := w.node("kapi-node-1")
	if node.Labels[Label] != "true" || node.Labels[corev1.LabelHostname] != node.Name || len(node.Status.Addresses) != 0 ||
		node.Status.Allocatable.Cpu().String() != "8" || node.Status.Allocatable.Pods().String() != "110" ||
		node.Status.NodeInfo.KubeletVersion != version || node.Spec.PodCIDR != "10.244.1.0/24" {
		t.Errorf("node: %+v", node)
	}

	first := w.clock.Now()
	w.pass("the status is refreshed", func() bool {
		return w.node("kapi-node-1").Status.Conditions[0].LastHeartbeatTime.After(first.Add(leaseEvery))
	})
	if err := w.CoreV1().Nodes().Delete(t.Context(), "kapi-node-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.pass("a deleted node is back", func() bool { return readyNode(w.node("kapi-node-1")) })
}

// TestTakingOver: a node that another has left is made right.
func TestTakingOver(t *testing.T) {
	left := newNode(1, four(), "v1.0.0", birth.Add(-time.Hour))
	delete(left.Labels, Label)
	left.Labels["example.com/mine"] = "kept"
	left.Status.Conditions[3].Status = corev1.ConditionUnknown
	left.Spec.Taints = []corev1.Taint{
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule},
		{Key: "example.com/mine", Effect: corev1.TaintEffectNoSchedule},
	}
	w := newWorld(t, left)
	w.run(1)
	w.pass("the node is right", func() bool {
		node := w.node("kapi-node-1")
		return readyNode(node) && node.Labels[Label] == "true" && node.Status.NodeInfo.KubeletVersion == version &&
			!tainted(node) && len(node.Spec.Taints) == 1 && node.Labels["example.com/mine"] == "kept"
	})
}

// TestPods lets pods live on the fake server.
func TestPods(t *testing.T) {
	elsewhere := podOf("Always", named("elsewhere"))
	elsewhere.Spec.NodeName = "kapi-node-9"
	w := newWorld(t, elsewhere)
	w.run(2)
	w.create(
		podOf("Always", named("server")),
		podOf("Never", named("job")),
		podOf("Always", named("host"), func(pod *corev1.Pod) { pod.Spec.HostNetwork = true }),
		podOf("OnFailure", named("crash"), annotate("exit-code", "1"), annotate("redy", "false")),
	)
	w.pass("the server is running", func() bool { return w.pod("server").Status.Phase == corev1.PodRunning })
	w.pass("the job is done", func() bool { return w.pod("job").Status.Phase == corev1.PodSucceeded })
	w.pass("the crash loops", func() bool {
		s := w.pod("crash").Status.ContainerStatuses
		return len(s) == 1 && s[0].RestartCount == 3
	})
	w.pass("the host's pod is running", func() bool { return w.pod("host").Status.PodIP == "10.244.1.1" })
	if server, crash := w.pod("server").Status.PodIP, w.pod("crash").Status.PodIP; server == "" || server == crash {
		t.Errorf("addresses %q and %q", server, crash)
	}
	if phase := w.pod("elsewhere").Status.Phase; phase != corev1.PodPending {
		t.Errorf("a pod of another node is %s", phase)
	}
	events, err := w.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(events.Items) != 1 {
		t.Fatalf("events: %+v, %v", events, err)
	}
	if e := events.Items[0]; e.Reason != reasonAnnotation || e.InvolvedObject.Name != "crash" || e.Type != corev1.EventTypeWarning ||
		!strings.Contains(e.Message, "did you mean ready?") {
		t.Errorf("event: %+v", e)
	}

	// The fake server deletes at once: what it does with a grace period is written here.
	gone := w.pod("server")
	at, grace := metav1.NewTime(w.clock.Now().Add(30*time.Second)), int64(30)
	gone.DeletionTimestamp, gone.DeletionGracePeriodSeconds = &at, &grace
	if _, err := w.CoreV1().Pods("default").Update(t.Context(), gone, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.pass("the server is gone", func() bool { return w.pod("server") == nil })
	for _, action := range w.Actions() {
		if d, ok := action.(clienttesting.DeleteActionImpl); ok && action.GetResource().Resource == "pods" {
			options := d.DeleteOptions
			if *options.GracePeriodSeconds != 0 || options.Preconditions == nil || *options.Preconditions.UID != gone.UID {
				t.Errorf("deleted with %+v", options)
			}
		}
	}
}

// TestRestart: another run goes on where the first one was, and gives out no
// address that somebody has.
func TestRestart(t *testing.T) {
	w := newWorld(t)
	stop := w.run(1)
	w.create(podOf("Never", named("long"), annotate("run-for", "10m")))
	w.pass("the pod is running", func() bool { return w.pod("long").Status.Phase == corev1.PodRunning })
	started := w.pod("long").Status.StartTime
	stop()

	w.clock.Step(9 * time.Minute)
	w.run(1)
	w.create(podOf("Always", named("other")))
	w.pass("another pod is running", func() bool { return w.pod("other").Status.Phase == corev1.PodRunning })
	if a, b := w.pod("long").Status.PodIP, w.pod("other").Status.PodIP; a == b {
		t.Errorf("both pods have %s", a)
	}
	w.pass("the first pod has ended", func() bool { return w.pod("long").Status.Phase == corev1.PodSucceeded })
	end := w.pod("long").Status.ContainerStatuses[0].State.Terminated.FinishedAt
	if ran := end.Sub(started.Time); ran < 10*time.Minute || ran > 20*time.Minute {
		t.Errorf("it ran for %s", ran)
	}
}

// TestConflictsAndErrors: a write that fails is tried again.
func TestConflictsAndErrors(t *testing.T) {
	w := newWorld(t)
	var failed atomic.Int64
	w.PrependReactor("update", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch failed.Add(1) {
		case 1:
			return true, nil, apierrors.NewConflict(corev1.Resource("pods"), "pod", errors.New("somebody was quicker"))
		case 2:
			return true, nil, apierrors.NewInternalError(errors.New("broken"))
		}
		return false, nil, nil
	})
	w.run(1)
	w.create(podOf("Always"))
	w.pass("the pod is running", func() bool { return w.pod("pod").Status.Phase == corev1.PodRunning })
	if failed.Load() < 3 {
		t.Errorf("%d writes", failed.Load())
	}
}

// TestManyPods: no more requests are under way at once than there are workers.
func TestManyPods(t *testing.T) {
	w := newWorld(t)
	var now, most atomic.Int64
	w.PrependReactor("update", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		return false, nil, nil
	})
	w.run(3)
	const pods = 60
	for i := range pods {
		pod := podOf("Always", named(fmt.Sprint("pod-", i)))
		pod.Spec.NodeName = nameOf(i%3 + 1)
		w.create(pod)
	}
	seen := map[string]bool{}
	for i := range pods {
		name := fmt.Sprint("pod-", i)
		w.pass(name+" is running", func() bool { return w.pod(name).Status.Phase == corev1.PodRunning })
		seen[w.pod(name).Status.PodIP] = true
	}
	if len(seen) != pods {
		t.Errorf("%d pods have %d addresses", pods, len(seen))
	}
	if most.Load() > workers {
		t.Errorf("%d requests at once", most.Load())
	}
}
