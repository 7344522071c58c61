package fakenodes

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// birth is when the pods of these tests are bound. It has a fraction, which the
// times in a status have not.
var birth = time.Date(2026, 1, 2, 3, 4, 5, 300_000_000, time.UTC)

// TestLife tells what becomes of pods, one line for each step. As times in a
// status are whole seconds, a step that has to wait takes up to a second more.
func TestLife(t *testing.T) {
	for _, test := range []struct {
		name string
		pod  *corev1.Pod
		// then is done to the pod after so long.
		then  map[time.Duration]func(*corev1.Pod)
		until time.Duration
		want  string
	}{
		{
			name: "a server runs until it is deleted",
			pod:  podOf("Always"),
			then: map[time.Duration]func(*corev1.Pod){time.Hour: deleted(30)},
			want: `
				0s Running ready | main running
				1h0m0s removed`,
		},
		{
			name: "a job's pod succeeds after a second",
			pod:  podOf("Never"),
			want: `
				0s Running ready | main running
				1.7s Succeeded PodCompleted | main exited 0`,
		},
		{
			name: "init containers, then the container",
			pod:  podOf("Always", inits("a", "b")),
			want: `
				0s Pending ContainersNotReady | a running, b PodInitializing | main PodInitializing
				1.7s Pending ContainersNotReady | a exited 0, b running | main PodInitializing
				3.7s Running ready | a exited 0, b exited 0 | main running`,
		},
		{
			name: "a sidecar starts first and goes last",
			pod:  podOf("Never", inits("a"), sidecar("proxy")),
			want: `
				0s Pending ContainersNotReady | a running, proxy PodInitializing | main PodInitializing
				1.7s Running ready | a exited 0, proxy running | main running
				3.7s Succeeded PodCompleted | a exited 0, proxy exited 0 | main exited 0`,
		},
		{
			name: "the image takes its time",
			pod:  podOf("Always", annotate("start-after", "2s")),
			want: `
				0s Pending ContainersNotReady | main ContainerCreating
				2.7s Running ready | main running`,
		},
		{
			name: "ready only later",
			pod:  podOf("Always", annotate("ready-after", "3s")),
			want: `
				0s Running ContainersNotReady | main running
				3.7s Running ready | main running`,
		},
		{
			name: "never ready",
			pod:  podOf("Always", annotate("ready", "false")),
			want: `0s Running ContainersNotReady | main running`,
		},
		{
			name: "a job's pod that runs longer",
			pod:  podOf("OnFailure", annotate("run-for", "1m")),
			want: `
				0s Running ready | main running
				1m0.7s Succeeded PodCompleted | main exited 0`,
		},
		{
			name: "a job's pod that never ends",
			pod:  podOf("Never", annotate("run-for", "forever")),
			want: `0s Running ready | main running`,
		},
		{
			name: "Never: failure is the end",
			pod:  podOf("Never", annotate("exit-code", "3")),
			want: `
				0s Running ready | main running
				1.7s Failed PodFailed | main exited 3`,
		},
		{
			name:  "OnFailure: restarts with growing waits",
			pod:   podOf("OnFailure", annotate("exit-code", "1")),
			until: 30 * time.Minute,
			want: `
				0s Running ready | main running
				1.7s Running ready | main running (1)
				3.7s Running ContainersNotReady | main CrashLoopBackOff (1)
				14.7s Running ready | main running (2)
				16.7s Running ContainersNotReady | main CrashLoopBackOff (2)
				37.7s Running ready | main running (3)
				39.7s Running ContainersNotReady | main CrashLoopBackOff (3)
				1m20.7s Running ready | main running (4)
				1m22.7s Running ContainersNotReady | main CrashLoopBackOff (4)
				2m43.7s Running ready | main running (5)
				2m45.7s Running ContainersNotReady | main CrashLoopBackOff (5)
				5m26.7s Running ready | main running (6)
				5m28.7s Running ContainersNotReady | main CrashLoopBackOff (6)
				10m29.7s Running ready | main running (7)
				10m31.7s Running ContainersNotReady | main CrashLoopBackOff (7)
				15m32.7s Running ready | main running (8)
				15m34.7s Running ContainersNotReady | main CrashLoopBackOff (8)
				20m35.7s Running ready | main running (9)
				20m37.7s Running ContainersNotReady | main CrashLoopBackOff (9)
				25m38.7s Running ready | main running (10)
				25m40.7s Running ContainersNotReady | main CrashLoopBackOff (10)`,
		},
		{
			name:  "Always: a success is restarted too, and a long run is forgiven",
			pod:   podOf("Always", annotate("run-for", "10m")),
			until: 31 * time.Minute,
			want: `
				0s Running ready | main running
				10m0.7s Running ready | main running (1)
				20m1.7s Running ready | main running (2)
				30m2.7s Running ready | main running (3)`,
		},
		{
			name: "two containers, one of which fails for good",
			pod:  podOf("Never", annotate("exit-code", "1"), container("other", corev1.ContainerRestartPolicyAlways)),
			then: map[time.Duration]func(*corev1.Pod){2 * time.Second: deleted(0)},
			want: `
				0s Running ready | main running, other running
				1.7s Running ContainersNotReady | main exited 1, other running (1)
				2s removed`,
		},
		{
			name: "a rule of a container comes before its policy",
			pod:  podOf("Never", annotate("exit-code", "7"), ruled(7)),
			then: map[time.Duration]func(*corev1.Pod){2 * time.Second: deleted(0)},
			want: `
				0s Running ready | main running
				1.7s Running ready | main running (1)
				2s removed`,
		},
		{
			name: "the deadline",
			pod:  podOf("Always", deadline(5), sidecar("proxy")),
			want: `
				0s Running ready | proxy running | main running
				5.7s Failed PodFailed DeadlineExceeded | proxy exited 143 | main exited 143`,
		},
		{
			name: "the deadline comes while init containers run",
			pod:  podOf("Always", deadline(1), inits("a", "b")),
			want: `
				0s Pending ContainersNotReady | a running, b PodInitializing | main PodInitializing
				1.7s Failed PodFailed DeadlineExceeded | a exited 143, b exited 143 | main exited 143`,
		},
		{
			name: "a readiness gate",
			pod:  podOf("Always", gate("example.com/open")),
			then: map[time.Duration]func(*corev1.Pod){time.Second: func(pod *corev1.Pod) {
				pod.Status.Conditions = append(pod.Status.Conditions,
					corev1.PodCondition{Type: "example.com/open", Status: corev1.ConditionTrue})
			}},
			want: `
				0s Running ReadinessGatesNotReady | main running
				1s Running ready | main running`,
		},
		{
			name: "another image",
			pod:  podOf("Always"),
			then: map[time.Duration]func(*corev1.Pod){time.Minute: func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "new" }},
			want: `
				0s Running ready | main running
				1m0s Running ready | main running (1)`,
		},
		{
			name: "kubectl debug",
			pod:  podOf("Always"),
			then: map[time.Duration]func(*corev1.Pod){time.Minute: func(pod *corev1.Pod) {
				pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug"}}}
			}},
			want: `
				0s Running ready | main running
				1m0s Running ready | main running | debug running`,
		},
		{
			name: "deleted, and allowed some time",
			pod:  podOf("Always", annotate("stop-after", "10s")),
			then: map[time.Duration]func(*corev1.Pod){time.Minute: deleted(30)},
			want: `
				0s Running ready | main running
				1m10.7s removed`,
		},
		{
			name: "no more time than the grace period",
			pod:  podOf("Always", annotate("stop-after", "10m")),
			then: map[time.Duration]func(*corev1.Pod){time.Minute: deleted(5)},
			want: `
				0s Running ready | main running
				1m5.7s removed`,
		},
		{
			name: "deleted, with a finalizer that wants to know how it ended",
			pod:  podOf("Never", annotate("run-for", "1h"), finalizer()),
			then: map[time.Duration]func(*corev1.Pod){
				time.Minute:     deleted(30),
				2 * time.Minute: func(pod *corev1.Pod) { pod.Finalizers = nil },
			},
			want: `
				0s Running ready | main running
				1m0s Failed PodFailed | main exited 143
				1m0s removed
				2m0s removed`,
		},
		{
			name: "deleted before it began",
			pod:  podOf("Never", finalizer(), deleted(0)),
			want: `0s Failed PodFailed | main exited 143`,
		},
		{
			name: "ended pods are left alone",
			pod:  podOf("Always", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }),
			want: ``,
		},
		{
			name: "no time at all",
			pod:  podOf("Never", annotate("run-for", "0s")),
			want: `0s Succeeded PodCompleted | main exited 0`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := tell(t, test.pod, test.then, test.until)
			if want := lines(test.want); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// tell lets a pod live, and writes down each step. Its status goes through JSON
// each time, as on its way through the server.
func tell(t *testing.T, pod *corev1.Pod, then map[time.Duration]func(*corev1.Pod), until time.Duration) string {
	t.Helper()
	if until == 0 {
		until = 24 * time.Hour
	}
	var story strings.Builder
	now, removed := birth, 0
	for range 100 {
		s := next(pod, now, []string{"10.244.1.2"})
		if again := next(pod, now, []string{"10.244.1.2"}); !reflect.DeepEqual(s, again) {
			t.Fatalf("asked twice: %+v, then %+v", s, again)
		}
		at := now.Sub(birth)
		switch {
		case s.remove:
			fmt.Fprintf(&story, "%s removed\n", at)
			removed++
			if len(pod.Finalizers) == 0 {
				return story.String()
			}
			pod.DeletionGracePeriodSeconds = new(int64)
			continue
		case s.status != nil:
			pod.Status = overTheWire(t, s.status)
			fmt.Fprintf(&story, "%s %s\n", at, tellStatus(pod))
			continue
		}
		upcoming := until + 1
		if s.again > 0 {
			upcoming = at + s.again
		}
		for when := range then {
			if when > at {
				upcoming = min(upcoming, when)
			}
		}
		if upcoming > until {
			return story.String()
		}
		now = birth.Add(upcoming)
		if change := then[upcoming]; change != nil {
			change(pod)
			if pod.DeletionTimestamp != nil && pod.DeletionTimestamp.IsZero() {
				at := metav1.NewTime(now.Truncate(time.Second).Add(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second))
				pod.DeletionTimestamp = &at
			}
		}
	}
	t.Fatalf("the pod does not come to rest:\n%s", story.String())
	return ""
}

func overTheWire(t *testing.T, status *corev1.PodStatus) (out corev1.PodStatus) {
	t.Helper()
	data, err := json.Marshal(status)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tellStatus is a status in a line: phase, why it is not ready, containers.
func tellStatus(pod *corev1.Pod) string {
	ready := "without condition"
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			if ready = c.Reason; c.Status == corev1.ConditionTrue {
				ready = "ready"
			}
		}
	}
	words := []string{string(pod.Status.Phase), ready}
	if pod.Status.Reason != "" {
		words = append(words, pod.Status.Reason)
	}
	text := strings.Join(words, " ")
	for _, statuses := range [][]corev1.ContainerStatus{
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		var parts []string
		for i := range statuses {
			parts = append(parts, tellContainer(&statuses[i]))
		}
		if len(parts) > 0 {
			text += " | " + strings.Join(parts, ", ")
		}
	}
	return text
}

func tellContainer(s *corev1.ContainerStatus) string {
	text := s.Name + " "
	switch {
	case s.State.Running != nil:
		text += "running"
	case s.State.Terminated != nil:
		text += fmt.Sprintf("exited %d", s.State.Terminated.ExitCode)
	case s.State.Waiting != nil:
		text += s.State.Waiting.Reason
	}
	if s.RestartCount > 0 {
		text += fmt.Sprintf(" (%d)", s.RestartCount)
	}
	return text
}

func lines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}
