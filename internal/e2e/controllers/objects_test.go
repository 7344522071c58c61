package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// newNamespace makes a namespace of the test's own.
func newNamespace(t testing.TB, client kubernetes.Interface) string {
	t.Helper()
	ns, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// newHome is newNamespace, in which pods can be created already.
func newHome(t testing.TB, client kubernetes.Interface) string {
	t.Helper()
	namespace := newNamespace(t, client)
	eventually(t, func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return namespace
}

func dynamicClient(t testing.TB, server *kapitest.Server) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(server.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// object reads one object from YAML.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(text), &o.Object); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return o
}

// apply creates the objects of a YAML stream, in a namespace unless they name
// another or have none, and returns the last of them.
func apply(t testing.TB, server *kapitest.Server, namespace, stream string) *unstructured.Unstructured {
	t.Helper()
	client := dynamicClient(t, server)
	var last *unstructured.Unstructured
	for text := range strings.SplitSeq(stream, "\n---\n") {
		o := object(t, text)
		var err error
		if last, err = resourceOf(client, o, namespace).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatalf("creating %s: %v", o.GetKind(), err)
		}
	}
	return last
}

// resourceOf is where objects such as o are created. Its resource is guessed from
// its kind, which holds for all kinds used here.
func resourceOf(client dynamic.Interface, o *unstructured.Unstructured, namespace string) dynamic.ResourceInterface {
	plural, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	if o.GetNamespace() != "" {
		namespace = o.GetNamespace()
	}
	if namespace == "" || clusterScoped[o.GetKind()] {
		return client.Resource(plural)
	}
	return client.Resource(plural).Namespace(namespace)
}

var clusterScoped = map[string]bool{
	"ClusterRole": true, "PersistentVolume": true, "VolumeAttributesClass": true, "ServiceCIDR": true,
	"ValidatingAdmissionPolicy": true, "StorageVersionMigration": true, "APIService": true,
	"Node": true, "StorageClass": true, "DeviceClass": true, "ResourceSlice": true,
	"ValidatingWebhookConfiguration": true,
}

// into converts what a dynamic client has returned.
func into[T any](t testing.TB, o *unstructured.Unstructured) *T {
	t.Helper()
	target := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, target); err != nil {
		t.Fatal(err)
	}
	return target
}

// gone waits until an object is not found.
func gone(t testing.TB, resource dynamic.ResourceInterface, name string) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		o, err := resource.Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("%s %s is there; deleted: %v, finalizers %v, status %v",
				o.GetKind(), name, o.GetDeletionTimestamp(), o.GetFinalizers(), o.Object["status"])
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	})
}

// release takes all finalizers off an object.
func release(ctx context.Context, resource dynamic.ResourceInterface, name string) error {
	_, err := resource.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	return err
}

// define installs a definition of a namespaced kind in a group, whose objects
// may hold anything, and returns when they can be made.
func define(t testing.TB, server *kapitest.Server, group, kind string) schema.GroupVersionResource {
	t.Helper()
	client, plural := dynamicClient(t, server), strings.ToLower(kind)+"s"
	crd := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		t.Fatal(err)
	}
	definitions := client.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	if _, err := definitions.Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	resource := schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural}
	eventually(t, func(ctx context.Context) error {
		probe := custom(resource, kind, "probe")
		_, err := client.Resource(resource).Namespace("default").Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
	return resource
}

// custom is an object of what define has defined.
func custom(resource schema.GroupVersionResource, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(resource.GroupVersion().String())
	o.SetKind(kind)
	o.SetName(name)
	return o
}

// configMap is the smallest object there is.
func configMap(name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}
}

// pod is one that never runs.
func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.test/c:1"}}},
	}
}

var apiServiceResource = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
