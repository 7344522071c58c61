package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// builtIn are objects of kinds that need nothing to run; %s is their name.
var builtIn = []string{
	"{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}",
	"{apiVersion: v1, kind: Secret, metadata: {name: %s}}",
	"{apiVersion: v1, kind: ServiceAccount, metadata: {name: %s}}",
	"{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {clusterIP: None, ports: [{port: 80}]}}",
	"{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: [{name: c, image: example.test/c}]}}",
	"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s}, spec: {storageClassName: '', accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
	"{apiVersion: v1, kind: LimitRange, metadata: {name: %s}, spec: {limits: []}}",
	"{apiVersion: v1, kind: ResourceQuota, metadata: {name: %s}, spec: {hard: {services.nodeports: '9'}}}",
	"{apiVersion: v1, kind: PodTemplate, metadata: {name: %s}, template: {spec: {containers: [{name: c, image: example.test/c}]}}}",
	"{apiVersion: apps/v1, kind: Deployment, metadata: {name: %[1]s}, spec: {selector: {matchLabels: {a: %[1]s}}, template: {metadata: {labels: {a: %[1]s}}, spec: {containers: [{name: c, image: example.test/c}]}}}}",
	"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: %[1]s}, spec: {selector: {matchLabels: {a: %[1]s}}, template: {metadata: {labels: {a: %[1]s}}, spec: {containers: [{name: c, image: example.test/c}]}}}}",
	"{apiVersion: batch/v1, kind: Job, metadata: {name: %s}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: example.test/c}]}}}}",
	"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s}, spec: {minAvailable: 1}}",
	"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: %s}, spec: {podSelector: {}}}",
	"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: %s}, spec: {defaultBackend: {service: {name: a, port: {number: 1}}}}}",
	"{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: %s}}",
	"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: %s}, rules: []}",
}

// What is put into the namespace.
const (
	kinds  = 20
	ofEach = 25
	hold   = "e2e.test/hold"
)

