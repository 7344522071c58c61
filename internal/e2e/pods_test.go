package e2e_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestPodWithoutServiceAccount: where nobody makes service accounts, the admission
// plugin that wants one is off and a pod can be created.
func TestPodWithoutServiceAccount(t *testing.T) {
	t.Parallel()
	client := kapitest.Start(t, "--controllers=none").Client(t)
	created, err := client.CoreV1().Pods(newNamespace(t, client)).Create(t.Context(), pod(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The other default plugins have been at it.
	if created.Spec.Priority == nil || len(created.Spec.Tolerations) != 2 {
		t.Errorf("admission left priority %v, tolerations %v", created.Spec.Priority, created.Spec.Tolerations)
	}
}

// TestServiceAccountPlugin: whoever asks for the plugin gets it.
func TestServiceAccountPlugin(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t, "--controllers=none", "--enable-admission-plugins=ServiceAccount")
	client := server.Client(t)
	namespace := newNamespace(t, client)
	_, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod(), metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `serviceaccount "default" not found`) {
		t.Errorf("without a service account: %v", err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	created, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod(), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if created.Spec.ServiceAccountName != "default" || len(created.Spec.Volumes) != 1 || created.Spec.Volumes[0].Projected == nil {
		t.Errorf("the plugin left %+v", created.Spec)
	}
}

func pod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.test/c:1"}}},
	}
}
