package fakenodes

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestStatusOfARunningPod looks at what a status has beside its phase.
func TestStatusOfARunningPod(t *testing.T) {
	cpu := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	pod := podOf("Always", func(pod *corev1.Pod) {
		pod.Generation = 4
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: cpu}
		pod.Status.QOSClass = corev1.PodQOSBurstable
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, Reason: "theirs"}}
	})
	status := next(pod, birth, []string{"10.244.1.9"}).status
	if status.PodIP != "10.244.1.9" || len(status.PodIPs) != 1 || status.PodIPs[0].IP != "10.244.1.9" || status.HostIP != "" {
		t.Errorf("addresses: %q, %v, host %q", status.PodIP, status.PodIPs, status.HostIP)
	}
	if status.ObservedGeneration != 4 || status.StartTime == nil || status.StartTime.Nanosecond() != 0 || status.QOSClass != corev1.PodQOSBurstable {
		t.Errorf("generation %d, start %v, QoS %s", status.ObservedGeneration, status.StartTime, status.QOSClass)
	}
	for _, kind := range []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady,
	} {
		c := (&life{status: status}).condition(kind)
		if c == nil || c.Status != corev1.ConditionTrue || c.ObservedGeneration != 4 || c.LastTransitionTime.IsZero() {
			t.Errorf("condition %s: %+v", kind, c)
		}
	}
	if c := (&life{status: status}).condition(corev1.PodScheduled); c.Reason != "theirs" {
		t.Errorf("the scheduler's condition was overwritten: %+v", c)
	}
	s := status.ContainerStatuses[0]
	if s.Image != "image" || s.ImageID != "fake://image" || s.ContainerID != "fake://uid/main/0" || s.Started == nil || !*s.Started || !s.Ready {
		t.Errorf("container: %+v", s)
	}
	if s.Resources == nil || !s.Resources.Requests.Cpu().Equal(resource.MustParse("1")) || !s.AllocatedResources.Cpu().Equal(resource.MustParse("1")) {
		t.Errorf("resources: %+v, allocated %v", s.Resources, s.AllocatedResources)
	}
	if pod.Status.Phase != corev1.PodPending || len(pod.Status.Conditions) != 1 {
		t.Errorf("the pod was changed: %+v", pod.Status)
	}
}

// TestTransitionTimes: a condition keeps its time as long as it keeps its status.
func TestTransitionTimes(t *testing.T) {
	pod := podOf("Always")
	pod.Status = *next(pod, birth, []string{"10.244.1.2"}).status
	pod.Generation = 2
	later := birth.Add(shortRun * 100)
	status := next(pod, later, nil).status
	if status == nil {
		t.Fatal("a new generation is not observed")
	}
	for _, c := range status.Conditions {
		if c.LastTransitionTime.After(birth) {
			t.Errorf("condition %s: %v", c.Type, c.LastTransitionTime)
		}
	}
}

// TestWishes: what is not allowed counts as none, and is named with what is.
func TestWishes(t *testing.T) {
	const or = "such as 5s or 1m30s"
	for _, test := range []struct {
		name, value string
		want        string
	}{
		{"run-for", "5s", ""},
		{"run-for", "forever", ""},
		{"run-for", "", `"" is ignored, allowed is forever, or a duration from 0s to 24h, ` + or},
		{"run-for", "5", `"5" is ignored`},
		{"run-for", "-1s", `"-1s" is ignored`},
		{"run-for", "25h", `"25h" is ignored`},
		{"run-for", "Forever", `"Forever" is ignored`},
		{"exit-code", "0", ""},
		{"exit-code", "255", ""},
		{"exit-code", "256", `"256" is ignored, allowed is a number from 0 to 255`},
		{"exit-code", "-1", `"-1" is ignored`},
		{"ready", "true", ""},
		{"ready", "no", `"no" is ignored, allowed is true or false`},
		{"ready-after", "x", `"x" is ignored, allowed is a duration from 0s to 24h, ` + or},
		{"start-after", "x", `"x" is ignored`},
		{"stop-after", "x", `"x" is ignored`},
		{"run-fro", "5s", "there is no such rule; did you mean run-for?"},
		{"colour", "red", "there is no such rule; there are: exit-code"},
	} {
		_, complaints := wishesOf(podOf("Always", annotate(test.name, test.value)))
		got := strings.Join(complaints, "; ")
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s=%q: %q, want %q", test.name, test.value, got, test.want)
		}
		if got != "" && !strings.HasPrefix(got, "annotation fake-nodes.kapi.dev/"+test.name) {
			t.Errorf("%s=%q: %q does not begin with the annotation", test.name, test.value, got)
		}
	}
	asked, _ := wishesOf(podOf("Always", annotate("run-for", "x"), annotate("exit-code", "x"), annotate("ready", "x")))
	if asked != (wishes{}) {
		t.Errorf("values that are not allowed have left %+v", asked)
	}
}
