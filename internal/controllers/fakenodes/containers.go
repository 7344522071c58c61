package fakenodes

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// crashLoop is the reason of a container that waits for its restart.
const crashLoop = "CrashLoopBackOff"

// initialize runs the init containers, and says whether all that end have ended.
func (l *life) initialize() bool {
	for i := range l.pod.Spec.InitContainers {
		c, s := &l.pod.Spec.InitContainers[i], &l.status.InitContainerStatuses[i]
		sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		if s.State.Waiting != nil {
			l.start(c, s)
		}
		switch {
		case sidecar:
			l.replace(c, s)
			s.Ready = s.State.Running != nil
		case s.State.Terminated != nil:
		case !l.passed(s.State.Running.StartedAt, shortRun):
			return false
		default:
			l.exit(s, 0)
			s.Ready = true
		}
	}
	return true
}

// runContainers starts, ends and restarts the containers.
func (l *life) runContainers() {
	for i := range l.pod.Spec.Containers {
		c, s := &l.pod.Spec.Containers[i], &l.status.ContainerStatuses[i]
		if s.State.Waiting != nil && l.mayStart(s) {
			l.start(c, s)
		}
		l.replace(c, s)
		if run, ends := l.runOf(c); ends && s.State.Running != nil && l.passed(s.State.Running.StartedAt, run) {
			l.exit(s, l.asked.exitCode)
			if l.restarts(c, l.asked.exitCode) {
				l.restart(c, s)
			}
		}
		s.Ready = s.State.Running != nil && !l.asked.never && l.passed(s.State.Running.StartedAt, l.asked.readyAfter)
		l.resize(c, s)
	}
}

// runEphemeral starts what kubectl debug puts in: it runs as long as the pod.
func (l *life) runEphemeral() {
	var containers []corev1.Container
	for i := range l.pod.Spec.EphemeralContainers {
		containers = append(containers, corev1.Container(l.pod.Spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	l.status.EphemeralContainerStatuses = l.list(containers, l.status.EphemeralContainerStatuses)
	for i := range containers {
		if s := &l.status.EphemeralContainerStatuses[i]; s.State.Waiting != nil {
			l.start(&containers[i], s)
		}
	}
}

// mayStart says whether a container that waits has waited long enough.
func (l *life) mayStart(s *corev1.ContainerStatus) bool {
	last := s.LastTerminationState.Terminated
	return s.State.Waiting.Reason != crashLoop || last == nil || l.passed(last.FinishedAt, backOff(s))
}

// start makes a container run. One that ran before has been restarted by it.
func (l *life) start(c *corev1.Container, s *corev1.ContainerStatus) {
	if s.LastTerminationState.Terminated != nil {
		s.RestartCount++
	}
	started := true
	s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: l.stamp()}}
	s.Started = &started
	s.Image = c.Image
	s.ImageID = "fake://" + c.Image
	s.ContainerID = fmt.Sprintf("fake://%s/%s/%d", l.pod.UID, c.Name, s.RestartCount)
	l.resize(c, s)
}

// resize reports the resources that a container may use: those that it asks for,
// at once.
func (l *life) resize(c *corev1.Container, s *corev1.ContainerStatus) {
	if s.State.Running == nil || (len(c.Resources.Requests) == 0 && len(c.Resources.Limits) == 0) {
		return
	}
	s.AllocatedResources = c.Resources.Requests.DeepCopy()
	s.Resources = &corev1.ResourceRequirements{
		Requests: c.Resources.Requests.DeepCopy(),
		Limits:   c.Resources.Limits.DeepCopy(),
	}
}

// exit ends a container that runs or never ran.
func (l *life) exit(s *corev1.ContainerStatus, code int32) {
	end := &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: "Completed", FinishedAt: l.stamp(), ContainerID: s.ContainerID,
	}
	if code != 0 {
		end.Reason = "Error"
	}
	if s.State.Running != nil {
		end.StartedAt = s.State.Running.StartedAt
	}
	started := false
	s.State = corev1.ContainerState{Terminated: end}
	s.Started = &started
	s.Ready = false
}

// restart starts a container that has exited, or makes it wait for that.
func (l *life) restart(c *corev1.Container, s *corev1.ContainerStatus) {
	s.LastTerminationState = s.State
	wait := backOff(s)
	if wait == 0 {
		l.start(c, s)
		return
	}
	s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
		Reason:  crashLoop,
		Message: fmt.Sprintf("restarts %s after it ended", wait),
	}}
	l.passed(s.LastTerminationState.Terminated.FinishedAt, wait)
}

// replace restarts a container that runs another image than it should by now.
func (l *life) replace(c *corev1.Container, s *corev1.ContainerStatus) {
	if s.State.Running == nil || s.Image == c.Image {
		return
	}
	l.exit(s, stoppedCode)
	s.LastTerminationState = s.State
	l.start(c, s)
}

// backOff is how long a container waits after its last end.
func backOff(s *corev1.ContainerStatus) time.Duration {
	last := s.LastTerminationState.Terminated
	if s.RestartCount == 0 || last.FinishedAt.Sub(last.StartedAt.Time) >= forgiven {
		return 0
	}
	wait := firstBackOff
	for n := int32(1); n < s.RestartCount && wait < longestBackOff; n++ {
		wait *= 2
	}
	return min(wait, longestBackOff)
}

// stop ends everything that has not ended. What a pod that has come to its end
// leaves behind, sidecars among it, was asked to go and went.
func (l *life) stop() {
	for _, statuses := range [][]corev1.ContainerStatus{
		l.status.ContainerStatuses, l.status.EphemeralContainerStatuses, l.status.InitContainerStatuses,
	} {
		for i := range statuses {
			if s := &statuses[i]; s.State.Terminated == nil {
				l.exit(s, l.stopCode())
			}
		}
	}
}

func (l *life) stopCode() int32 {
	if l.status.Phase == corev1.PodSucceeded {
		return 0
	}
	return stoppedCode
}

// runOf is how long a container runs, and whether it ends at all.
func (l *life) runOf(c *corev1.Container) (time.Duration, bool) {
	switch {
	case l.asked.forever:
		return 0, false
	case l.asked.runFor != nil:
		return *l.asked.runFor, true
	}
	return shortRun, l.policyOf(c) != corev1.RestartPolicyAlways
}

// policyOf is the restart policy of a container: its own, or else the pod's.
func (l *life) policyOf(c *corev1.Container) corev1.RestartPolicy {
	if c.RestartPolicy != nil {
		return corev1.RestartPolicy(*c.RestartPolicy)
	}
	return l.pod.Spec.RestartPolicy
}

// restarts says whether a container that exits starts again. Its own rules come
// before its policy; the first that names the code holds.
func (l *life) restarts(c *corev1.Container, code int32) bool {
	for _, rule := range c.RestartPolicyRules {
		if rule.Action != corev1.ContainerRestartRuleActionRestart || rule.ExitCodes == nil {
			continue
		}
		in := slices.Contains(rule.ExitCodes.Values, code)
		if in == (rule.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn) {
			return true
		}
	}
	switch l.policyOf(c) {
	case corev1.RestartPolicyAlways:
		return true
	case corev1.RestartPolicyOnFailure:
		return code != 0
	case corev1.RestartPolicyNever:
	}
	return false
}
