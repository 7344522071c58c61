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

// defaultClass marks a class that claims without one get.
// Source: IsDefaultStorageClassAnnotation of k8s.io/kubernetes/pkg/volume/util.
const defaultClass = "storageclass.kubernetes.io/is-default-class"

// makeClass makes the class. One that is there is somebody's, who may have changed
// it, or that of an earlier start.
func (v *Volumes) makeClass(ctx context.Context) error {
	if _, err := v.classes.Get(Class); err == nil {
		return nil
	}
	others, err := v.classes.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("looking for a default StorageClass: %w", err)
	}
	_, err = v.config.Admin.StorageV1().StorageClasses().Create(ctx, class(!slices.ContainsFunc(others, isDefault)), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making StorageClass %s: %w", Class, err)
	}
	return nil
}

func isDefault(class *storagev1.StorageClass) bool {
	return class.Annotations[defaultClass] == "true"
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
	found, err := client.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{LabelSelector: Label + "=true"})
	if err != nil {
		return fmt.Errorf("looking for the StorageClass of an earlier start: %w", err)
	}
	for _, class := range found.Items {
		if class.Name != Class || class.Provisioner != Provisioner {
			continue
		}
		if err := client.StorageV1().StorageClasses().Delete(ctx, class.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting the StorageClass of an earlier start: %w", err)
		}
	}
	return nil
}
