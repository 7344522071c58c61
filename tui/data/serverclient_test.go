package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/foreign"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

const (
	coreDiscovery = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{},"versions":[{"version":"v1","resources":[
		{"resource":"configmaps","responseKind":{"version":"v1","kind":"ConfigMap"},"scope":"Namespaced","singularResource":"configmap","shortNames":["cm"],"verbs":["get","list","watch"]},
		{"resource":"namespaces","responseKind":{"version":"v1","kind":"Namespace"},"scope":"Cluster","singularResource":"namespace","verbs":["get"],"subresources":[{"subresource":"status","responseKind":{"version":"v1","kind":"Namespace"},"verbs":["get"]}]}]}]}]}`
	groupDiscovery = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
		{"metadata":{"name":"example.com"},"versions":[
			{"version":"v1","resources":[{"resource":"widgets","responseKind":{"group":"example.com","version":"v1","kind":"Widget"},"scope":"Namespaced","singularResource":"widget","verbs":["list"]}]},
			{"version":"v1beta1","resources":[{"resource":"widgets","responseKind":{"group":"example.com","version":"v1beta1","kind":"Widget"},"scope":"Namespaced","singularResource":"widget","verbs":["list"]}]}]},
		{"metadata":{"name":"away.example.com"},"versions":[{"version":"v1","freshness":"Stale"}]},
		{"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[{"resource":"deployments","responseKind":{"group":"apps","version":"v1","kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment","verbs":["list"]}]}]}]}`
)

func answerDiscovery(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	fmt.Fprint(w, body)
}

