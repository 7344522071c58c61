package scheduler

import (
	"context"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

// TestEndedPodsAreNotThere follows a pod through its end in the view and in the
// factory below it.
func TestEndedPodsAreNotThere(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	running, ended := pod("running", "n", "1"), pod("ended", "n", "1")
	ended.Status.Phase = corev1.PodFailed
	client := fake.NewClientset(running, ended)
	factory := informers.NewSharedInformerFactory(client, 0)
	view := activePodsOf(factory).Core().V1().Pods()

	var heard notes
	if _, err := view.Informer().AddEventHandler(&heard); err != nil {
		t.Fatal(err)
	}
	byNode := func(object any) ([]string, error) { return []string{object.(*corev1.Pod).Spec.NodeName}, nil }
	if err := view.Informer().AddIndexers(cache.Indexers{"node": byNode}); err != nil {
		t.Fatal(err)
	}
	factory.StartWithContext(ctx)
	defer func() { cancel(); factory.Shutdown() }()
	factory.WaitForCacheSyncWithContext(ctx)
	poll(t, "the running pod is heard of", func() bool { return heard.equal("add running") })
	expectActive(t, factory, "running")

	running = running.DeepCopy()
	running.Status.Phase = corev1.PodSucceeded
	if _, err := client.CoreV1().Pods("default").UpdateStatus(ctx, running, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	poll(t, "its end is heard of as a deletion", func() bool { return heard.equal("add running", "delete running") })
	expectActive(t, factory)
	if all, _ := factory.Core().V1().Pods().Lister().List(labels.Everything()); len(all) != 2 {
		t.Errorf("the shared factory lists %d pods, want 2", len(all))
	}
}

func expectActive(t *testing.T, factory informers.SharedInformerFactory, want ...string) {
	t.Helper()
	view := activePodsOf(factory).Core().V1().Pods()
	all, err := view.Lister().List(labels.Everything())
	expectNames(t, "List", all, err, want)
	all, err = view.Lister().Pods("default").List(labels.Everything())
	expectNames(t, "Pods(default).List", all, err, want)
	indexed, err := view.Informer().GetIndexer().ByIndex("node", "n")
	all = nil
	for _, object := range indexed {
		all = append(all, object.(*corev1.Pod))
	}
	expectNames(t, "ByIndex", all, err, want)
	for _, name := range []string{"running", "ended"} {
		_, err := view.Lister().Pods("default").Get(name)
		if found := err == nil; found != slices.Contains(want, name) || (err != nil && !apierrors.IsNotFound(err)) {
			t.Errorf("Get(%s): %v, want those of %v", name, err, want)
		}
	}
}

func expectNames(t *testing.T, what string, pods []*corev1.Pod, err error, want []string) {
	t.Helper()
	var got []string
	for _, pod := range pods {
		got = append(got, pod.Name)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v, %v; want %v", what, got, err, want)
	}
}

// TestLastKnownState: the store may have missed the deletion of a pod and hand out
// what it knew last.
func TestLastKnownState(t *testing.T) {
	running, ended := pod("a", "n", "1"), pod("b", "n", "1")
	ended.Status.Phase = corev1.PodSucceeded
	for _, test := range []struct {
		object any
		want   bool
	}{
		{running, true},
		{ended, false},
		{cache.DeletedFinalStateUnknown{Obj: running}, true},
		{cache.DeletedFinalStateUnknown{Obj: ended}, false},
		{"something else", false},
	} {
		if got := activeObject(test.object); got != test.want {
			t.Errorf("activeObject(%v) = %v", test.object, got)
		}
	}
}

// notes is a handler that writes down what it is told.
type notes struct {
	mu   sync.Mutex
	text []string
}

func (n *notes) note(verb string, object any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text = append(n.text, verb+" "+object.(*corev1.Pod).Name)
}

func (n *notes) equal(want ...string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Equal(n.text, want)
}

func (n *notes) OnAdd(object any, _ bool) { n.note("add", object) }
func (n *notes) OnUpdate(_, object any)   { n.note("update", object) }
func (n *notes) OnDelete(object any)      { n.note("delete", object) }
