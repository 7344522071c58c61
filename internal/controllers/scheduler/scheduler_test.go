package scheduler

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestNewNeedsItsDependencies(t *testing.T) {
	if _, err := New(t.Context(), Config{}); err == nil {
		t.Fatal("a scheduler without a client was constructed")
	}
}

// TestTerms constructs and runs the scheduler twice in this process, as after a
// lost leadership. Each term binds a pod to the one node that has room for it, and
// leaves no goroutine behind. The room is there because a pod that takes all of it
// has ended.
func TestTerms(t *testing.T) {
	ended := pod("ended", "large", "8")
	ended.Status.Phase = corev1.PodSucceeded
	client := fake.NewClientset(node("small", "1"), node("large", "8"), ended)
	for term := range 2 {
		t.Run(fmt.Sprintf("term %d", term+1), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			factory := informers.NewSharedInformerFactory(client, 0)
			s, err := New(ctx, Config{Client: client, Informers: factory})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				s.Run(ctx)
			}()
			factory.StartWithContext(ctx)

			name := fmt.Sprintf("pod-%d", term)
			if _, err := client.CoreV1().Pods("default").Create(ctx, pod(name, "", "3"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			poll(t, name+" is bound to large", func() bool { return boundTo(client, name) == "large" })

			cancel()
			<-done
			factory.Shutdown()
			poll(t, "no goroutine of the term is left", func() bool { return leftovers() == "" })
		})
	}
}

// TestNothingSurvivesWithoutRun constructs a scheduler that is never run.
func TestNothingSurvivesWithoutRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := fake.NewClientset()
	if _, err := New(ctx, Config{Client: client, Informers: informers.NewSharedInformerFactory(client, 0)}); err != nil {
		t.Fatal(err)
	}
	cancel()
	poll(t, "no goroutine is left", func() bool { return leftovers() == "" })
}

// boundTo returns the node of the binding that was posted for a pod. The fake
// clientset keeps bindings as actions and leaves the pod as it was.
func boundTo(client *fake.Clientset, name string) string {
	for _, action := range client.Actions() {
		create, ok := action.(clienttesting.CreateAction)
		if !ok {
			continue
		}
		if binding, ok := create.GetObject().(*corev1.Binding); ok && binding.Name == name {
			return binding.Target.Name
		}
	}
	return ""
}

// leftovers returns the stack of a goroutine that upstream's scheduler or its
// recorder of events has started, or "".
func leftovers() string {
	buffer := make([]byte, 4<<20)
	buffer = buffer[:runtime.Stack(buffer, true)]
	for stack := range strings.SplitSeq(string(buffer), "\n\n") {
		if strings.Contains(stack, "k8s.io/kubernetes/pkg/scheduler") || strings.Contains(stack, "client-go/tools/events") ||
			strings.Contains(stack, "client-go/tools/record") {
			return stack
		}
	}
	return ""
}

func poll(t *testing.T, what string, done func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 3*time.Minute, true,
		func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		t.Fatalf("waiting until %s: %v\n%s", what, err, leftovers())
	}
}

func node(name, cpu string) *corev1.Node {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse("8Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Capacity: room, Allocatable: room},
	}
}

func pod(name, node, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID("uid-of-" + name)},
		Spec: corev1.PodSpec{
			NodeName:      node,
			SchedulerName: corev1.DefaultSchedulerName,
			Containers: []corev1.Container{{
				Name: "main", Image: "main",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}},
		},
	}
}
