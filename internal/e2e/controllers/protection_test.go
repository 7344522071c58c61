package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// awaitProtected waits until an object has a finalizer, and is deleted or not; what
// would let it go must not have happened yet.
func awaitProtected(t testing.TB, resource dynamic.ResourceInterface, name, finalizer string, deleted bool) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		o, err := resource.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !slices.Contains(o.GetFinalizers(), finalizer) || (o.GetDeletionTimestamp() != nil) != deleted {
			return fmt.Errorf("%s %s: finalizers %v, want %s; deleted %v, want %v", o.GetKind(), name, o.GetFinalizers(), finalizer, o.GetDeletionTimestamp(), deleted)
		}
		return nil
	})
}

func remove(t testing.TB, resource dynamic.ResourceInterface, name string) {
	t.Helper()
	if err := resource.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestVolumesInUse: claims, volumes and their attributes go when nothing uses them,
// and not before.
func TestVolumesInUse(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	dyn := dynamicClient(t, server)
	namespace := newHome(t, server.Client(t))
	create := func(yaml string) (dynamic.ResourceInterface, *unstructured.Unstructured) {
		t.Helper()
		o := object(t, fmt.Sprintf(yaml, namespace))
		resource := resourceOf(dyn, o, namespace)
		created, err := resource.Create(t.Context(), o, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return resource, created
	}
	classes, _ := create(`{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: "%s"}, driverName: e2e.test, parameters: {a: b}}`)
	volumes, _ := create(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: "%s"}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /nowhere}}`)
	claims, _ := create(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: "%s"}
spec: {storageClassName: "", volumeAttributesClassName: "%[1]s", accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`)
	// A pod uses a claim from when it is bound to a node; there need not be one.
	pods, _ := create(`
apiVersion: v1
kind: Pod
metadata: {name: "%s"}
spec: {nodeName: nowhere, containers: [{name: c, image: example.test/c}], volumes: [{name: v, persistentVolumeClaim: {claimName: "%[1]s"}}]}`)

	awaitProtected(t, volumes, namespace, "kubernetes.io/pv-protection", false)
	remove(t, volumes, namespace)
	gone(t, volumes, namespace)

	remove(t, claims, namespace)
	remove(t, classes, namespace)
	awaitProtected(t, claims, namespace, "kubernetes.io/pvc-protection", true)
	awaitProtected(t, classes, namespace, "kubernetes.io/vac-protection", true)
	atOnce := int64(0)
	if err := pods.Delete(t.Context(), namespace, metav1.DeleteOptions{GracePeriodSeconds: &atOnce}); err != nil {
		t.Fatal(err)
	}
	gone(t, claims, namespace)
	gone(t, classes, namespace)
}

// TestServiceCIDR: a range becomes ready, and goes when it is deleted.
func TestServiceCIDR(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	apply(t, server, "", "{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: e2e}, spec: {cidrs: [10.199.0.0/24]}}")
	ranges := dynamicClient(t, server).Resource(serviceCIDRs)
	for _, name := range []string{"kubernetes", "e2e"} {
		eventually(t, func(ctx context.Context) error { return condition(ctx, ranges, name, "Ready", "True") })
	}
	service := apply(t, server, "default", "{apiVersion: v1, kind: Service, metadata: {generateName: e2e-}, spec: {clusterIP: 10.199.0.7, ports: [{port: 80}]}}")
	remove(t, ranges, "e2e")
	eventually(t, func(ctx context.Context) error { return condition(ctx, ranges, "e2e", "Ready", "False") })
	remove(t, resourceOf(dynamicClient(t, server), service, "default"), service.GetName())
	gone(t, ranges, "e2e")
}

// condition returns nil where an object has a condition.
func condition(ctx context.Context, resource dynamic.ResourceInterface, name, kind, status string) error {
	o, err := resource.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind && c["status"] == status {
			return nil
		}
	}
	return fmt.Errorf("%s %s: want condition %s=%s: %v", o.GetKind(), name, kind, status, o.Object["status"])
}