// TestNamespaceEnds deletes a namespace with 500 objects of 20 kinds. Those with a
// finalizer keep it, and its conditions say so.
func TestNamespaceEnds(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	client, dyn := server.Client(t), dynamicClient(t, server)
	namespace := newHome(t, client)
	var held dynamic.ResourceInterface
	for i := range kinds {
		if i < len(builtIn) {
			continue
		}
		kind := fmt.Sprintf("Ends%c", 'a'+i-len(builtIn))
		resource := define(t, server, "ends.e2e.test", kind)
		held = dyn.Resource(resource).Namespace(namespace)
		last := i == kinds-1
		if err := sideBySide(ofEach, func(n int) error {
			o := custom(resource, kind, fmt.Sprintf("n%d", n))
			if last {
				o.SetFinalizers([]string{hold})
			}
			_, err := dyn.Resource(resource).Namespace(namespace).Create(t.Context(), o, metav1.CreateOptions{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range builtIn {
		if err := sideBySide(ofEach, func(n int) error {
			o := object(t, fmt.Sprintf(text, fmt.Sprintf("n%d", n)))
			_, err := resourceOf(dyn, o, namespace).Create(t.Context(), o, metav1.CreateOptions{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}

	begun := time.Now()
	deleteNamespace(t, client, namespace)
	eventually(t, func(ctx context.Context) error {
		if err := terminating(ctx, client, namespace, corev1.NamespaceFinalizersRemaining, hold); err != nil {
			return err
		}
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d pods are left", len(pods.Items))
		}
		return err
	})
	t.Logf("all but what has finalizers was gone after %s", time.Since(begun).Round(time.Millisecond))
	begun = time.Now()
	if err := sideBySide(ofEach, func(n int) error { return release(t.Context(), held, fmt.Sprintf("n%d", n)) }); err != nil {
		t.Fatal(err)
	}
	awaitNoNamespace(t, client, namespace)
	t.Logf("the namespace was gone %s after its finalizers", time.Since(begun).Round(time.Millisecond))

	// Nothing of it shows up in the next one of that name.
	again := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), again, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if left, err := held.List(t.Context(), metav1.ListOptions{}); err != nil || len(left.Items) > 0 {
		t.Errorf("in the next namespace of that name: %v, %v", left, err)
	}
}

// TestNamespaceOfDeadAPIService has an aggregated server that nobody reaches: no
// namespace ends, as there may be something left in it, and whoever looks is told.
func TestNamespaceOfDeadAPIService(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t)
	client := server.Client(t)
	apply(t, server, "default", `
apiVersion: v1
kind: Service
metadata: {name: nobody}
spec: {ports: [{port: 443}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.dead.e2e.test}
spec:
  {group: dead.e2e.test, version: v1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
   service: {namespace: default, name: nobody}}`)
	apiServices := dynamicClient(t, server).Resource(apiServiceResource)
	await(t, "the APIService is not available", func(ctx context.Context) bool {
		o, err := apiServices.Get(ctx, "v1.dead.e2e.test", metav1.GetOptions{})
		return err == nil && strings.Contains(fmt.Sprint(o.Object["status"]), "Available")
	})
	namespace := newHome(t, client)
	deleteNamespace(t, client, namespace)
	eventually(t, func(ctx context.Context) error {
		return terminating(ctx, client, namespace, corev1.NamespaceDeletionDiscoveryFailure, "dead.e2e.test")
	})

	for _, question := range [][]string{
		{"inspect"},
		{"inspect", "transitions"},
	} {
		eventually(t, func(context.Context) error {
			out, stderr, err := server.Try(t, "", question...)
			if err != nil {
				return fmt.Errorf("%w: %s", err, stderr)
			}
			if !strings.Contains(out, namespace) || !strings.Contains(out, "dead.e2e.test") {
				return fmt.Errorf("kapi %v names no namespace %s and no group dead.e2e.test:\n%s", question, namespace, out)
			}
			return nil
		})
	}
	eventually(t, func(ctx context.Context) error {
		list, err := dynamicClient(t, server).Resource(v1alpha1.SchemeGroupVersion.WithResource("conditiontransitions")).
			List(ctx, metav1.ListOptions{FieldSelector: "spec.object.kind=Namespace,spec.object.name=" + namespace})
		if err != nil {
			return err
		}
		for _, item := range list.Items {
			one := into[v1alpha1.ConditionTransition](t, &item)
			if one.Spec.Type == string(corev1.NamespaceDeletionDiscoveryFailure) && one.Spec.To == "True" {
				return nil
			}
		}
		return fmt.Errorf("no transition of namespace %s says that discovery fails: %v", namespace, list.Items)
	})

	if err := apiServices.Delete(t.Context(), "v1.dead.e2e.test", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	awaitNoNamespace(t, client, namespace)
	t.Logf("the namespace was gone %s after the APIService", time.Since(begun).Round(time.Millisecond))
	eventually(t, func(context.Context) error {
		if out := server.Run(t, "inspect"); strings.Contains(out, namespace) {
			return fmt.Errorf("the namespace is gone, and still a problem:\n%s", out)
		}
		return nil
	})
}

func deleteNamespace(t testing.TB, client kubernetes.Interface, namespace string) {
	t.Helper()
	if err := client.CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// terminating returns nil for a namespace that is terminating and has a condition
// whose message names something.
func terminating(ctx context.Context, client kubernetes.Interface, namespace string, condition corev1.NamespaceConditionType, names string) error {
	current, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if current.Status.Phase != corev1.NamespaceTerminating || !slices.ContainsFunc(current.Status.Conditions, func(c corev1.NamespaceCondition) bool {
		return c.Type == condition && c.Status == corev1.ConditionTrue && strings.Contains(c.Message, names)
	}) {
		return fmt.Errorf("namespace %s is %s; want %s to name %s: %+v", namespace, current.Status.Phase, condition, names, current.Status.Conditions)
	}
	return nil
}

func awaitNoNamespace(t testing.TB, client kubernetes.Interface, namespace string) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		current, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("namespace %s is there: %+v", namespace, current.Status)
	})
}
