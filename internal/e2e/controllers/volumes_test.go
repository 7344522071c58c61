package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kapi-dev/kapi/internal/controllers/fakevolumes"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// bound waits until a claim has a volume and so much room.
func (w workbench) bound(t testing.TB, claim, size string) *corev1.PersistentVolumeClaim {
	t.Helper()
	var found *corev1.PersistentVolumeClaim
	eventually(t, func(ctx context.Context) (err error) {
		if found, err = w.client.CoreV1().PersistentVolumeClaims(w.namespace).Get(ctx, claim, metav1.GetOptions{}); err != nil {
			return err
		}
		if got := found.Status.Capacity[corev1.ResourceStorage]; found.Status.Phase != corev1.ClaimBound || got.String() != size {
			return fmt.Errorf("claim %s is %s and has %s, want Bound with %s", claim, found.Status.Phase, got.String(), size)
		}
		return nil
	})
	return found
}

// phase waits until a volume is in a phase; "" is gone.
func (w workbench) phase(t testing.TB, volume string, want corev1.PersistentVolumePhase) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		found, err := w.client.CoreV1().PersistentVolumes().Get(ctx, volume, metav1.GetOptions{})
		if apierrors.IsNotFound(err) && want == "" {
			return nil
		}
		if err == nil && found.Status.Phase != want {
			err = fmt.Errorf("volume %s is %q, want %q", volume, found.Status.Phase, want)
		}
		return err
	})
}

// testClaimTemplates: a StatefulSet gets the volumes that it asks for from the default
// class, keeps them, gives them more room, and they go with their claims.
func testClaimTemplates(t *testing.T, w workbench) {
	w.apply(t, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: "example.test/db:1"}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]`)
	w.awaitPods(t, "app=db", 2)
	first, second := w.bound(t, "data-db-0", "1Gi"), w.bound(t, "data-db-1", "1Gi")
	if *first.Spec.StorageClassName != fakevolumes.Class || first.Spec.VolumeName != "pvc-"+string(first.UID) {
		t.Errorf("class %q, volume %q", *first.Spec.StorageClassName, first.Spec.VolumeName)
	}
	if _, err := w.client.CoreV1().PersistentVolumeClaims(w.namespace).Patch(t.Context(), first.Name, types.MergePatchType,
		[]byte(`{"spec": {"resources": {"requests": {"storage": "3Gi"}}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.bound(t, first.Name, "3Gi")
	volume, err := w.client.CoreV1().PersistentVolumes().Get(t.Context(), first.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if room := volume.Spec.Capacity[corev1.ResourceStorage]; room.String() != "3Gi" {
		t.Errorf("the volume has %s", room.String())
	}
	w.kubectl(t, "scale", "statefulset/db", "--replicas=1")
	w.awaitPods(t, "app=db", 1)
	w.kubectl(t, "delete", "pvc", second.Name)
	w.phase(t, second.Spec.VolumeName, "")
	w.phase(t, first.Spec.VolumeName, corev1.VolumeBound)
}

// testLateBinding: a class of the user's with fake volumes waits for a pod, and keeps
// the volume where its policy says so.
func testLateBinding(t *testing.T, w workbench) {
	class := w.namespace + "-late"
	w.apply(t, `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: `+class+`}
provisioner: `+fakevolumes.Provisioner+`
volumeBindingMode: WaitForFirstConsumer
reclaimPolicy: Retain
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: late}
spec: {accessModes: [ReadWriteOnce], storageClassName: `+class+`, resources: {requests: {storage: 2Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: choosy}
spec: {accessModes: [ReadWriteOnce], storageClassName: `+fakevolumes.Class+`, selector: {matchLabels: {a: b}}, resources: {requests: {storage: 2Gi}}}`)
	w.event(t, "late", "WaitForFirstConsumer", "waiting for first consumer")
	w.event(t, "choosy", "ProvisioningFailed", "selector")
	w.apply(t, `
apiVersion: v1
kind: Pod
metadata: {name: first, labels: {app: late}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: example.test/c}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: late}}]`)
	w.awaitPods(t, "app=late", 1)
	volume := w.bound(t, "late", "2Gi").Spec.VolumeName
	w.kubectl(t, "delete", "pod/first", "pvc/late")
	w.phase(t, volume, corev1.VolumeReleased)
	w.kubectl(t, "delete", "pv", volume)
}

// event waits for an event about an object of the namespace.
func (w workbench) event(t testing.TB, name, reason, message string) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		events, err := w.client.CoreV1().Events(w.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
		if err != nil {
			return err
		}
		var got []string
		for _, e := range events.Items {
			if e.Reason == reason && strings.Contains(e.Message, message) {
				return nil
			}
			got = append(got, e.Reason+": "+e.Message)
		}
		return fmt.Errorf("%s has no event %s with %q, but %q", name, reason, message, got)
	})
}

