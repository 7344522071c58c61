package route

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	restful "github.com/emicklei/go-restful/v3"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionslisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/union"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/filters"
	"k8s.io/client-go/tools/cache"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationlisters "k8s.io/kube-aggregator/pkg/client/listers/apiregistration/v1"
	rbacvalidation "k8s.io/kubernetes/pkg/registry/rbac/validation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"

	"github.com/kapi-dev/kapi/internal/inspect/auth"
	"github.com/kapi-dev/kapi/internal/inspect/route/routetest"
)

var world = routetest.World{
	Custom:           schema.GroupVersionResource{Group: "stable.example.com", Version: "v1", Resource: "crontabs"},
	CustomNamespaced: true,
	Aggregated:       schema.GroupVersionResource{Group: "wardle.example.com", Version: "v1alpha1", Resource: "flunders"},
}

func resolver() request.RequestInfoResolver {
	return &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
}

// access is upstream's RBAC over the roles of the generator, in a union with the
// privileged groups, as a server has it.
func access(t *testing.T, more ...runtime.Object) (authorizer.Authorizer, *auth.Authorizers) {
	t.Helper()
	var roles []*rbacv1.Role
	var bindings []*rbacv1.RoleBinding
	var clusterRoles []*rbacv1.ClusterRole
	var clusterBindings []*rbacv1.ClusterRoleBinding
	for _, object := range append(routetest.Roles(world), more...) {
		switch one := object.(type) {
		case *rbacv1.RoleBinding:
			bindings = append(bindings, one)
		case *rbacv1.ClusterRole:
			clusterRoles = append(clusterRoles, one)
		case *rbacv1.ClusterRoleBinding:
			clusterBindings = append(clusterBindings, one)
		}
	}
	_, static := rbacvalidation.NewTestRuleResolver(roles, bindings, clusterRoles, clusterBindings)
	all, err := union.New(
		union.NamedAuthorizer{AuthorizerName: "kubernetes.io/system-privileged-group", Authorizer: authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup)},
		union.NamedAuthorizer{AuthorizerName: "rbac", Authorizer: rbac.New(static, static, static, static)},
	)
	if err != nil {
		t.Fatal(err)
	}
	observed := auth.NewAuthorizers(auth.AuthorizersConfig{Configured: func() ([]auth.ConfiguredAuthorizer, error) { return nil, nil }})
	return observed.Wrap(all), observed
}

// server is one layer: upstream's director, container and mux.
type server struct {
	*genericapiserver.APIServerHandler

	layer Layer
}

// answered is what a layer of the fixture answers with.
type answered struct {
	Layer string `json:"layer"`
}

// newServer makes a layer that answers for web services and paths; all else goes to next.
func newServer(name string, next http.Handler, services []*restful.WebService, paths ...string) server {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	handler := genericapiserver.NewAPIServerHandler(name, serializer.NewCodecFactory(scheme),
		func(h http.Handler) http.Handler { return h }, next)
	for _, ws := range services {
		handler.GoRestfulContainer.Add(ws)
	}
	for _, path := range paths {
		if len(path) > 1 && path[len(path)-1] == '/' {
			handler.NonGoRestfulMux.HandlePrefix(path, answers(name))
		} else {
			handler.NonGoRestfulMux.Handle(path, answers(name))
		}
	}
	return server{handler, Layer{
		Name: name, WebServices: handler.GoRestfulContainer.RegisteredWebServices, Paths: handler.NonGoRestfulMux.ListedPaths,
	}}
}

func answers(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(answered{name}) }
}

// resources makes a web service as upstream's installer does for a group version.
func resources(layer, root string, names ...string) *restful.WebService {
	ws := new(restful.WebService).Path(root)
	ws.Consumes("*/*")
	to := func(r *restful.Request, w *restful.Response) { answers(layer)(w.ResponseWriter, r.Request) }
	ws.Route(ws.GET("/").To(to))
	for _, name := range names {
		for _, path := range []string{name, "namespaces/{namespace}/" + name} {
			ws.Route(ws.GET(path).To(to))
			ws.Route(ws.POST(path).To(to))
			ws.Route(ws.DELETE(path).To(to))
			ws.Route(ws.GET(path + "/{name}").To(to))
			ws.Route(ws.PUT(path + "/{name}").To(to))
			ws.Route(ws.PATCH(path+"/{name}").Consumes("application/json-patch+json", "application/merge-patch+json").To(to))
			ws.Route(ws.DELETE(path + "/{name}").To(to))
			ws.Route(ws.GET(path + "/{name}/status").To(to))
			ws.Route(ws.GET(path+"/{name}/exec").Metadata("x-kubernetes-action", "connect").To(to))
			ws.Route(ws.POST(path+"/{name}/exec").Metadata("x-kubernetes-action", "connect").To(to))
		}
	}
	return ws
}

