package fakenodes

import (
	"slices"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestRemoveAll(t *testing.T) {
	node := func(name string, ours bool) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if ours {
			n.Labels = map[string]string{Label: "true"}
		}
		return n
	}
	pod := func(name, node string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}, Spec: corev1.PodSpec{NodeName: node}}
	}
	client := fake.NewClientset(node(nameOf(1), true), node(nameOf(2), true), node("real", false), node("labelled", true),
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: nameOf(1), Namespace: corev1.NamespaceNodeLease}},
		pod("on-1", nameOf(1)), pod("on-2", nameOf(2)), pod("on-real", "real"), pod("waits", ""))
	if err := RemoveAll(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	var left []string
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes.Items {
		left = append(left, n.Name)
	}
	pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		left = append(left, p.Name)
	}
	leases, err := client.CoordinationV1().Leases("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(left)
	if want := []string{"labelled", "on-real", "real", "waits"}; !slices.Equal(left, want) || len(leases.Items) > 0 {
		t.Errorf("left are %v and %d leases, want %v", left, len(leases.Items), want)
	}
}