// everything is a server that would do whatever it is told.
func everything(t *testing.T) *api {
	return serve(t, map[string]http.HandlerFunc{
		"/api":     func(w http.ResponseWriter, _ *http.Request) { answerDiscovery(w, coreDiscovery) },
		"/apis":    func(w http.ResponseWriter, _ *http.Request) { answerDiscovery(w, groupDiscovery) },
		"/version": says(`{"gitVersion":"v1.37.2"}`),
		"/api/v1/namespaces/default/configmaps/a": says(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default"},"data":{"x":"y"}}`),
		"/api/v1/namespaces/default/events":       says(`{"kind":"EventList","apiVersion":"v1","items":[]}`),
		"/api/v1/pods":                            says(`{"kind":"PodList","apiVersion":"v1","items":[]}`),
		"/api/v1/pods?watch=1": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	})
}

func client(t *testing.T, a *api, readOnly bool) Client {
	t.Helper()
	server, err := foreign.New(a.config())
	if err != nil {
		t.Fatal(err)
	}
	return NewClient(ClientOptions{Server: server, Config: a.config(), ReadOnly: readOnly, Explain: func(err error) error {
		return fault.WithHint(err, "explained")
	}})
}

func TestResources(t *testing.T) {
	a := everything(t)
	c := client(t, a, true)
	resources, err := c.Resources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := make([]string, 0, len(resources))
	for _, one := range resources {
		got = append(got, one.String())
	}
	want := []string{"/v1, Resource=configmaps", "/v1, Resource=namespaces", "example.com/v1, Resource=widgets", "apps/v1, Resource=deployments", "example.com/v1beta1, Resource=widgets"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: a server that is away is no reason to hide the others", got, want)
	}
	if one := resources[0]; one.Kind != "ConfigMap" || one.Singular != "configmap" || !slices.Equal(one.ShortNames, []string{"cm"}) || !one.Namespaced || len(one.Verbs) != 3 {
		t.Errorf("got %+v", one)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Resources(ended); err == nil {
		t.Error("what was not complete is believed")
	}
}

// What is complete is not asked for again for a while.
func TestResourcesAreRemembered(t *testing.T) {
	a := serve(t, map[string]http.HandlerFunc{
		"/api": func(w http.ResponseWriter, _ *http.Request) { answerDiscovery(w, coreDiscovery) },
		"/apis": func(w http.ResponseWriter, _ *http.Request) {
			answerDiscovery(w, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[]}`)
		},
	})
	c := client(t, a, true)
	for range 3 {
		if resources, err := c.Resources(t.Context()); err != nil || len(resources) != 2 {
			t.Fatalf("got %+v, %v", resources, err)
		}
	}
	if n := a.sent(func(r *http.Request) bool { return r.URL.Path == "/api" }); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestGetAndDescribe(t *testing.T) {
	c := client(t, everything(t), true)
	object, err := c.Get(t.Context(), configMaps, "default", "a")
	if err != nil || object.GetName() != "a" {
		t.Errorf("got %+v, %v", object, err)
	}
	if _, err := c.Get(t.Context(), configMaps, "default", "none"); !apierrors.IsNotFound(err) || fault.Hint(err) != "explained" {
		t.Errorf("got %v", err)
	}
	text, err := c.Describe(t.Context(), configMaps, "default", "a")
	if err != nil || !strings.Contains(text, "x:") {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := c.Describe(t.Context(), schema.GroupVersionResource{Version: "v1", Resource: "nothings"}, "", "a"); fault.Code(err) != fault.CodeUsage {
		t.Errorf("got %v", err)
	}
}

// A server that is not kapi says so.
func TestStoredElsewhere(t *testing.T) {
	_, err := client(t, everything(t), true).Stored(t.Context(), v1alpha1.StoredKeyQuerySpec{})
	if !strings.Contains(fault.Hint(err), "only kapi serves storedkeyqueries") {
		t.Errorf("got %v, hint %q", err, fault.Hint(err))
	}
}

func TestSend(t *testing.T) {
	a := everything(t)
	c := client(t, a, false)
	trace, err := c.Send(t.Context(), v1alpha1.RouteExplanationSpec{Verb: "list", Path: "/api/v1/pods?limit=1", User: "jane", Groups: []string{"dev"}})
	if err != nil || trace.Status.Code != http.StatusOK || trace.Spec.Method != http.MethodGet || trace.Spec.Verb != "list" || trace.Status.BytesWritten == 0 {
		t.Errorf("got %+v, %v", trace, err)
	}
	n := a.sent(func(r *http.Request) bool {
		return r.URL.Query().Get("limit") == "1" && r.Header.Get("Impersonate-User") == "jane" && r.Header.Get("Audit-ID") == trace.Spec.AuditID
	})
	if n != 1 {
		t.Errorf("sent %d times", n)
	}
	trace, err = c.Send(t.Context(), v1alpha1.RouteExplanationSpec{Verb: "watch", Path: "/api/v1/pods"})
	if err != nil || trace.Status.Duration.Duration < watchTime {
		t.Errorf("got %+v, %v: a watch is left running for a moment", trace, err)
	}
	for verb, path := range map[string]string{
		"create": "/api/v1/pods", "delete": "/api/v1/pods/a", "patch": "/api/v1/pods/a", "PUT": "/api/v1/pods/a", "deletecollection": "/api/v1/pods", "": "/api",
		"get": "//evil.example.com/x", "GET": "api/v1/pods", "HEAD": "http://evil.example.com/", "list": "/api/v1/namespaces/default/pods/a/proxy/quit",
	} {
		before := a.sent(func(*http.Request) bool { return true })
		if _, err := c.Send(t.Context(), v1alpha1.RouteExplanationSpec{Verb: verb, Path: path}); fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s %s: %v, want that it is refused", verb, path, err)
		}
		if a.sent(func(*http.Request) bool { return true }) != before {
			t.Errorf("%s %s was sent", verb, path)
		}
	}
}

// Nothing that changes something leaves a client that is read-only.
func TestReadOnly(t *testing.T) {
	a := everything(t)
	c := client(t, a, true)
	if err := c.Delete(t.Context(), configMaps, "default", "a", ""); fault.Code(err) != fault.CodeUsage || !strings.Contains(fault.Hint(err), "--allow-changes") {
		t.Errorf("got %v, hint %q", err, fault.Hint(err))
	}
	http1, err := rest.HTTPClientFor(ReadOnly(a.config()))
	if err != nil {
		t.Fatal(err)
	}
	for request, allowed := range map[string]bool{
		"GET /api/v1/pods":  true,
		"HEAD /api/v1/pods": true,
		"OPTIONS /api":      true,
		"POST /apis/inspect.kapi.dev/v1alpha1/routeexplanations":                           true,
		"POST /apis/inspect.kapi.dev/v1alpha1/storedkeyqueries":                            true,
		"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews":                      true,
		"POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews":                       true,
		"POST /apis/authorization.k8s.io/v1/subjectaccessreviews":                          true,
		"POST /apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews":  true,
		"POST /apis/authentication.k8s.io/v1/selfsubjectreviews":                           true,
		"POST /apis/authentication.k8s.io/v1/tokenreviews":                                 false,
		"POST /apis/inspect.kapi.dev/v1alpha1/others":                                      false,
		"POST /api/v1/namespaces/default/pods":                                             false,
		"POST /api/v1/namespaces/default/serviceaccounts/a/token":                          false,
		"POST /apis/x.example.com/v1/apis/inspect.kapi.dev/v1alpha1/routeexplanationsplus": false,
		"PUT /api/v1/namespaces/default/pods/a":                                            false,
		"PATCH /api/v1/namespaces/default/pods/a":                                          false,
		"DELETE /api/v1/namespaces/default/pods/a":                                         false,
		"CONNECT /api/v1/namespaces/default/pods/a/exec":                                   false,
		"get /api/v1/pods":                                           false,
		"GET /api/v1/namespaces/default/pods/a/exec":                 false,
		"GET /api/v1/namespaces/default/pods/a/proxy":                false,
		"GET /api/v1/namespaces/default/services/a/proxy/delete-all": false,
		"GET /api/v1/nodes/a/proxy/run":                              false,
		"GET /api/v1/namespaces/default/pods/proxy":                  true,
		"GET /api/v1/namespaces/default/pods/a/log":                  true,
	} {
		method, path, _ := strings.Cut(request, " ")
		before := a.sent(func(*http.Request) bool { return true })
		asked, err := http.NewRequestWithContext(t.Context(), method, a.URL+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http1.Do(asked)
		if err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		} else if fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s: %v", request, err)
		}
		if arrived := a.sent(func(*http.Request) bool { return true }) > before; arrived != allowed {
			t.Errorf("%s has arrived: %v, want %v", request, arrived, allowed)
		}
	}
	if n := a.sent(func(r *http.Request) bool {
		return r.Method == http.MethodDelete || r.Method == http.MethodPut || r.Method == http.MethodPatch
	}); n != 0 {
		t.Errorf("%d changes have arrived", n)
	}
}

// Where changes are allowed, what belongs to an object goes with it.
func TestDelete(t *testing.T) {
	var body string
	a := serve(t, map[string]http.HandlerFunc{"/api/v1/namespaces/default/configmaps/a": func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			raw, _ := io.ReadAll(r.Body)
			body = string(raw)
		}
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
	}})
	if err := client(t, a, false).Delete(t.Context(), configMaps, "default", "a", ""); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(body, `"propagationPolicy":"Background"`) {
		t.Errorf("sent %s", body)
	}
}

// Of a recording everything but the server itself says that it is one.
func TestRecordingClient(t *testing.T) {
	server, err := recorded.Open(snapshotIn(t, filepath.Join("..", "..", "internal", "client", "inspection", "recorded", "testdata")))
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(ClientOptions{Server: server})
	if c.Server() != inspection.Server(server) {
		t.Error("it has another server")
	}
	ctx := t.Context()
	for name, ask := range map[string]func() error{
		"resources": func() error { _, err := c.Resources(ctx); return err },
		"get":       func() error { _, err := c.Get(ctx, configMaps, "", "a"); return err },
		"describe":  func() error { _, err := c.Describe(ctx, configMaps, "", "a"); return err },
		"stored":    func() error { _, err := c.Stored(ctx, v1alpha1.StoredKeyQuerySpec{}); return err },
		"explain":   func() error { _, err := c.Explain(ctx, v1alpha1.RouteExplanationSpec{}); return err },
		"send":      func() error { _, err := c.Send(ctx, v1alpha1.RouteExplanationSpec{Verb: "get", Path: "/"}); return err },
		"delete":    func() error { return c.Delete(ctx, configMaps, "", "a", "") },
	} {
		if err := ask(); fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), "recording") || fault.Hint(err) == "" {
			t.Errorf("%s: %v, hint %q", name, err, fault.Hint(err))
		}
	}
	if _, err := NewClient(ClientOptions{Server: server, Config: &rest.Config{Host: "::"}}).Resources(ctx); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("got %v of an address that is none", err)
	}
}