// chain is three layers: the last has no web service but one, and a CRD.
type chain struct {
	handler http.Handler
	layers  []Layer
}

func newChain() chain {
	end := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(answered{layerNotFound})
	})
	inner := newServer("apiextensions", end, []*restful.WebService{
		resources("apiextensions", "/apis/apiextensions.k8s.io/v1", "customresourcedefinitions"),
	})
	inner.layer.CustomResources = apiextensionslisters.NewCustomResourceDefinitionLister(indexer(cronTabs()))
	kube := newServer("kube-apiserver", inner.Director, []*restful.WebService{
		resources("kube-apiserver", "/api"), resources("kube-apiserver", "/apis"), resources("kube-apiserver", "/apis/apps"),
		resources("kube-apiserver", "/api/v1", "namespaces", "nodes", "pods", "configmaps", "secrets"),
		resources("kube-apiserver", "/apis/apps/v1", "deployments"),
	}, "/version", "/logs/")
	outer := newServer("aggregator", kube.Director, []*restful.WebService{
		resources("aggregator", "/apis/apiregistration.k8s.io/v1", "apiservices"),
	}, "/healthz", "/healthz/ping", "/metrics", "/openapi/v3", "/openapi/v3/", "/")
	return chain{outer.Director, []Layer{outer.layer, kube.layer, inner.layer}}
}

// ask sends a request through the real directors.
func (c chain) ask(ctx context.Context, method, target string) (layer string, code int) {
	r := httptest.NewRequestWithContext(ctx, method, target, nil)
	r.Header.Set("Content-Type", contentTypes[method])
	recorder := httptest.NewRecorder()
	c.handler.ServeHTTP(recorder, r)
	var body answered
	_ = json.Unmarshal(recorder.Body.Bytes(), &body)
	return body.Layer, recorder.Code
}

func indexer(objects ...any) cache.Indexer {
	i := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, object := range objects {
		_ = i.Add(object)
	}
	return i
}

func cronTabs() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "crontabs.stable.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "stable.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true, Storage: true, Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}},
				{Name: "v0"},
			},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
			{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
		}},
	}
}

func apiServices() apiregistrationlisters.APIServiceLister {
	local := func(group, version string) *apiregistrationv1.APIService {
		return &apiregistrationv1.APIService{
			ObjectMeta: metav1.ObjectMeta{Name: version + "." + group}, Spec: apiregistrationv1.APIServiceSpec{Group: group, Version: version},
		}
	}
	remote := func(group string, status apiregistrationv1.ConditionStatus) *apiregistrationv1.APIService {
		service := local(group, "v1alpha1")
		service.Spec.Service = &apiregistrationv1.ServiceReference{Namespace: "wardle", Name: "api", Port: new(int32(8443))}
		service.Status.Conditions = []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: status}}
		return service
	}
	return apiregistrationlisters.NewAPIServiceLister(indexer(local("", "v1"), local("apps", "v1"), local("stable.example.com", "v1"),
		remote("wardle.example.com", apiregistrationv1.ConditionTrue), remote("down.example.com", apiregistrationv1.ConditionFalse)))
}

// newExplainer is an explainer over the fixture's chain and RBAC.
func newExplainer(t *testing.T, change func(*Config)) *Explainer {
	t.Helper()
	decider, observed := access(t)
	cfg := Config{
		RequestInfo: resolver(),
		LongRunning: filters.BasicLongRunningRequestCheck(sets.NewString("watch", "proxy"), sets.NewString("attach", "exec", "proxy", "log", "portforward")),
		Authorizer:  decider, Authorization: observed.Explain,
		Anonymous: func(path string) bool { return path == "/livez" || path == "/healthz" },
		Filters: func() []Filter {
			return []Filter{
				{"request-info", true}, {"cors", true}, {"authentication", true}, {"audit", false},
				{"max-in-flight", true}, {"authorization", true},
			}
		},
		APIServices: apiServices(), Layers: newChain().layers,
		Admission: func(o admission.Operation) []string { return []string{"On" + string(o)} },
		StorageKey: func(group, resource, namespace, name string) string {
			return fmt.Sprintf("/registry/%s/%s/%s/%s", group, resource, namespace, name)
		},
	}
	if change != nil {
		change(&cfg)
	}
	return New(cfg)
}

func as(t *testing.T, name string, groups ...string) context.Context {
	t.Helper()
	return request.WithUser(t.Context(), &user.DefaultInfo{Name: name, Groups: groups})
}
