package fakevolumes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/reference"
	"k8s.io/component-helpers/storage/volume"
)

// Reasons of events, as those of sigs.k8s.io/sig-storage-lib-external-provisioner.
const (
	reasonProvisioned    = "ProvisioningSucceeded"
	reasonNotProvisioned = "ProvisioningFailed"
	reasonResized        = "VolumeResizeSuccessful"
	reasonModified       = "VolumeModifySuccessful"
)

// serve gives a claim what it waits for: a volume, or what has changed in the one it has.
func (v *Volumes) serve(ctx context.Context, namespace, name string) error {
	claim, err := v.claims.PersistentVolumeClaims(namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err) || err == nil && claim.DeletionTimestamp != nil:
		return nil
	case err != nil:
		return err
	case claim.Spec.VolumeName != "":
		return v.change(ctx, claim)
	case asks(claim) != Provisioner:
		return nil
	}
	class, err := v.classes.Get(volume.GetPersistentVolumeClaimClass(claim))
	if apierrors.IsNotFound(err) {
		return nil // the binder says so, and it may come
	}
	if err != nil {
		return err
	}
	waits := class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	if waits && claim.Annotations[volume.AnnSelectedNode] == "" {
		return nil
	}
	if populated(claim) {
		return nil
	}
	if claim.Spec.Selector != nil {
		v.events.Event(claim, corev1.EventTypeWarning, reasonNotProvisioned, "A claim with a selector gets no new volume: it is for volumes that are there")
		return nil
	}
	return v.provision(ctx, claim, class)
}

// populated says that a volume populator fills the claim's volume, and makes it.
// Snapshots and other claims are the provisioner's own.
func populated(claim *corev1.PersistentVolumeClaim) bool {
	source := claim.Spec.DataSourceRef
	if source == nil {
		return false
	}
	kind := schema.GroupKind{Group: value(source.APIGroup), Kind: source.Kind}
	return kind != schema.GroupKind{Kind: "PersistentVolumeClaim"} && kind != schema.GroupKind{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshot"}
}

// asks returns the provisioner that the binder has asked for the claim.
func asks(claim *corev1.PersistentVolumeClaim) string {
	if name := claim.Annotations[volume.AnnStorageProvisioner]; name != "" {
		return name
	}
	return claim.Annotations[volume.AnnBetaStorageProvisioner]
}

func (v *Volumes) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) error {
	made, err := volumeOf(claim, class)
	if err != nil {
		return err
	}
	if _, err := v.volumes.Get(made.Name); err == nil {
		return nil // it is being bound
	}
	_, err = v.config.Client.CoreV1().PersistentVolumes().Create(ctx, made, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil
	case err != nil:
		return fmt.Errorf("making the volume of claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	v.events.Eventf(claim, corev1.EventTypeNormal, reasonProvisioned, "Volume %s was made, with nothing behind it", made.Name)
	return nil
}

// volumeOf is the volume of a claim. Its name is that which every provisioner gives.
func volumeOf(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (*corev1.PersistentVolume, error) {
	bound, err := reference.GetReference(scheme.Scheme, claim)
	if err != nil {
		return nil, fmt.Errorf("referring to claim %s/%s: %w", claim.Namespace, claim.Name, err)
	}
	policy := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		policy = *class.ReclaimPolicy
	}
	name := "pvc-" + string(claim.UID)
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{volume.AnnDynamicallyProvisioned: Provisioner}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: requested(claim)},
			AccessModes:                   claim.Spec.AccessModes,
			ClaimRef:                      bound,
			PersistentVolumeReclaimPolicy: policy,
			StorageClassName:              class.Name,
			VolumeAttributesClassName:     claim.Spec.VolumeAttributesClassName,
			MountOptions:                  class.MountOptions,
			VolumeMode:                    claim.Spec.VolumeMode,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: Provisioner, VolumeHandle: name},
			},
		},
	}, nil
}

func requested(claim *corev1.PersistentVolumeClaim) resource.Quantity {
	return claim.Spec.Resources.Requests[corev1.ResourceStorage]
}

// change gives a bound claim what it asks for by now, first in its volume: more room,
// another class of attributes.
func (v *Volumes) change(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.Status.Phase != corev1.ClaimBound {
		return nil
	}
	want, has := requested(claim), claim.Status.Capacity[corev1.ResourceStorage]
	grows := want.Cmp(has) > 0
	attributes := claim.Spec.VolumeAttributesClassName
	differs := attributes != nil && *attributes != value(claim.Status.CurrentVolumeAttributesClassName)
	if !grows && !differs {
		return nil
	}
	found, err := v.volumes.Get(claim.Spec.VolumeName)
	if apierrors.IsNotFound(err) || err == nil && !ours(found) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := v.changeVolume(ctx, found, want, attributes); err != nil {
		return err
	}
	changed := claim.DeepCopy()
	if grows {
		if changed.Status.Capacity == nil {
			changed.Status.Capacity = corev1.ResourceList{}
		}
		changed.Status.Capacity[corev1.ResourceStorage] = want
	}
	if differs {
		changed.Status.CurrentVolumeAttributesClassName, changed.Status.ModifyVolumeStatus = attributes, nil
	}
	if _, err := v.config.Client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("changing what claim %s/%s has: %w", claim.Namespace, claim.Name, err)
	}
	if grows {
		v.events.Eventf(claim, corev1.EventTypeNormal, reasonResized, "Volume %s has %s now", claim.Spec.VolumeName, want.String())
	}
	if differs {
		v.events.Eventf(claim, corev1.EventTypeNormal, reasonModified, "Volume %s has the attributes of %s now", claim.Spec.VolumeName, *attributes)
	}
	return nil
}

// changeVolume writes a volume that has not got all of it yet.
func (v *Volumes) changeVolume(ctx context.Context, found *corev1.PersistentVolume, room resource.Quantity, attributes *string) error {
	changed := found.DeepCopy()
	if has := found.Spec.Capacity[corev1.ResourceStorage]; has.Cmp(room) < 0 {
		changed.Spec.Capacity[corev1.ResourceStorage] = room
	}
	if attributes != nil {
		changed.Spec.VolumeAttributesClassName = attributes
	}
	if equality.Semantic.DeepEqual(found.Spec, changed.Spec) {
		return nil
	}
	if _, err := v.config.Client.CoreV1().PersistentVolumes().Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("changing volume %s: %w", changed.Name, err)
	}
	return nil
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// reclaim deletes a volume whose claim is gone, if its policy says so.
func (v *Volumes) reclaim(ctx context.Context, name string) error {
	found, err := v.volumes.Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	done := found.Status.Phase == corev1.VolumeReleased && found.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
	if !ours(found) || !done || found.DeletionTimestamp != nil {
		return nil
	}
	err = v.config.Client.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(found.UID))})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting volume %s: %w", name, err)
	}
	return nil
}

// ours says that a volume was made here.
func ours(found *corev1.PersistentVolume) bool {
	return found.Annotations[volume.AnnDynamicallyProvisioned] == Provisioner
}
