package robust

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// crdGroup is the API group of all custom resources here.
const crdGroup = "robust.kapi.dev"

// crdPlural is the resource of the i-th definition.
func crdPlural(i int) string { return fmt.Sprintf("things%d", i) }

func crdName(i int) string { return crdPlural(i) + "." + crdGroup }

func customResource(i int) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: crdGroup, Version: "v1", Resource: crdPlural(i)}
}

type object = map[string]any

// crd is the i-th definition: namespaced, with a schema and a status.
func crd(i int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   object{"name": crdName(i)},
		"spec": object{
			"group": crdGroup, "scope": "Namespaced",
			"names": object{"plural": crdPlural(i), "singular": fmt.Sprintf("thing%d", i), "kind": fmt.Sprintf("Thing%d", i)},
			"versions": []any{object{
				"name": "v1", "served": true, "storage": true,
				"subresources": object{"status": object{}},
				"schema": object{"openAPIV3Schema": object{
					"type": "object",
					"properties": object{
						"spec": object{
							"type":       "object",
							"properties": object{"size": object{"type": "integer", "minimum": int64(1), "default": int64(3)}},
						},
						"status": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
					},
				}},
			}},
		},
	}}
}

// thing is an object of the i-th definition.
func thing(i int, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object{
		"apiVersion": crdGroup + "/v1", "kind": fmt.Sprintf("Thing%d", i),
		"metadata": object{"name": name}, "spec": object{},
	}}
}

// established tells whether a definition has the condition.
func established(definition *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(object)
		if condition["type"] == "Established" && condition["status"] == "True" {
			return true
		}
	}
	return false
}

// awaitCRDs returns when as many definitions of ours as wanted are there and
// Established.
func awaitCRDs(t testing.TB, s *server, client dynamic.Interface, want int) {
	t.Helper()
	var count, ready int
	err := s.await(func() bool {
		list, err := client.Resource(crdResource).List(deadline(t), metav1.ListOptions{})
		must(t, err)
		count, ready = 0, 0
		for i := range list.Items {
			if group, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "group"); group != crdGroup {
				continue
			}
			count++
			if established(&list.Items[i]) {
				ready++
			}
		}
		return count == want && ready == want
	})
	if err != nil {
		t.Fatalf("waiting for %d definitions: %v; %d are there, %d are Established", want, err, count, ready)
	}
}

// createThing creates an object, as soon as its resource is served.
func createThing(t testing.TB, s *server, client dynamic.Interface, i int, name string) {
	t.Helper()
	var last error
	err := s.await(func() bool {
		var made *unstructured.Unstructured
		made, last = client.Resource(customResource(i)).Namespace(namespace).Create(deadline(t), thing(i, name), metav1.CreateOptions{})
		if last == nil {
			if size, _, _ := unstructured.NestedInt64(made.Object, "spec", "size"); size != 3 {
				t.Errorf("the default of the schema is not set: %v", made.Object)
			}
			return true
		}
		if !apierrors.IsNotFound(last) {
			t.Fatalf("creating an object of %s: %v", crdName(i), last)
		}
		return false
	})
	if err != nil {
		t.Fatalf("waiting until %s is served: %v; the last answer: %v", crdName(i), err, last)
	}
}

// deleteCRD deletes a definition, and returns when it is gone with its objects.
func deleteCRD(ctx context.Context, t testing.TB, s *server, client dynamic.Interface, i int) {
	t.Helper()
	must(t, client.Resource(crdResource).Delete(ctx, crdName(i), metav1.DeleteOptions{}))
	err := s.await(func() bool {
		_, err := client.Resource(crdResource).Get(ctx, crdName(i), metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	if err != nil {
		t.Fatalf("waiting until %s is gone: %v", crdName(i), err)
	}
}
