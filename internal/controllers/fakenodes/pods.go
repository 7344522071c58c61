package fakenodes

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// podHandler keeps the addresses and queues the pods of our nodes.
func (n *Nodes) podHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    n.podChanged,
		UpdateFunc: func(_, pod any) { n.podChanged(pod) },
		DeleteFunc: n.podDeleted,
	}
}

func (n *Nodes) podChanged(object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	if _, gone := n.surplus.Load(pod.Spec.NodeName); gone {
		n.queue.Add(item{task: taskSurplus, name: pod.Spec.NodeName})
	}
	if n.byName[pod.Spec.NodeName] == nil {
		return
	}
	if ended(pod) {
		n.addresses.release(pod.UID)
	} else if pod.Status.PodIP != "" {
		n.addresses.keep(pod.UID, pod.Status.PodIP)
	}
	n.queue.Add(item{task: taskPod, namespace: pod.Namespace, name: pod.Name})
}

func (n *Nodes) podDeleted(object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok {
		n.addresses.release(pod.UID)
		n.complaint.forget(pod.UID)
	}
}

// live takes a pod one step on.
func (n *Nodes) live(ctx context.Context, namespace, name string) (time.Duration, error) {
	pod, err := n.pods.Pods(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	machine := n.byName[pod.Spec.NodeName]
	if machine == nil {
		return 0, nil
	}
	if !ended(pod) {
		if _, texts := wishesOf(pod); len(texts) > 0 {
			n.complain(ctx, machine, pod, reasonAnnotation, texts)
		}
	}
	addresses, err := n.addressesOf(machine, pod)
	if err != nil {
		// No error of ours: too many pods name this node themselves.
		n.complain(ctx, machine, pod, reasonAddress, []string{"no address for the pod: " + err.Error()})
		return lookAgain, nil //nolint:nilerr // it is the user's to mend, who was told
	}
	s := next(pod, n.clock.Now(), addresses)
	switch {
	case s.remove:
		// With an event this was the last look. Without one, the server's own informer
		// may not have known the pod yet.
		return lookAgain, n.remove(ctx, machine, pod)
	case s.status != nil:
		return s.again, n.write(ctx, machine, pod, s.status)
	}
	return s.again, nil
}

// addressesOf returns the addresses for a pod that needs some, one of each family.
func (n *Nodes) addressesOf(machine *machine, pod *corev1.Pod) ([]string, error) {
	switch {
	case pod.Status.PodIP != "" || pod.DeletionTimestamp != nil || ended(pod):
		return nil, nil
	case pod.Spec.HostNetwork:
		return inFamilies(hostOf(machine.number, nodeHost), n.config.Families), nil
	}
	address, err := n.addresses.take(machine.number, pod.UID)
	if err != nil {
		return nil, err
	}
	return inFamilies(address, n.config.Families), nil
}

// write writes the status of a pod. It carries the resource version of the pod
// that it was made from, so that nothing that others write is lost: a conflict is
// returned, and next is asked again.
func (n *Nodes) write(ctx context.Context, machine *machine, pod *corev1.Pod, status *corev1.PodStatus) error {
	changed := &corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec, Status: *status}
	_, err := machine.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		n.addresses.release(pod.UID)
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the status of a pod: %w", err)
	}
	return nil
}

// remove deletes a pod for good, and no other of the same name.
func (n *Nodes) remove(ctx context.Context, machine *machine, pod *corev1.Pod) error {
	options := metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions(string(pod.UID))
	err := machine.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, *options)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// Gone, or another one: the informer will say so.
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting a pod: %w", err)
	}
	return nil
}
