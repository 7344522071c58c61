package fakenodes

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// RemoveAll deletes the nodes of an earlier start, their leases and the pods on them,
// for a server without fake nodes. They would say that they are Ready for ever, and
// pods that are deleted would wait for them. client needs full rights.
func RemoveAll(ctx context.Context, client kubernetes.Interface) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: Label + "=true"})
	if err != nil {
		return fmt.Errorf("looking for fake nodes of an earlier start: %w", err)
	}
	var errs []error
	for _, node := range nodes.Items {
		if _, ours := numberOf(node.Name); ours {
			errs = append(errs, remove(ctx, client, node.Name))
		}
	}
	return errors.Join(errs...)
}

// remove deletes the node last: while it is there, a start that was cut off here can be
// made good.
func remove(ctx context.Context, client kubernetes.Interface, node string) error {
	now := *metav1.NewDeleteOptions(0)
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		return fmt.Errorf("looking for pods on a node of an earlier start: %w", err)
	}
	for _, pod := range pods.Items {
		if pod.Spec.NodeName != node {
			continue
		}
		if err := client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, now); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting pod %s/%s on a node of an earlier start: %w", pod.Namespace, pod.Name, err)
		}
	}
	if err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Delete(ctx, node, now); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting the lease of a node of an earlier start: %w", err)
	}
	if err := client.CoreV1().Nodes().Delete(ctx, node, now); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting a node of an earlier start: %w", err)
	}
	return nil
}
