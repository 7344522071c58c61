package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// quotaLimit is how many of each kind there may be.
const quotaLimit = 10

// TestQuota fills a namespace up to its quota, of pods, ConfigMaps and custom
// resources: the one too many is refused, until another is deleted.
func TestQuota(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	client := server.Client(t)
	things := define(t, server, "quota.e2e.test", "Thing")
	namespace := newHome(t, client)
	eventually(t, func(ctx context.Context) error { // it counts as well
		_, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err
	})
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap("before"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const customs = corev1.ResourceName("count/things.quota.e2e.test")
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{}}}
	for _, name := range []corev1.ResourceName{corev1.ResourcePods, "count/configmaps", customs} {
		quota.Spec.Hard[name] = *resource.NewQuantity(quotaLimit, resource.DecimalSI)
	}
	if _, err := client.CoreV1().ResourceQuotas(namespace).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	dyn := dynamicClient(t, server)
	for _, test := range []struct {
		resource corev1.ResourceName
		yaml     string
		there    int
	}{
		{corev1.ResourcePods, "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: [{name: c, image: example.test/c}]}}", 0},
		{"count/configmaps", "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}", 2},
		{customs, "{apiVersion: " + things.GroupVersion().String() + ", kind: Thing, metadata: {name: %s}}", 0},
	} {
		awaitUsed(t, client, namespace, test.resource, test.there)
		create := func(name string) error {
			o := object(t, fmt.Sprintf(test.yaml, name))
			_, err := resourceOf(dyn, o, namespace).Create(t.Context(), o, metav1.CreateOptions{})
			return err
		}
		for n := test.there; n < quotaLimit; n++ {
			if err := create(fmt.Sprintf("n%d", n)); err != nil {
				t.Fatalf("%s, number %d: %v", test.resource, n+1, err)
			}
		}
		if err := create("many"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: q") {
			t.Errorf("%s, one too many: %v", test.resource, err)
		}
		o := object(t, fmt.Sprintf(test.yaml, "n9"))
		none := int64(0)
		if err := resourceOf(dyn, o, namespace).Delete(t.Context(), "n9", metav1.DeleteOptions{GracePeriodSeconds: &none}); err != nil {
			t.Fatal(err)
		}
		awaitUsed(t, client, namespace, test.resource, quotaLimit-1)
		eventually(t, func(context.Context) error { return create("again") }) // admission sees the status a moment later
		if err := create("many"); !apierrors.IsForbidden(err) {
			t.Errorf("%s, one too many again: %v", test.resource, err)
		}
	}
}

// awaitUsed waits until the status of quota q counts so many.
func awaitUsed(t testing.TB, client kubernetes.Interface, namespace string, name corev1.ResourceName, want int) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		quota, err := client.CoreV1().ResourceQuotas(namespace).Get(ctx, "q", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if used, counted := quota.Status.Used[name]; !counted || used.Value() != int64(want) {
			return fmt.Errorf("%s: want %d used: %v", name, want, quota.Status.Used)
		}
		return nil
	})
}
