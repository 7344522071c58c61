package inspect

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/objects"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
)

// fakeKapi answers as a kapi does, from a recording.
type fakeKapi struct {
	*httptest.Server
	recording *recorded.Server
	// routes are the explanations that it gives, trace the one that it has of
	// every request that is sent to it with an audit ID.
	routes []*v1alpha1.RouteExplanation
	trace  *v1alpha1.RequestTrace
	// failures answer a path in place of what is there.
	failures map[string]*apierrors.StatusError

	mu sync.Mutex
	// watches are what watches report, one after the other; then they stay open.
	watches [][]any
	// seen are the requests: method, path and query.
	seen    []string
	headers []http.Header
}

// newFakeKapi starts one; it is stopped when the test ends.
func newFakeKapi(t *testing.T) *fakeKapi {
	t.Helper()
	f := &fakeKapi{recording: recording(t, kapiFile), failures: map[string]*apierrors.StatusError{}}
	load(t, "testdata/routes.json", &f.routes)
	load(t, "testdata/trace.json", &f.trace)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]string{"gitVersion": "v1.37.2"}) })
	base := "/apis/" + v1alpha1.SchemeGroupVersion.String()
	mux.HandleFunc("GET "+base, func(w http.ResponseWriter, _ *http.Request) { answer(w, metav1.APIResourceList{}) })
	mux.HandleFunc("GET "+base+"/{resource}", f.list)
	mux.HandleFunc("GET "+base+"/{resource}/{name}", f.get)
	mux.HandleFunc("POST "+base+"/routeexplanations", f.explain)
	mux.HandleFunc("GET "+objects.DefinitionsPath, f.definitions)
	mux.HandleFunc("GET "+objects.APIServicesPath, f.services)
	mux.HandleFunc("GET "+objects.NamespacesPath, f.namespaces)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, apierrors.NewNotFound(v1alpha1.Resource("paths"), r.URL.Path))
	})
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.seen = append(f.seen, r.Method+" "+r.URL.RequestURI())
		f.headers = append(f.headers, r.Header)
		failure := f.failures[r.URL.Path]
		f.mu.Unlock()
		if failure != nil {
			refuse(w, failure)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func load(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the client may have gone
}

func refuse(w http.ResponseWriter, err error) {
	var status apierrors.APIStatus = apierrors.NewInternalError(err)
	if known, ok := err.(apierrors.APIStatus); ok { //nolint:errorlint // made here
		status = known
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Status().Code))
	body := status.Status()
	body.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	_ = json.NewEncoder(w).Encode(body)
}

// args are those of a command that asks the server.
func (f *fakeKapi) args(words ...string) []string {
	return append(words, "--server="+f.URL)
}

// watch reports events to whoever watches, if that is what the request is. The last
// watch stays open until the client leaves, those before it end.
func (f *fakeKapi) watch(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Query().Get("watch") == "" {
		return false
	}
	f.mu.Lock()
	var events []any
	more := len(f.watches) > 0
	if more {
		events, f.watches = f.watches[0], f.watches[1:]
		more = len(f.watches) > 0
	}
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	for _, event := range events {
		_ = json.NewEncoder(w).Encode(event)
	}
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
	if !more {
		<-r.Context().Done()
	}
	return true
}

// event is one line of a watch.
func event(kind string, object runtime.Object) any {
	return map[string]any{"type": kind, "object": object}
}

func (f *fakeKapi) list(w http.ResponseWriter, r *http.Request) {
	kind, ok := kinds.ByName(r.PathValue("resource"))
	if !ok {
		refuse(w, apierrors.NewNotFound(v1alpha1.Resource(r.PathValue("resource")), ""))
		return
	}
	if f.watch(w, r) {
		return
	}
	if auditID, ok := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "spec.auditID="); ok && f.sent(auditID) {
		answer(w, map[string]any{"kind": "RequestTraceList", "metadata": map[string]any{}, "items": []any{f.trace}})
		return
	}
	listing, err := f.recording.List(r.Context(), kind, inspection.Query{
		LabelSelector: r.URL.Query().Get("labelSelector"), FieldSelector: r.URL.Query().Get("fieldSelector"),
	})
	if err != nil {
		refuse(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	answer(w, map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": kind.Kind + "List",
		"metadata": map[string]any{"resourceVersion": "7"}, "items": listing.Objects,
	})
}

// sent tells whether a request with this audit ID has come.
func (f *fakeKapi) sent(auditID string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, header := range f.headers {
		if header.Get("Audit-ID") == auditID {
			return true
		}
	}
	return false
}

// lastSent is the last request that had an audit ID, and its headers.
func (f *fakeKapi) lastSent() (line string, header http.Header) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, one := range f.headers {
		if one.Get("Audit-ID") != "" {
			line, header = f.seen[i], one
		}
	}
	return line, header
}

func (f *fakeKapi) get(w http.ResponseWriter, r *http.Request) {
	kind, ok := kinds.ByName(r.PathValue("resource"))
	if !ok {
		refuse(w, apierrors.NewNotFound(v1alpha1.Resource(r.PathValue("resource")), ""))
		return
	}
	listing, err := f.recording.List(r.Context(), kind, inspection.Query{Name: r.PathValue("name")})
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, listing.Objects[0])
}

func (f *fakeKapi) explain(w http.ResponseWriter, r *http.Request) {
	var asked v1alpha1.RouteExplanation
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		refuse(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	for _, route := range f.routes {
		if route.Spec.Verb == asked.Spec.Verb && route.Spec.Path == asked.Spec.Path && route.Spec.User == asked.Spec.User {
			answer(w, route)
			return
		}
	}
	refuse(w, apierrors.NewBadRequest(fmt.Sprintf("spec.verb %q is neither an HTTP method nor a verb that stands for one", asked.Spec.Verb)))
}

func (f *fakeKapi) definitions(w http.ResponseWriter, r *http.Request) {
	if f.watch(w, r) {
		return
	}
	var items []any
	for object := range f.recording.Definitions(r.Context()) {
		items = append(items, object)
	}
	answer(w, map[string]any{"kind": "CustomResourceDefinitionList", "apiVersion": "apiextensions.k8s.io/v1", "metadata": map[string]any{"resourceVersion": "7"}, "items": items})
}

func (f *fakeKapi) services(w http.ResponseWriter, r *http.Request) {
	if f.watch(w, r) {
		return
	}
	var items []any
	for object := range f.recording.APIServices(r.Context()) {
		items = append(items, object)
	}
	answer(w, map[string]any{"kind": "APIServiceList", "apiVersion": "apiregistration.k8s.io/v1", "metadata": map[string]any{"resourceVersion": "7"}, "items": items})
}

// namespaces answers for those that are being deleted, and for no others.
func (f *fakeKapi) namespaces(w http.ResponseWriter, r *http.Request) {
	if selector := r.URL.Query().Get("fieldSelector"); selector != "status.phase=Terminating" {
		refuse(w, apierrors.NewBadRequest("all namespaces are asked for: "+selector))
		return
	}
	var items []any
	for object := range f.recording.TerminatingNamespaces(r.Context()) {
		items = append(items, object)
	}
	answer(w, map[string]any{"kind": "NamespaceList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": "7"}, "items": items})
}
