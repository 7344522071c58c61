package chain_test

import (
	"io"
	"net/http"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/chain"
	"github.com/kapi-dev/kapi/internal/inspect/requests"
)

func TestLayersOutermostFirst(t *testing.T) {
	want := []string{chain.LayerAggregator, chain.LayerKubeAPIServer, chain.LayerInspect, chain.LayerAPIExtensions}
	var got []string
	for _, layer := range serve(t).chain.Layers {
		got = append(got, layer.Name)
		if layer.Server == nil {
			t.Errorf("layer %s has no server", layer.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("layers are %v, want %v", got, want)
	}
}

// A request goes as far as the layer that answers it.
func TestHops(t *testing.T) {
	f := serve(t)
	transport, err := rest.HTTPClientFor(f.config)
	if err != nil {
		t.Fatal(err)
	}
	first, kube, lid, extensions, none := chain.LayerAggregator, chain.LayerKubeAPIServer, chain.LayerInspect, chain.LayerAPIExtensions, chain.LayerNotFound
	for _, test := range []struct {
		path   string
		status int
		hops   []string
	}{
		{"/apis/apiregistration.k8s.io/v1/apiservices/v1.apps", 200, []string{first}},
		{"/api/v1/namespaces/hop-kube", 404, []string{first, kube}},
		{"/apis/apps/v1/namespaces/hop/deployments", 200, []string{first, kube}},
		{"/apis/inspect.kapi.dev/v1alpha1/filters", 200, []string{first, kube, lid}},
		{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", 200, []string{first, kube, lid, extensions}},
		{"/apis/hop.example.com/v1/things", 404, []string{first, kube, lid, extensions, none}},
		{"/hop-nowhere", 404, []string{first, kube, lid, extensions, none}},
	} {
		t.Run(test.path, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.config.Host+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := transport.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if _, err := io.Copy(io.Discard, response.Body); err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != test.status {
				t.Errorf("status is %d, want %d", response.StatusCode, test.status)
			}
			if got := f.hops(t, response.Header.Get("Audit-Id")); !slices.Equal(got, test.hops) {
				t.Errorf("hops are %v, want %v", got, test.hops)
			}
		})
	}
}

// hops returns the layers that a request has come through, from its trace.
func (f *fixture) hops(t *testing.T, auditID string) []string {
	t.Helper()
	client, err := dynamic.NewForConfig(f.config)
	if err != nil {
		t.Fatal(err)
	}
	traces := client.Resource(v1alpha1.SchemeGroupVersion.WithResource("requesttraces"))
	list, err := traces.List(t.Context(), metav1.ListOptions{FieldSelector: "spec.auditID=" + auditID, LabelSelector: requests.LabelInspect + "!=none"})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%d traces of request %s: %v", len(list.Items), auditID, err)
	}
	var trace v1alpha1.RequestTrace
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[0].Object, &trace); err != nil {
		t.Fatal(err)
	}
	var layers []string
	for _, hop := range trace.Status.Hops {
		layers = append(layers, hop.Layer)
	}
	return layers
}

func TestVersionIsThatOfTheModule(t *testing.T) {
	info, err := serve(t).client(t).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if info.GitVersion != "v1.37.2" || info.Major != "1" || info.Minor != "37" {
		t.Errorf("version is %s (%s.%s), want v1.37.2 (1.37)", info.GitVersion, info.Major, info.Minor)
	}
}

// Our hooks leave what upstream's policy says, no more and no less.
func TestBootstrapRolesAreUpstreams(t *testing.T) {
	rbac := serve(t).client(t).RbacV1()
	for _, want := range slices.Concat(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()) {
		got, err := rbac.ClusterRoles().Get(t.Context(), want.Name, metav1.GetOptions{})
		if err != nil {
			t.Errorf("clusterrole %s: %v", want.Name, err)
			continue
		}
		// The rules of an aggregated role are a controller's to fill in.
		if want.AggregationRule == nil && !equality.Semantic.DeepEqual(got.Rules, want.Rules) {
			t.Errorf("clusterrole %s has rules %v, want %v", want.Name, got.Rules, want.Rules)
		}
	}
	for _, want := range slices.Concat(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()) {
		got, err := rbac.ClusterRoleBindings().Get(t.Context(), want.Name, metav1.GetOptions{})
		if err != nil {
			t.Errorf("clusterrolebinding %s: %v", want.Name, err)
		} else if !equality.Semantic.DeepEqual(got.Subjects, want.Subjects) || got.RoleRef != want.RoleRef {
			t.Errorf("clusterrolebinding %s is %v -> %v, want %v -> %v", want.Name, got.Subjects, got.RoleRef, want.Subjects, want.RoleRef)
		}
	}
	for namespace, roles := range bootstrappolicy.NamespaceRoles() {
		for _, want := range roles {
			if _, err := rbac.Roles(namespace).Get(t.Context(), want.Name, metav1.GetOptions{}); err != nil {
				t.Errorf("role %s/%s: %v", namespace, want.Name, err)
			}
		}
	}
	for namespace, bindings := range bootstrappolicy.NamespaceRoleBindings() {
		for _, want := range bindings {
			if _, err := rbac.RoleBindings(namespace).Get(t.Context(), want.Name, metav1.GetOptions{}); err != nil {
				t.Errorf("rolebinding %s/%s: %v", namespace, want.Name, err)
			}
		}
	}
}

func TestSystemPriorityClasses(t *testing.T) {
	for _, name := range []string{"system-cluster-critical", "system-node-critical"} {
		if _, err := serve(t).client(t).SchedulingV1().PriorityClasses().Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// A Service that nobody but the server itself made: clients look for it.
func TestKubernetesServiceExists(t *testing.T) {
	service, err := serve(t).client(t).CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if service.Spec.ClusterIP != "10.0.0.1" {
		t.Errorf("cluster IP is %s, want 10.0.0.1", service.Spec.ClusterIP)
	}
}

func TestUnknownResourceIsNotFound(t *testing.T) {
	_, err := serve(t).client(t).CoreV1().Namespaces().Get(t.Context(), "chain-unknown", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("error is %v, want not found", err)
	}
}
