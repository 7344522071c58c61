package controllers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

var (
	serviceCIDRs = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "servicecidrs"}
	migrations   = schema.GroupVersionResource{Group: "storagemigration.k8s.io", Version: "v1", Resource: "storageversionmigrations"}
	definitions  = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
)

// TestPolicyTypes: an expression with a wrong type is warned of, in built-in and in
// custom resources; a right one is not.
func TestPolicyTypes(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	policies := server.Client(t).AdmissionregistrationV1().ValidatingAdmissionPolicies()
	const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {generateName: e2e-}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  validations: [{expression: "%s"}]`
	awaitChecked := func(name string) *admissionregistrationv1.ValidatingAdmissionPolicy {
		t.Helper()
		var current *admissionregistrationv1.ValidatingAdmissionPolicy
		eventually(t, func(ctx context.Context) (err error) {
			if current, err = policies.Get(ctx, name, metav1.GetOptions{}); err == nil && current.Status.TypeChecking == nil {
				err = fmt.Errorf("policy %s has not been checked", name)
			}
			return err
		})
		return current
	}
	wrong := apply(t, server, "", fmt.Sprintf(policy, "object.replicas > 1"))
	right := apply(t, server, "", fmt.Sprintf(policy, "object.spec.replicas > 1"))
	warnings := awaitChecked(wrong.GetName()).Status.TypeChecking.ExpressionWarnings
	if len(warnings) != 1 || !strings.Contains(warnings[0].Warning, "undefined field 'replicas'") || warnings[0].FieldRef != "spec.validations[0].expression" {
		t.Errorf("a wrong expression: %+v", warnings)
	}
	if warnings := awaitChecked(right.GetName()).Status.TypeChecking.ExpressionWarnings; len(warnings) > 0 {
		t.Errorf("a right expression: %+v", warnings)
	}
}

// TestTrustBundle: the authority of the serving certificate is published.
func TestTrustBundle(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	client := server.Client(t)
	var bundles *certificatesv1.ClusterTrustBundleList
	eventually(t, func(ctx context.Context) (err error) {
		bundles, err = client.CertificatesV1().ClusterTrustBundles().List(ctx, metav1.ListOptions{FieldSelector: "spec.signerName=kubernetes.io/kube-apiserver-serving"})
		if err == nil && len(bundles.Items) != 1 {
			err = fmt.Errorf("%d bundles", len(bundles.Items))
		}
		return err
	})
	handshake(t, server, []byte(bundles.Items[0].Spec.TrustBundle))
}

// TestStorageMigration: objects of a definition are written anew in its next
// storage version, when somebody asks for it.
func TestStorageMigration(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	dyn := dynamicClient(t, server)
	namespace := newNamespace(t, server.Client(t))
	const group = "migrated.e2e.test"
	resource := define(t, server, group, "Thing")
	const objects = 20
	if err := sideBySide(objects, func(n int) error {
		_, err := dyn.Resource(resource).Namespace(namespace).Create(t.Context(), custom(resource, "Thing", fmt.Sprintf("n%d", n)), metav1.CreateOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	prefix := "/registry/" + group + "/things/" + namespace + "/"
	if got := storedVersions(t, server, prefix); len(got) != objects || slices.ContainsFunc(got, func(v string) bool { return v != group+"/v1" }) {
		t.Fatalf("before: %v", got)
	}
	schemas := map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": []any{
		map[string]any{"name": "v1", "served": true, "storage": false, "schema": schemas},
		map[string]any{"name": "v2", "served": true, "storage": true, "schema": schemas},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dyn.Resource(definitions).Patch(t.Context(), "things."+group, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	next := schema.GroupVersionResource{Group: group, Version: "v2", Resource: "things"}
	eventually(t, func(ctx context.Context) error {
		_, err := dyn.Resource(next).List(ctx, metav1.ListOptions{})
		return err
	})
	apply(t, server, "", "{apiVersion: storagemigration.k8s.io/v1, kind: StorageVersionMigration, metadata: {name: e2e}, spec: {resource: {group: "+group+", resource: things}}}")
	eventually(t, func(ctx context.Context) error {
		return condition(ctx, dyn.Resource(migrations), "e2e", "Succeeded", "True")
	})
	if got := storedVersions(t, server, prefix); len(got) != objects || slices.ContainsFunc(got, func(v string) bool { return v != group+"/v2" }) {
		t.Errorf("after: %v", got)
	}
	eventually(t, func(ctx context.Context) error {
		crd, err := dyn.Resource(definitions).Get(ctx, "things."+group, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions"); !slices.Equal(got, []string{"v2"}) {
			return fmt.Errorf("status.storedVersions is %v", got)
		}
		return nil
	})
}

// storedVersions are the API versions of the objects below a key of etcd.
func storedVersions(t testing.TB, server *kapitest.Server, prefix string) []string {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{server.EtcdEndpoint()}, DialTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := client.Close(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	answer, err := client.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var versions []string
	for _, pair := range answer.Kvs {
		var stored metav1.TypeMeta
		if err := json.Unmarshal(pair.Value, &stored); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, stored.APIVersion)
	}
	return versions
}
