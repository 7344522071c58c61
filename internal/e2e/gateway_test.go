package e2e_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestGatewayAPI applies all definitions of the Gateway API, and its admission
// policy, from its module; then asks for objects that they allow and refuse.
func TestGatewayAPI(t *testing.T) {
	t.Parallel()
	crds := filepath.Join(moduleDir(t, "sigs.k8s.io/gateway-api"), "config", "crd", "standard")
	server := kapitest.Start(t, "--manifests", crds)

	// Ready means established.
	definitions, err := definitionsClient(t, server).ApiextensionsV1().CustomResourceDefinitions().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(crds, "gateway.networking.*s.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatalf("definitions of the module: %v %q", err, files)
	}
	if policy := 1; len(definitions.Items) != len(files)-policy {
		t.Errorf("%d definitions, from %d files", len(definitions.Items), len(files)-policy)
	}
	for _, crd := range definitions.Items {
		if err := established(&crd); err != nil {
			t.Error(err)
		}
	}

	client := dynamicClient(t, server.Config(t))
	t.Run("objects", func(t *testing.T) { gatewayObjects(t, client) })
	t.Run("update rule", func(t *testing.T) { gatewayClassUpdate(t, client) })
	t.Run("policy", func(t *testing.T) { gatewayPolicy(t, client) })
	t.Run("kubectl", func(t *testing.T) {
		if out := server.Run(t, "kubectl", "explain", "httproute.spec.rules.filters"); !strings.Contains(out, "GROUP:      gateway.networking.k8s.io") {
			t.Error(out)
		}
	})
}

// gatewayObjects creates each object; refusal is a part of the message, empty
// for an object that is fine.
func gatewayObjects(t *testing.T, client dynamic.Interface) {
	tests := []struct{ name, resource, spec, refusal string }{
		{"gateway", "gateways", `{gatewayClassName: c, listeners: [{name: web, protocol: HTTP, port: 80, hostname: a.test}]}`, ""},
		{"gateway with TLS", "gateways", `{gatewayClassName: c, listeners: [{name: web, protocol: HTTPS, port: 443, tls: {certificateRefs: [{name: cert}]}}]}`, ""},
		{"hostname for TCP", "gateways", `{gatewayClassName: c, listeners: [{name: web, protocol: TCP, port: 80, hostname: a.test}]}`, "hostname must not be specified for protocols ['TCP', 'UDP']"},
		{"two listeners of a name", "gateways", `{gatewayClassName: c, listeners: [{name: web, protocol: HTTP, port: 80}, {name: web, protocol: HTTP, port: 81}]}`, "Listener name must be unique within the Gateway"},
		{"two listeners of a port", "gateways", `{gatewayClassName: c, listeners: [{name: one, protocol: HTTP, port: 80}, {name: two, protocol: HTTP, port: 80}]}`, "Combination of port, protocol and hostname must be unique"},
		{"passthrough of HTTPS", "gateways", `{gatewayClassName: c, listeners: [{name: web, protocol: HTTPS, port: 443, tls: {mode: Passthrough}}]}`, "tls mode must be Terminate for protocol HTTPS"},
		{"port 0", "gateways", `{gatewayClassName: c, listeners: [{name: web, protocol: HTTP, port: 0}]}`, "should be greater than or equal to 1"},
		{"no listener's name", "gateways", `{gatewayClassName: c, listeners: [{protocol: HTTP, port: 80}]}`, "spec.listeners[0].name: Required value"},

		{"route", "httproutes", `{rules: [{backendRefs: [{name: s, port: 80}]}]}`, ""},
		{"no port of a service", "httproutes", `{rules: [{backendRefs: [{name: s}]}]}`, "Must have port for Service reference"},
		{"filter twice", "httproutes", `{rules: [{filters: [{type: RequestRedirect, requestRedirect: {statusCode: 301}}, {type: RequestRedirect, requestRedirect: {statusCode: 302}}]}]}`, "RequestRedirect filter cannot be repeated"},
		{"filter without its field", "httproutes", `{rules: [{filters: [{type: RequestMirror}]}]}`, "filter.requestMirror must be specified for RequestMirror filter.type"},
		{"timeouts", "httproutes", `{rules: [{timeouts: {request: 1s, backendRequest: 2s}}]}`, "backendRequest timeout cannot be longer than request timeout"},
		{"no method", "grpcroutes", `{rules: [{matches: [{method: {type: Exact}}]}]}`, "One or both of 'service' or 'method' must be specified"},
		{"address as hostname", "tlsroutes", `{hostnames: [10.0.0.1], rules: [{backendRefs: [{name: s, port: 443}]}]}`, "Hostnames cannot contain an IP"},
		{"grant", "referencegrants", `{from: [{group: "", kind: Secret, namespace: a}], to: [{group: "", kind: Secret}]}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			kinds := map[string]string{"gateways": "Gateway", "httproutes": "HTTPRoute", "grpcroutes": "GRPCRoute", "tlsroutes": "TLSRoute", "referencegrants": "ReferenceGrant"}
			o := object(t, "{apiVersion: gateway.networking.k8s.io/v1, kind: "+kinds[test.resource]+", metadata: {generateName: e2e-}, spec: "+test.spec+"}")
			created, err := client.Resource(schema.GroupVersion(gatewayv1.GroupVersion).WithResource(test.resource)).Namespace("default").Create(t.Context(), o, metav1.CreateOptions{})
			switch {
			case test.refusal != "":
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.refusal) {
					t.Errorf("want refusal %q: %v", test.refusal, err)
				}
			case err != nil:
				t.Error(err)
			case test.resource == "gateways":
				checkGatewayDefaults(t, created)
			}
		})
	}
}

// checkGatewayDefaults reads the object as those do who import the module.
func checkGatewayDefaults(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	gateway := &gatewayv1.Gateway{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, gateway); err != nil {
		t.Fatal(err)
	}
	allowed := gateway.Spec.Listeners[0].AllowedRoutes
	if allowed == nil || allowed.Namespaces == nil || *allowed.Namespaces.From != gatewayv1.NamespacesFromSame {
		t.Errorf("listener's default: %+v", gateway.Spec.Listeners[0])
	}
	if len(gateway.Status.Conditions) != 2 {
		t.Errorf("default of the status: %+v", gateway.Status)
	}
}

// gatewayClassUpdate breaks a rule that compares with the object as it was.
func gatewayClassUpdate(t *testing.T, client dynamic.Interface) {
	classes := client.Resource(schema.GroupVersion(gatewayv1.GroupVersion).WithResource("gatewayclasses"))
	class, err := classes.Create(t.Context(), object(t, `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: c}
spec: {controllerName: e2e.test/one}
`), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(class.Object, "e2e.test/two", "spec", "controllerName"); err != nil {
		t.Fatal(err)
	}
	if _, err := classes.Update(t.Context(), class, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "Value is immutable") {
		t.Errorf("changing the controller: %v", err)
	}
}

// gatewayPolicy asks for what the module's ValidatingAdmissionPolicy forbids. It
// is in force when its informers have seen it, a moment after it was applied.
func gatewayPolicy(t *testing.T, client dynamic.Interface) {
	definitions := client.Resource(definitionResource)
	old, err := definitions.Get(t.Context(), "udproutes.gateway.networking.k8s.io", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	annotations := old.GetAnnotations()
	annotations["gateway.networking.k8s.io/bundle-version"] = "v1.4.0"
	old.SetAnnotations(annotations)
	await(t, "the policy refuses an old bundle", func(ctx context.Context) bool {
		_, err := definitions.Update(ctx, old, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "Installing CRDs with version before v1.5.0 is prohibited")
	})
}
