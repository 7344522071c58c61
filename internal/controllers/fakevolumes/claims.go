package fakevolumes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/reference"
	"k8s.io/component-helpers/storage/volume"
)

// Reasons of events, as those of sigs.k8s.io/sig-storage-lib-external-provisioner.
const (
	reasonProvisioned    = "ProvisioningSucceeded"
	reasonNotProvisioned = "ProvisioningFailed"
	reasonResized        = "VolumeResizeSuccessful"
)

// serve gives a claim what it waits for: a volume, or more room in the one it has.
func (v *Volumes) serve(ctx context.Context, namespace, name string) error {
	claim, err := v.claims.PersistentVolumeClaims(namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err) || err == nil && claim.DeletionTimestamp != nil:
		return nil
	case err != nil:
		return err
	case claim.Spec.VolumeName != "":
		return v.grow(ctx, claim)
	case asks(claim) != Provisioner:
		return nil
	}
	class, err := v.classes.Get(volume.GetPersistentVolumeClaimClass(claim))
	if apierrors.IsNotFound(err) {
		return nil // the binder says so
	}
	if err != nil {
		return err
	}
	waits := class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	if waits && claim.Annotations[volume.AnnSelectedNode] == "" {
		return nil
	}
	if claim.Spec.Selector != nil {
		v.events.Event(claim, corev1.EventTypeWarning, reasonNotProvisioned, "A claim with a selector gets no new volume: it is for volumes that are there")
		return nil
	}
	return v.provision(ctx, claim, class)
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

// grow gives a bound claim the room that it asks for by now, first in its volume.
func (v *Volumes) grow(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	want, has := requested(claim), claim.Status.Capacity[corev1.ResourceStorage]
	if claim.Status.Phase != corev1.ClaimBound || want.Cmp(has) <= 0 {
		return nil
	}
	found, err := v.volumes.Get(claim.Spec.VolumeName)
	if apierrors.IsNotFound(err) || err == nil && !ours(found) {
		return nil
	}
	if err != nil {
		return err
	}
	if room := found.Spec.Capacity[corev1.ResourceStorage]; room.Cmp(want) < 0 {
		grown := found.DeepCopy()
		grown.Spec.Capacity[corev1.ResourceStorage] = want
		if _, err := v.config.Client.CoreV1().PersistentVolumes().Update(ctx, grown, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("giving volume %s more room: %w", grown.Name, err)
		}
	}
	grown := claim.DeepCopy()
	if grown.Status.Capacity == nil {
		grown.Status.Capacity = corev1.ResourceList{}
	}
	grown.Status.Capacity[corev1.ResourceStorage] = want
	if _, err := v.config.Client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, grown, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("giving claim %s/%s more room: %w", claim.Namespace, claim.Name, err)
	}
	v.events.Eventf(claim, corev1.EventTypeNormal, reasonResized, "Volume %s has %s now", claim.Spec.VolumeName, want.String())
	return nil
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
