package fakenodes

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podOf is a pod on node 1 with one container, changed as asked.
func podOf(policy corev1.RestartPolicy, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod", UID: "uid", Generation: 1},
		Spec: corev1.PodSpec{
			NodeName: nameOf(1), RestartPolicy: policy,
			Containers: []corev1.Container{{Name: "main", Image: "image"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func named(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Name, pod.UID = name, types.UID("uid-of-"+name) }
}

func annotate(name, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[AnnotationPrefix+name] = value
	}
}

func inits(names ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		for _, name := range names {
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: name, Image: "image"})
		}
	}
}

func sidecar(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		always := corev1.ContainerRestartPolicyAlways
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: name, Image: "image", RestartPolicy: &always})
	}
}

func container(name string, policy corev1.ContainerRestartPolicy) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name, Image: "image", RestartPolicy: &policy})
	}
}

// ruled makes the container restart when it exits with a code.
func ruled(code int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		never := corev1.ContainerRestartPolicyNever
		pod.Spec.Containers[0].RestartPolicy = &never
		pod.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{
			Action: corev1.ContainerRestartRuleActionRestart,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{
				Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{code},
			},
		}}
	}
}

func deadline(seconds int64) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.ActiveDeadlineSeconds = &seconds }
}

func gate(kind corev1.PodConditionType) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: kind})
	}
}

func finalizer() func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/reads"} }
}

// deleted marks a pod as deleted; tell fills in the time.
func deleted(grace int64) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{}, &grace
	}
}
