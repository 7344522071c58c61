package tui

import (
	"encoding/json"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/objects"
	"github.com/kapi-dev/kapi/internal/kapitest/peer"
	"github.com/kapi-dev/kapi/tui/data"
)

// apiServer is a kapi on a real connection, as far as the application needs one. It
// shows one frame, counts what would change something, and can go away and come back.
type apiServer struct {
	t       testing.TB
	address string
	name    string

	lock   sync.Mutex
	frame  data.Frame
	writes []string
	asked  int
	server *http.Server
	served sync.WaitGroup
}

func newAPIServer(t testing.TB, name string, frame data.Frame) *apiServer {
	t.Helper()
	port, err := peer.FreePort() // nobody takes it while the server is away
	if err != nil {
		t.Fatal(err)
	}
	s := &apiServer{t: t, name: name, frame: frame, address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	s.start()
	t.Cleanup(s.stop)
	return s
}

// start serves, each time at the same address.
func (s *apiServer) start() {
	s.t.Helper()
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.server = &http.Server{Handler: s}
	server := s.server
	s.served.Go(func() { _ = server.Serve(listener) })
}

// stop ends all connections at once.
func (s *apiServer) stop() {
	_ = s.server.Close()
	s.served.Wait()
}

// target is how the application reaches it.
func (s *apiServer) target() Target {
	return Target{Name: s.name, Config: &rest.Config{Host: "http://" + s.address, QPS: -1}, Explain: func(err error) error { return err }}
}

// connects are options for a server, or for several by name.
func connects(servers ...*apiServer) setting {
	return func(o *Options) {
		o.Contexts = func() []string {
			var names []string
			for _, s := range servers {
				names = append(names, s.name)
			}
			return names
		}
		o.Connect = func(name string) (Target, error) {
			i := max(0, slices.IndexFunc(servers, func(s *apiServer) bool { return s.name == name }))
			return servers[i].target(), nil
		}
	}
}

// changes are the requests that would have changed something.
func (s *apiServer) changes() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return slices.Clone(s.writes)
}

// requests is how often it was asked for anything.
func (s *apiServer) requests() int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.asked
}

// questions are requests that are sent with POST and change nothing.
var questions = regexp.MustCompile(`/(routeexplanations|storedkeyqueries|[a-z]*reviews)$`)

// ServeHTTP implements http.Handler.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.lock.Lock()
	s.asked++
	frame := s.frame
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
	if !reads && (r.Method != http.MethodPost || !questions.MatchString(r.URL.Path)) {
		s.writes = append(s.writes, r.Method+" "+r.URL.Path)
	}
	s.lock.Unlock()
	if r.Method == http.MethodDelete {
		answer(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
		return
	}
	if watch := r.URL.Query().Get("watch"); watch == "1" || watch == "true" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	if body, ok := s.body(frame, r.URL.Path); ok && reads {
		answer(w, http.StatusOK, body)
		return
	}
	answer(w, http.StatusNotFound, metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound, Message: r.URL.Path + " is not there",
	})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

const inspectPath = "/apis/inspect.kapi.dev/v1alpha1"

// body is what is at a path.
func (s *apiServer) body(frame data.Frame, path string) (any, bool) {
	verbs := []string{"get", "list", "watch", "delete"}
	group := func(group, version string) map[string]any {
		v := map[string]any{"groupVersion": group + "/" + version, "version": version}
		return map[string]any{"name": group, "versions": []any{v}, "preferredVersion": v}
	}
	switch path {
	case "/version":
		return map[string]any{"gitVersion": "v1.37.2-" + s.name}, true
	case "/api":
		return map[string]any{"kind": "APIVersions", "versions": []string{"v1"}}, true
	case "/apis":
		return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{group("apiextensions.k8s.io", "v1"), group("apiregistration.k8s.io", "v1")}}, true
	case inspectPath:
		return resourceList("inspect.kapi.dev/v1alpha1"), true
	case "/api/v1":
		return resourceList("v1", metav1.APIResource{Name: "configmaps", SingularName: "configmap", Kind: "ConfigMap", ShortNames: []string{"cm"}, Namespaced: true, Verbs: verbs}), true
	case "/apis/apiextensions.k8s.io/v1":
		return resourceList("apiextensions.k8s.io/v1", metav1.APIResource{Name: "customresourcedefinitions", SingularName: "customresourcedefinition", Kind: "CustomResourceDefinition", Verbs: verbs}), true
	case "/apis/apiregistration.k8s.io/v1":
		return resourceList("apiregistration.k8s.io/v1", metav1.APIResource{Name: "apiservices", SingularName: "apiservice", Kind: "APIService", Verbs: verbs}), true
	case objects.DefinitionsPath:
		return objectList("apiextensions.k8s.io/v1", "CustomResourceDefinitionList", frame.View(data.Definitions).Objects), true
	case objects.NamespacesPath:
		return objectList("v1", "NamespaceList", frame.View(data.Terminating).Objects), true
	case objects.APIServicesPath:
		return objectList("apiregistration.k8s.io/v1", "APIServiceList", frame.View(data.APIServices).Objects), true
	case "/api/v1/namespaces/default/configmaps/web":
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "namespace": "default", "resourceVersion": "1"}}, true
	case "/api/v1/namespaces/default/configmaps", "/api/v1/configmaps":
		metadata := map[string]any{"name": "web", "namespace": "default"}
		row := map[string]any{"cells": []any{"web", 1}, "object": map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}}
		return map[string]any{
			"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": map[string]any{"resourceVersion": "1"},
			"columnDefinitions": []any{map[string]any{"name": "Name", "type": "string"}, map[string]any{"name": "Data", "type": "integer"}}, "rows": []any{row},
		}, true
	}
	resource, ok := strings.CutPrefix(path, inspectPath+"/")
	if kind, known := kinds.ByName(resource); ok && known {
		return objectList(v1alpha1.SchemeGroupVersion.String(), kind.Kind+"List", frame.View(data.Of(resource)).Objects), true
	}
	return nil, false
}

func resourceList(version string, resources ...metav1.APIResource) metav1.APIResourceList {
	return metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version, APIResources: resources}
}

func objectList(version, kind string, items []kinds.Object) map[string]any {
	if items == nil {
		items = []kinds.Object{}
	}
	return map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"resourceVersion": "1"}, "items": items}
}
