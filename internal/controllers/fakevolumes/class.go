package fakevolumes

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
)

// Class is the name of the StorageClass that is made.
const Class = "fake"

// Label marks it: what has no such label is somebody else's.
const Label = "kapi.dev/fake-volumes"

// defaultClass marks a class that claims without one get, and betaDefaultClass still
// does so too.
// Source: k8s.io/kubernetes/pkg/volume/util/storageclass.go.
const (
	defaultClass     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultClass = "storageclass.beta.kubernetes.io/is-default-class"
)

// keepClass makes the class once. One that is there is somebody's, who may have changed
// it, or that of an earlier start. It is the default class only while there is no other:
// of two, upstream takes the one that was made last.
func (v *Volumes) keepClass(ctx context.Context) error {
	all, err := v.classes.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("looking for a default StorageClass: %w", err)
	}
	other := slices.ContainsFunc(all, func(c *storagev1.StorageClass) bool { return c.Name != Class && isDefault(c) })
	classes := v.config.Admin.StorageV1().StorageClasses()
	for _, own := range all {
		if own.Name != Class {
			continue
		}
		v.made = true
		if !other || !marked(own) || !isDefault(own) {
			return nil
		}
		yielding := own.DeepCopy()
		delete(yielding.Annotations, defaultClass)
		if _, err := classes.Update(ctx, yielding, metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("giving way to another default StorageClass: %w", err)
		}
		return nil
	}
	if v.made {
		return nil // somebody has deleted it
	}
	if _, err = classes.Create(ctx, class(!other), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making StorageClass %s: %w", Class, err)
	}
	v.made = true
	return nil
}

// marked says that a class was made here.
func marked(class *storagev1.StorageClass) bool {
	return class.Labels[Label] == "true" && class.Provisioner == Provisioner
}

func isDefault(class *storagev1.StorageClass) bool {
	return class.Annotations[defaultClass] == "true" || class.Annotations[betaDefaultClass] == "true"
}

func class(isDefault bool) *storagev1.StorageClass {
	policy, mode := corev1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingImmediate
	c := &storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: Class, Labels: map[string]string{Label: "true"}},
		Provisioner:          Provisioner,
		ReclaimPolicy:        &policy,
		VolumeBindingMode:    &mode,
		AllowVolumeExpansion: new(true),
	}
	if isDefault {
		c.Annotations = map[string]string{defaultClass: "true"}
	}
	return c
}

// RemoveClass deletes the StorageClass of an earlier start, for a server without fake
// volumes: claims would wait for them. Volumes that are there stay. client needs full
// rights.
func RemoveClass(ctx context.Context, client kubernetes.Interface) error {
	found, err := client.StorageV1().StorageClasses().Get(ctx, Class, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && !marked(found) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for the StorageClass of an earlier start: %w", err)
	}
	err = client.StorageV1().StorageClasses().Delete(ctx, Class, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(found.UID))})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting the StorageClass of an earlier start: %w", err)
	}
	return nil
}
