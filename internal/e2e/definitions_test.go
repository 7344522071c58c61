package e2e_test

import (
	"context"
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

var definitionResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// define creates a definition, and returns when objects of it can be made.
func define(t testing.TB, server *kapitest.Server, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	definitions := definitionsClient(t, server).ApiextensionsV1().CustomResourceDefinitions()
	if _, err := definitions.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		current, err := definitions.Get(ctx, crd.Name, metav1.GetOptions{})
		if err == nil {
			err = established(current)
		}
		return err
	})
	client := dynamicClient(t, server.Config(t))
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		gvr := schema.GroupVersionResource{Group: crd.Spec.Group, Version: version.Name, Resource: crd.Spec.Names.Plural}
		eventually(t, func(ctx context.Context) error {
			_, err := client.Resource(gvr).List(ctx, metav1.ListOptions{})
			return err
		})
	}
}

// established returns nil for a definition whose names are accepted and whose
// resources are served.
func established(crd *apiextensionsv1.CustomResourceDefinition) error {
	for _, c := range crd.Status.Conditions {
		if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("%s is not established: %+v", crd.Name, crd.Status.Conditions)
}

// undefine deletes a definition, and returns when it is gone.
func undefine(t testing.TB, server *kapitest.Server, name string) {
	t.Helper()
	definitions := definitionsClient(t, server).ApiextensionsV1().CustomResourceDefinitions()
	if err := definitions.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, name+" is gone", func(ctx context.Context) bool {
		_, err := definitions.Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}
