package fakenodes

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// shortRun is how long a container runs that ends by itself, unless the pod
	// says otherwise.
	shortRun = time.Second
	// firstBackOff and longestBackOff bound the wait before a restart, and a run of
	// forgiven makes the container as good as new. They are the kubelet's.
	firstBackOff   = 10 * time.Second
	longestBackOff = 5 * time.Minute
	forgiven       = 10 * time.Minute
	// stoppedCode is the exit code of what was ended by SIGTERM.
	stoppedCode = 143
)

// step is what is to be done about a pod. The zero step is: nothing, until the pod
// changes.
type step struct {
	// status is to be written; nil if it is right as it is.
	status *corev1.PodStatus
	// remove says that the pod is to be deleted for good.
	remove bool
	// again is when to look again though the pod has not changed; 0 is never.
	again time.Duration
}

// next is the life of a pod: what becomes of it at a time, given what its status
// says. It depends on nothing else, changes nothing, and gives the same answer
// when it is asked twice. The addresses become the pod's if it has none.
func next(pod *corev1.Pod, now time.Time, addresses []string) step {
	asked, _ := wishesOf(pod)
	l := &life{pod: pod, asked: asked, now: now, status: pod.Status.DeepCopy()}
	switch {
	case pod.DeletionTimestamp != nil:
		return l.end()
	case ended(pod):
		return step{}
	}
	l.begin(addresses)
	l.proceed()
	return l.step()
}

// ended says whether a pod has come to its end, whether or not it is deleted.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// life is one look at a pod. Its methods change status, and lower due where they
// wait for something.
type life struct {
	pod    *corev1.Pod
	asked  wishes
	now    time.Time
	status *corev1.PodStatus
	// due is the earliest time at which something changes; zero is never.
	due time.Time
}

// stamp is now as a status keeps it, in whole seconds.
func (l *life) stamp() metav1.Time { return metav1.NewTime(l.now.Truncate(time.Second)) }

// passed says whether a duration has passed since a time of the status, and
// remembers to look again if not. Such a time has lost its fraction: a second is
// added, so that nothing is shorter than it says.
func (l *life) passed(since metav1.Time, d time.Duration) bool {
	if d == 0 {
		return true
	}
	t := since.Add(d + time.Second)
	if !l.now.Before(t) {
		return true
	}
	if l.due.IsZero() || t.Before(l.due) {
		l.due = t
	}
	return false
}

// step compares the status with the one that the pod has.
func (l *life) step() step {
	var s step
	if !equality.Semantic.DeepEqual(l.status, &l.pod.Status) {
		s.status = l.status
	}
	if !l.due.IsZero() {
		s.again = l.due.Sub(l.now)
	}
	return s
}

// begin is the node's taking notice of a pod.
func (l *life) begin(addresses []string) {
	if l.status.StartTime == nil {
		start := l.stamp()
		l.status.StartTime = &start
	}
	if l.status.PodIP == "" && len(addresses) > 0 {
		l.status.PodIP = addresses[0]
		for _, address := range addresses {
			l.status.PodIPs = append(l.status.PodIPs, corev1.PodIP{IP: address})
		}
	}
	l.status.InitContainerStatuses = l.list(l.pod.Spec.InitContainers, l.status.InitContainerStatuses)
	l.status.ContainerStatuses = l.list(l.pod.Spec.Containers, l.status.ContainerStatuses)
}

// proceed takes the pod as far as it comes today.
func (l *life) proceed() {
	spec := &l.pod.Spec
	if spec.ActiveDeadlineSeconds != nil &&
		l.passed(*l.status.StartTime, time.Duration(*spec.ActiveDeadlineSeconds)*time.Second) {
		l.stop()
		l.status.Phase = corev1.PodFailed
		l.status.Reason = "DeadlineExceeded"
		l.status.Message = "The pod did not end within its activeDeadlineSeconds."
		l.finish()
		return
	}
	initialized := false
	if l.passed(*l.status.StartTime, l.asked.startAfter) {
		initialized = l.initialize()
		if initialized {
			l.runContainers()
		}
		l.runEphemeral()
	}
	l.status.Phase = l.phase(initialized)
	l.finish()
}

// finish brings the rest of the status in line with its phase.
func (l *life) finish() {
	if l.status.Phase == corev1.PodSucceeded || l.status.Phase == corev1.PodFailed {
		l.stop()
		l.due = time.Time{}
	}
	l.setConditions()
	l.status.ObservedGeneration = l.pod.Generation
}

// phase follows from the containers.
func (l *life) phase(initialized bool) corev1.PodPhase {
	if !initialized {
		return corev1.PodPending
	}
	failed := false
	for _, c := range l.status.ContainerStatuses {
		if c.State.Terminated == nil {
			return corev1.PodRunning
		}
		failed = failed || c.State.Terminated.ExitCode != 0
	}
	if failed {
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

// end is the rest of a pod's life once it is deleted.
func (l *life) end() step {
	pod := l.pod
	var grace time.Duration
	if pod.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	}
	// The timestamp of a deletion is when the grace period is over.
	asked := metav1.NewTime(pod.DeletionTimestamp.Add(-grace))
	if !ended(pod) && !l.passed(asked, min(l.asked.stopAfter, grace)) {
		return l.step()
	}
	if len(pod.Finalizers) == 0 {
		return step{remove: true}
	}
	if !ended(pod) {
		l.begin(nil)
		l.stop()
		l.status.Phase = l.phase(true)
		l.finish()
		return l.step()
	}
	// With no grace period left, the server removes it after the last finalizer.
	return step{remove: grace > 0}
}

// list returns the statuses of containers in the order of the specification, and
// keeps what is known of each.
func (l *life) list(containers []corev1.Container, known []corev1.ContainerStatus) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for i := range containers {
		c := &containers[i]
		at := slices.IndexFunc(known, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
		if at >= 0 {
			statuses = append(statuses, *known[at].DeepCopy())
			continue
		}
		statuses = append(statuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Started: new(bool),
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: l.waitingFor()}},
		})
	}
	return statuses
}

// waitingFor is the reason for which containers have not started.
func (l *life) waitingFor() string {
	if len(l.pod.Spec.InitContainers) > 0 {
		return "PodInitializing"
	}
	return "ContainerCreating"
}
