package fakenodes

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

const (
	reasonAnnotation = "InvalidAnnotation"
	reasonAddress    = "NoAddress"
	// reporter is the controller that the events name.
	reporter = "kapi.dev/fake-nodes"
)

// complaints are what pods have been told, so that each is told once. After a
// restart, the name of the event says that there is one already.
type complaints struct {
	mu   sync.Mutex
	made map[complaintKey]bool
}

type complaintKey struct {
	pod  types.UID
	text string
}

// first says whether a pod has not been told this yet.
func (c *complaints) first(pod types.UID, text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := complaintKey{pod, text}
	if c.made[key] {
		return false
	}
	c.made[key] = true
	return true
}

func (c *complaints) forget(pod types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.made {
		if key.pod == pod {
			delete(c.made, key)
		}
	}
}

// complain writes a warning about a pod for each text. A pod lives on without:
// an event that cannot be written is reported, and not tried again.
func (n *Nodes) complain(ctx context.Context, machine *machine, pod *corev1.Pod, reason string, texts []string) {
	for _, text := range texts {
		if !n.complaint.first(pod.UID, text) {
			continue
		}
		_, err := machine.client.CoreV1().Events(pod.Namespace).Create(ctx, n.warning(pod, reason, text), metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			continue
		}
		utilruntime.HandleErrorWithContext(ctx, err, "Writing an event", "pod", pod.Name, "namespace", pod.Namespace, "message", text)
	}
}

// longestName leaves room for the hash in the name of an event.
const longestName = 253 - 17

func (n *Nodes) warning(pod *corev1.Pod, reason, text string) *corev1.Event {
	hash := fnv.New64a()
	fmt.Fprint(hash, pod.UID, reason, text)
	now := n.clock.Now()
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace,
			Name:      fmt.Sprintf("%.*s.%016x", longestName, pod.Name, hash.Sum64()),
		},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
		},
		Type: corev1.EventTypeWarning, Reason: reason, Message: text,
		FirstTimestamp: metav1.NewTime(now), LastTimestamp: metav1.NewTime(now), Count: 1,
		Source:              corev1.EventSource{Component: reporter, Host: pod.Spec.NodeName},
		ReportingController: reporter, ReportingInstance: pod.Spec.NodeName,
	}
}
