package chain

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	restful "github.com/emicklei/go-restful/v3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler3"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/server/routes"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"
)

// routesOf makes a web service with the routes and the two types that metav1
// puts into every group version.
func routesOf(path string, sample runtime.Object) *restful.WebService {
	service := new(restful.WebService).Path(path)
	done := func(*restful.Request, *restful.Response) {}
	service.Route(service.GET("/deployments").To(done).Operation("listThing").Produces("application/json").Returns(200, "OK", sample).Writes(sample))
	service.Route(service.GET("/watch/deployments").To(done).Operation("watchThing").Produces("application/json").Returns(200, "OK", metav1.WatchEvent{}).Writes(metav1.WatchEvent{}))
	service.Route(service.DELETE("/deployments/{name}").To(done).Operation("deleteThing").Produces("application/json").
		Reads(metav1.DeleteOptions{}).Returns(200, "OK", metav1.Status{}).Writes(metav1.Status{}).
		Param(service.PathParameter("name", "name").DataType("string")))
	return service
}

func openAPIConfigs() (*common.Config, *common.OpenAPIV3Config) {
	definitions := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(generatedopenapi.GetOpenAPIDefinitions)
	namer := openapinamer.NewDefinitionNamer(legacyscheme.Scheme)
	return genericapiserver.DefaultOpenAPIConfig(definitions, namer), genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
}

func get(t *testing.T, handler http.Handler, url string) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
	return recorder
}

// The documents are those that upstream would have built, byte for byte.
func TestOpenAPIV3IsUpstreams(t *testing.T) {
	_, config := openAPIConfigs()
	container := restful.NewContainer()
	for _, path := range []string{"/apis/apps/v1", "/api/v1", "/version"} {
		container.Add(routesOf(path, &appsv1.DeploymentList{}))
	}
	theirs, ours := mux.NewPathRecorderMux("theirs"), mux.NewPathRecorderMux("ours")
	routes.OpenAPI{V3Config: config}.InstallV3(container, theirs)
	if err := serveV3(container.RegisteredWebServices(), config, ours); err != nil {
		t.Fatal(err)
	}
	var root, want handler3.OpenAPIV3Discovery
	for handler, into := range map[http.Handler]*handler3.OpenAPIV3Discovery{ours: &root, theirs: &want} {
		if err := json.Unmarshal(get(t, handler, "/openapi/v3").Body.Bytes(), into); err != nil {
			t.Fatal(err)
		}
	}
	if len(want.Paths) != 3 {
		t.Fatalf("upstream lists %v, want three group versions", want.Paths)
	}
	for name := range want.Paths {
		if _, ok := root.Paths[name]; !ok {
			t.Errorf("the root has no %s", name)
		}
		expected, got := get(t, theirs, want.Paths[name].ServerRelativeURL), get(t, ours, root.Paths[name].ServerRelativeURL)
		if got.Code != http.StatusOK || !bytes.Equal(got.Body.Bytes(), expected.Body.Bytes()) {
			t.Errorf("%s: status %d, and the document differs from upstream's (%d against %d bytes)", name, got.Code, got.Body.Len(), expected.Body.Len())
		}
		for _, header := range []string{"Content-Type", "Cache-Control", "Vary", "Etag"} {
			if got.Header().Get(header) != expected.Header().Get(header) {
				t.Errorf("%s: header %s is %q, upstream's %q", name, header, got.Header().Get(header), expected.Header().Get(header))
			}
		}
	}
	if !strings.Contains(get(t, ours, "/openapi/v3/apis/apps/v1").Body.String(), `"kind":"WatchEvent"`) {
		t.Error("the document has no WatchEvent: this test has compared nothing of interest")
	}
}

func TestOpenAPIV3HashesInURLs(t *testing.T) {
	_, config := openAPIConfigs()
	paths := mux.NewPathRecorderMux("test")
	if err := serveV3([]*restful.WebService{routesOf("/apis/apps/v1", &appsv1.DeploymentList{})}, config, paths); err != nil {
		t.Fatal(err)
	}
	var root handler3.OpenAPIV3Discovery
	if err := json.Unmarshal(get(t, paths, "/openapi/v3").Body.Bytes(), &root); err != nil {
		t.Fatal(err)
	}
	current := root.Paths["apis/apps/v1"].ServerRelativeURL
	if stale := get(t, paths, "/openapi/v3/apis/apps/v1?hash=OLD"); stale.Code != http.StatusMovedPermanently || stale.Header().Get("Location") != current {
		t.Errorf("an old hash is answered %d to %q, want 301 to %q", stale.Code, stale.Header().Get("Location"), current)
	}
	if plain := get(t, paths, "/openapi/v3/apis/apps/v1"); plain.Code != http.StatusOK || plain.Header().Get("Cache-Control") != "" {
		t.Errorf("without a hash: status %d, Cache-Control %q; want 200 and none", plain.Code, plain.Header().Get("Cache-Control"))
	}
	if unknown := get(t, paths, "/openapi/v3/apis/none/v1?hash=X"); unknown.Code == http.StatusMovedPermanently {
		t.Error("an unknown group version is redirected")
	}
}

func TestHashFollowsWhatTheDocumentIsMadeFrom(t *testing.T) {
	service := routesOf("/apis/apps/v1", &appsv1.DeploymentList{})
	base := hashOf("program", service)
	if again := hashOf("program", routesOf("/apis/apps/v1", &appsv1.DeploymentList{})); again != base {
		t.Error("the same input has two hashes")
	}
	if hashOf("other program", service) == base {
		t.Error("another program has the same hash")
	}
	service.Route(service.GET("/more").To(func(*restful.Request, *restful.Response) {}))
	if hashOf("program", service) == base {
		t.Error("one more route has the same hash")
	}
}

func TestOpenAPIV2IsUpstreams(t *testing.T) {
	config, _ := openAPIConfigs()
	container := restful.NewContainer()
	container.Add(routesOf("/apis/apps/v1", &appsv1.DeploymentList{}))
	_, want := routes.OpenAPI{Config: config}.InstallV2(container, mux.NewPathRecorderMux("theirs"))
	got, err := buildV2(container.RegisteredWebServices(), config)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("the document differs from upstream's")
	}
}
