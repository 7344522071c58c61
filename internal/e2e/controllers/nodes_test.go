package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// testTaintEviction: pods leave a node with a taint NoExecute that they do not
// tolerate. The node is none of the fake ones, so that nobody else's pods are on it.
func testTaintEviction(t *testing.T, w workbench) {
	node := w.namespace
	w.apply(t, `
apiVersion: v1
kind: Node
metadata: {name: `+node+`}
spec: {taints: [{key: example.test/burning, effect: NoExecute}]}
---
apiVersion: v1
kind: Pod
metadata: {name: tender}
spec: {nodeName: `+node+`, terminationGracePeriodSeconds: 0, containers: [{name: c, image: example.test/c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: tough}
spec: {nodeName: `+node+`, terminationGracePeriodSeconds: 0, tolerations: [{operator: Exists}], containers: [{name: c, image: example.test/c}]}`)
	eventually(t, func(ctx context.Context) error {
		pods, err := w.pods(ctx, "")
		if err != nil {
			return err
		}
		var names []string
		for _, pod := range pods {
			names = append(names, pod.Name)
		}
		if !slices.Equal(names, []string{"tough"}) {
			return fmt.Errorf("on the node are %q", names)
		}
		return nil
	})
	w.kubectl(t, "delete", "node", node)
}

// testNodeLifecycle: a node of the user's that is Ready can be used, and one that was
// cordoned can't.
func testNodeLifecycle(t *testing.T, w workbench) {
	node := w.namespace + "-own"
	w.apply(t, `
apiVersion: v1
kind: Node
metadata: {name: `+node+`}
spec: {taints: [{key: example.test/mine, effect: NoSchedule}]}`) // nobody else's pods
	nodes := w.client.CoreV1().Nodes()
	taints := func(want ...string) {
		t.Helper()
		eventually(t, func(ctx context.Context) error {
			found, err := nodes.Get(ctx, node, metav1.GetOptions{})
			if err != nil {
				return err
			}
			var got []string
			for _, taint := range found.Spec.Taints {
				got = append(got, taint.Key)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				return fmt.Errorf("the node has the taints %q, want %q", got, want)
			}
			return nil
		})
	}
	taints("example.test/mine", corev1.TaintNodeNotReady)
	if _, err := nodes.Patch(t.Context(), node, types.StrategicMergePatchType,
		[]byte(`{"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Test"}]}}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	taints("example.test/mine")
	w.kubectl(t, "cordon", node)
	taints("example.test/mine", corev1.TaintNodeUnschedulable)
	w.kubectl(t, "delete", "node", node)
}
