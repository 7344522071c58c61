package fakenodes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// machine is what there is instead of one.
type machine struct {
	number int
	client kubernetes.Interface
	// lease is the lease as it was written last. Only the item that renews it, of
	// which there is one, touches it.
	lease *coordinationv1.Lease
}

// register makes the node what it should be: there, labelled, ready, untainted.
func (n *Nodes) register(ctx context.Context, name string) (time.Duration, error) {
	machine, now := n.byName[name], n.clock.Now()
	node, err := n.nodes.Get(name)
	switch {
	case apierrors.IsNotFound(err):
		_, err := machine.client.CoreV1().Nodes().Create(ctx, newNode(machine.number, n.config.Families, n.config.KubeletVersion, now), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return 0, fmt.Errorf("registering: %w", err)
		}
		return lookAgain, nil
	case err != nil:
		return 0, err
	}
	if node, err = n.label(ctx, machine, node); err != nil {
		return 0, err
	}
	if !fresh(node, n.config.KubeletVersion, now) {
		node = node.DeepCopy()
		setStatus(&node.Status, machine.number, n.config.KubeletVersion, now)
		if node, err = machine.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
			return 0, fmt.Errorf("writing the status: %w", err)
		}
	}
	if tainted(node) {
		if err := n.untaint(ctx, node); err != nil {
			return 0, err
		}
	}
	return statusEvery, nil
}

// label puts back the labels that are missing or other than they should be.
func (n *Nodes) label(ctx context.Context, machine *machine, node *corev1.Node) (*corev1.Node, error) {
	want := maps.Clone(labelsOf(node.Name))
	maps.DeleteFunc(want, func(key, value string) bool { return node.Labels[key] == value })
	if len(want) == 0 {
		return node, nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": want}})
	if err != nil {
		return nil, fmt.Errorf("encoding labels: %w", err)
	}
	node, err = machine.client.CoreV1().Nodes().Patch(ctx, node.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return nil, fmt.Errorf("labelling: %w", err)
	}
	return node, nil
}

func tainted(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, untrue(node))
}

// untrue returns what tells the taints of a node that say what it is not: it is alive,
// and cordoned only if its spec says so. Whoever has put them on may run no more.
func untrue(node *corev1.Node) func(corev1.Taint) bool {
	return func(taint corev1.Taint) bool {
		switch taint.Key {
		case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable:
			return true
		case corev1.TaintNodeUnschedulable:
			return !node.Spec.Unschedulable
		default:
			return false
		}
	}
}

// untaint takes off the taints that are not true: the admission plugin
// TaintNodesByCondition puts one on every new node. No node may do that for itself. Taints are one list, which is
// replaced as a whole: the resource version keeps those that others add.
func (n *Nodes) untaint(ctx context.Context, node *corev1.Node) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": node.UID, "resourceVersion": node.ResourceVersion},
		"spec":     map[string]any{"taints": slices.DeleteFunc(slices.Clone(node.Spec.Taints), untrue(node))},
	})
	if err != nil {
		return fmt.Errorf("encoding taints: %w", err)
	}
	_, err = n.config.Admin.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("taking taints off: %w", err)
	}
	return nil
}

// renew renews the lease of a node, and has a node that is gone registered again.
func (n *Nodes) renew(ctx context.Context, name string) (time.Duration, error) {
	machine := n.byName[name]
	node, err := n.nodes.Get(name)
	if apierrors.IsNotFound(err) {
		machine.lease = nil
		n.queue.Add(item{task: taskRegister, name: name})
		return lookAgain, nil
	}
	if err != nil {
		return 0, err
	}
	leases := machine.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	want := newLease(node, n.clock.Now())
	if machine.lease == nil {
		machine.lease, err = leases.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			machine.lease, err = leases.Create(ctx, want, metav1.CreateOptions{})
			return leaseEvery, machine.keep(err, "creating the lease")
		}
		if err := machine.keep(err, "reading the lease"); err != nil {
			return 0, err
		}
	}
	want.ResourceVersion = machine.lease.ResourceVersion
	want.UID = machine.lease.UID
	machine.lease, err = leases.Update(ctx, want, metav1.UpdateOptions{})
	return leaseEvery, machine.keep(err, "renewing the lease")
}

// keep forgets the lease if there was an error, so that it is read the next time.
func (m *machine) keep(err error, doing string) error {
	if err == nil {
		return nil
	}
	m.lease = nil
	return fmt.Errorf("%s: %w", doing, err)
}

// removeSurplus deletes the pods on a node of an earlier start with more nodes, which
// nobody would end without it, its lease and then the node: while that is there, a
// start that was cut off here can be made good. A pod may still be
// bound to it for a moment, by a scheduler that has not heard; podChanged brings
// those here.
func (n *Nodes) removeSurplus(ctx context.Context, name string) error {
	if node, err := n.nodes.Get(name); err == nil && node.Labels[Label] != "true" {
		// A real one has this name by now.
		n.surplus.Delete(name)
		return nil
	}
	pods, err := n.pods.List(labels.Everything())
	if err != nil {
		return err
	}
	now := *metav1.NewDeleteOptions(0)
	for _, pod := range pods {
		if pod.Spec.NodeName != name {
			continue
		}
		err := n.config.Admin.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, now)
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting pod %s/%s of a node that is too many: %w", pod.Namespace, pod.Name, err)
		}
	}
	err = n.config.Admin.CoordinationV1().Leases(corev1.NamespaceNodeLease).Delete(ctx, name, now)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting the lease of a node that is too many: %w", err)
	}
	err = n.config.Admin.CoreV1().Nodes().Delete(ctx, name, now)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting a node that is too many: %w", err)
	}
	return nil
}
