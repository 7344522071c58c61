package fakenodes

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// setConditions derives the conditions that a node owns from the rest of the
// status. Those of others, readiness gates among them, stay as they are.
func (l *life) setConditions() {
	if l.condition(corev1.PodScheduled) == nil {
		// A pod that names its node has met no scheduler that says so.
		l.set(corev1.PodScheduled, "", "")
	}
	why := ""
	switch l.status.Phase {
	case corev1.PodSucceeded:
		why = "PodCompleted"
	case corev1.PodFailed:
		why = "PodFailed"
	case corev1.PodPending, corev1.PodRunning, corev1.PodUnknown:
	}
	if why != "" {
		l.set(corev1.PodReadyToStartContainers, why, "")
		if l.status.Phase == corev1.PodSucceeded {
			l.set(corev1.PodInitialized, "", "")
		}
		l.set(corev1.ContainersReady, why, "")
		l.set(corev1.PodReady, why, "")
		return
	}

	l.set(corev1.PodReadyToStartContainers, "", "")
	var incomplete, unready []string
	for _, s := range l.status.InitContainerStatuses {
		if !s.Ready {
			incomplete = append(incomplete, s.Name)
		}
	}
	for _, s := range l.status.ContainerStatuses {
		if !s.Ready {
			unready = append(unready, s.Name)
		}
	}
	l.expect(corev1.PodInitialized, "ContainersNotInitialized", "not complete: ", incomplete)
	if l.expect(corev1.ContainersReady, "ContainersNotReady", "not ready: ", unready) {
		l.expect(corev1.PodReady, "ReadinessGatesNotReady", "not True: ", l.closedGates())
	} else {
		l.expect(corev1.PodReady, "ContainersNotReady", "not ready: ", unready)
	}
}

// closedGates are the readiness gates whose condition is not True.
func (l *life) closedGates() []string {
	var closed []string
	for _, gate := range l.pod.Spec.ReadinessGates {
		if c := l.condition(gate.ConditionType); c == nil || c.Status != corev1.ConditionTrue {
			closed = append(closed, string(gate.ConditionType))
		}
	}
	return closed
}

func (l *life) condition(kind corev1.PodConditionType) *corev1.PodCondition {
	at := slices.IndexFunc(l.status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if at < 0 {
		return nil
	}
	return &l.status.Conditions[at]
}

// expect sets a condition: True if nothing is missing.
func (l *life) expect(kind corev1.PodConditionType, reason, message string, missing []string) bool {
	if len(missing) == 0 {
		l.set(kind, "", "")
		return true
	}
	l.set(kind, reason, message+strings.Join(missing, ", "))
	return false
}

// set sets a condition: True without a reason, False with one.
func (l *life) set(kind corev1.PodConditionType, reason, message string) {
	want := corev1.PodCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		LastTransitionTime: l.stamp(), ObservedGeneration: l.pod.Generation,
	}
	if reason != "" {
		want.Status = corev1.ConditionFalse
	}
	is := l.condition(kind)
	if is == nil {
		l.status.Conditions = append(l.status.Conditions, want)
		return
	}
	if is.Status == want.Status {
		want.LastTransitionTime = is.LastTransitionTime
	}
	*is = want
}