// testStaticVolume: a volume that somebody made is bound, and nothing on this machine
// is deleted when its policy says that it is.
func testStaticVolume(t *testing.T, w workbench) {
	directory := t.TempDir() // below /tmp, where kube-controller-manager would delete it
	w.apply(t, `
apiVersion: v1
kind: PersistentVolume
metadata: {name: `+w.namespace+`}
spec: {capacity: {storage: 5Gi}, accessModes: [ReadWriteMany], hostPath: {path: `+directory+`}, persistentVolumeReclaimPolicy: Delete, storageClassName: by-hand}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: static}
spec: {accessModes: [ReadWriteMany], storageClassName: by-hand, resources: {requests: {storage: 3Gi}}}`)
	if got := w.bound(t, "static", "5Gi").Spec.VolumeName; got != w.namespace {
		t.Errorf("bound to %s", got)
	}
	w.kubectl(t, "delete", "pvc/static")
	w.phase(t, w.namespace, corev1.VolumeFailed)
	w.kubectl(t, "delete", "pv", w.namespace)
}

// testPodClaims: claims that pods bring with them, of volumes and of devices.
func testPodClaims(t *testing.T, w workbench) {
	w.apply(t, `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: `+w.namespace+`}
spec: {selectors: [{cel: {expression: 'device.driver == "`+w.namespace+`.example.test"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: `+w.namespace+`}
spec: {driver: `+w.namespace+`.example.test, nodeName: kapi-node-2, pool: {name: one, generation: 1, resourceSliceCount: 1}, devices: [{name: one}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: device}
spec: {spec: {devices: {requests: [{name: one, exactly: {deviceClassName: `+w.namespace+`}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: both, labels: {app: both}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: example.test/c, resources: {claims: [{name: device}]}}]
  resourceClaims: [{name: device, resourceClaimTemplateName: device}]
  volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}}}]`)
	pod := w.awaitPods(t, "app=both", 1)[0]
	if pod.Spec.NodeName != "kapi-node-2" {
		t.Errorf("the pod is on %s, where there is no device", pod.Spec.NodeName)
	}
	volume := w.bound(t, "both-scratch", "2Gi").Spec.VolumeName
	w.kubectl(t, "delete", "pod/both")
	w.phase(t, volume, "")
	eventually(t, func(ctx context.Context) error {
		claims, err := w.client.ResourceV1().ResourceClaims(w.namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(claims.Items) > 0 {
			err = fmt.Errorf("%d device claims of the pod are left", len(claims.Items))
		}
		return err
	})
}

// TestFakeVolumesGo: a server without them takes their class away, and no other.
func TestFakeVolumesGo(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t, "--controllers=none,+persistentvolume-binder", "--fake-nodes", "1")
	client := server.Client(t)
	apply(t, server, "", `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: mine}
provisioner: `+fakevolumes.Provisioner)
	await(t, "StorageClass "+fakevolumes.Class, func(ctx context.Context) bool {
		class, err := client.StorageV1().StorageClasses().Get(ctx, fakevolumes.Class, metav1.GetOptions{})
		return err == nil && class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
	})
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	server.Args = []string{"--fake-nodes", "1"} // and nobody who binds
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	client = server.Client(t)
	await(t, "StorageClass "+fakevolumes.Class+" gone", func(ctx context.Context) bool {
		_, err := client.StorageV1().StorageClasses().Get(ctx, fakevolumes.Class, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	if _, err := client.StorageV1().StorageClasses().Get(t.Context(), "mine", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}
