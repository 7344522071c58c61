package data

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/client/inspection/foreign"
)

// api is a server of which each test says what it answers.
type api struct {
	*httptest.Server
	lock     sync.Mutex
	requests []*http.Request
}

// serve answers each path (with its query) by a function.
func serve(t *testing.T, answers map[string]http.HandlerFunc) *api {
	t.Helper()
	a := &api{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.lock.Lock()
		a.requests = append(a.requests, r)
		a.lock.Unlock()
		w.Header().Set("Content-Type", "application/json")
		for _, path := range []string{r.URL.Path + "?continue=" + r.URL.Query().Get("continue"), r.URL.Path + "?watch=" + r.URL.Query().Get("watch"), r.URL.Path} {
			if answer, ok := answers[path]; ok {
				answer(w, r)
				return
			}
		}
		refuse(w, http.StatusNotFound, "NotFound")
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *api) config() *rest.Config { return &rest.Config{Host: a.URL, QPS: -1} }

func (a *api) sent(what func(*http.Request) bool) int {
	a.lock.Lock()
	defer a.lock.Unlock()
	n := 0
	for _, request := range a.requests {
		if what(request) {
			n++
		}
	}
	return n
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":%q,"code":%d}`, reason, code)
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, body) }
}

const podColumns = `"columnDefinitions":[{"name":"Name","type":"string","description":"what it is called"},{"name":"Ready","type":"string"},{"name":"Node","type":"string","priority":1}]`

func podRow(name string, version int) string {
	return fmt.Sprintf(`{"cells":[%q,"1/1",null],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":%q,"namespace":"default","resourceVersion":"%d","labels":{"app":"x"}}}}`, name, name, version)
}

func podTable(columns, meta string, rows ...string) string {
	if columns != "" {
		columns += ","
	}
	return fmt.Sprintf(`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{%s},%s"rows":[%s]}`, meta, columns, strings.Join(rows, ","))
}

func source(t *testing.T, a *api) Source {
	t.Helper()
	server, err := foreign.New(a.config())
	if err != nil {
		t.Fatal(err)
	}
	return NewServerSource(server, a.config())
}

// A table is read in chunks, with the columns of the first.
func TestTableList(t *testing.T) {
	a := serve(t, map[string]http.HandlerFunc{
		"/api/v1/pods?continue=": says(podTable(podColumns, `"resourceVersion":"7","continue":"x"`, podRow("a", 1), podRow("b", 2))),
		"/api/v1/pods?continue=x": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusGone)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"metadata":{"continue":"y"}}`)
		},
		"/api/v1/pods?continue=y": says(podTable("", `"resourceVersion":"9"`, podRow("c", 3))),
	})
	listed, err := source(t, a).List(t.Context(), podsKey)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(View{Objects: listed.Objects}); !slices.Equal(got, []string{"a", "b", "c"}) || listed.ResourceVersion != "7" {
		t.Errorf("got %q of version %q", got, listed.ResourceVersion)
	}
	want := []Column{{Name: "Name", Type: "string", Description: "what it is called"}, {Name: "Ready", Type: "string"}, {Name: "Node", Type: "string", Wide: true}}
	if !slices.Equal(listed.Columns, want) {
		t.Errorf("columns %+v", listed.Columns)
	}
	row := listed.Objects[0].(*Row)
	if !slices.Equal(row.Cells, []any{"a", "1/1", nil}) || row.Labels["app"] != "x" || row.Namespace != "default" {
		t.Errorf("row %+v", row)
	}
	for _, request := range a.requests {
		if query := request.URL.Query(); !strings.Contains(request.Header.Get("Accept"), "as=Table") || query.Get("limit") != "500" || query.Get("includeObject") != "Metadata" {
			t.Errorf("asked for %s as %q", request.URL, request.Header.Get("Accept"))
		}
	}
}

// A server that makes no tables is shown with names.
func TestListWithoutTables(t *testing.T) {
	a := serve(t, map[string]http.HandlerFunc{
		"/apis/metrics.k8s.io/v1beta1/namespaces/kube-system/pods": says(`{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},"items":[{"metadata":{"name":"a","namespace":"kube-system","creationTimestamp":"2026-01-02T03:04:05Z"},"usage":{"cpu":"1"}}]}`),
	})
	key := Key{Resource: schema.GroupVersionResource{Group: "metrics.k8s.io", Version: "v1beta1", Resource: "pods"}, Namespace: "kube-system"}
	listed, err := source(t, a).List(t.Context(), key)
	if err != nil || len(listed.Objects) != 1 || len(listed.Columns) != 2 {
		t.Fatalf("got %+v, %v", listed, err)
	}
	if row := listed.Objects[0].(*Row); !slices.Equal(row.Cells, []any{"a", "2026-01-02T03:04:05Z"}) {
		t.Errorf("row %+v", row)
	}
}

func watched(t *testing.T, w watch.Interface) []string {
	t.Helper()
	defer w.Stop()
	var got []string
	for event := range w.ResultChan() {
		switch object := event.Object.(type) {
		case *metav1.Status:
			got = append(got, fmt.Sprintf("%s %s", event.Type, object.Reason))
		case *Row:
			got = append(got, fmt.Sprintf("%s %s@%s %d", event.Type, object.Name, object.ResourceVersion, len(object.Cells)))
		case *unstructured.Unstructured:
			got = append(got, fmt.Sprintf("%s %s@%s %v", event.Type, object.GetName(), object.GetResourceVersion(), object.Object["data"]))
		}
	}
	return got
}

func event(kind, object string) string { return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, object) }

func TestTableWatch(t *testing.T) {
	for _, test := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"rows", []string{
			event("ADDED", podTable(podColumns, "", podRow("c", 8))),
			event("MODIFIED", podTable("", "", podRow("a", 9))),
			event("BOOKMARK", podTable("", "", `{"cells":["",null,null],"object":{"metadata":{"resourceVersion":"10"}}}`)),
			event("BOOKMARK", podTable("", `"resourceVersion":"11"`)),
			event("DELETED", podTable("", "", podRow("c", 12))),
		}, []string{"ADDED c@8 3", "MODIFIED a@9 3", "BOOKMARK @10 3", "BOOKMARK @11 0", "DELETED c@12 3"}},
		{"no tables", []string{event("ADDED", `{"metadata":{"name":"a","resourceVersion":"3"}}`)}, []string{"ADDED a@3 2"}},
		{"other columns", []string{
			event("ADDED", podTable(podColumns, "", podRow("a", 8))),
			event("ADDED", podTable(`"columnDefinitions":[{"name":"Name"}]`, "", podRow("b", 9))),
		}, []string{"ADDED a@8 3", "ERROR Expired"}},
		{"an error", []string{event("ERROR", `{"kind":"Status","status":"Failure","reason":"Expired","code":410}`), event("ADDED", podTable("", "", podRow("a", 1)))}, []string{"ERROR Expired"}},
		{"nonsense", []string{event("ADDED", `[]`)}, []string{"ERROR Expired"}},
		{"cut off", []string{event("ADDED", podTable("", "", podRow("a", 1))), `{"type":"ADD`}, []string{"ADDED a@1 3"}},
		{"nothing", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := serve(t, map[string]http.HandlerFunc{"/api/v1/pods?watch=1": says(strings.Join(test.lines, "\n"))})
			w, err := source(t, a).Watch(t.Context(), podsKey, "7")
			if err != nil {
				t.Fatal(err)
			}
			if got := watched(t, w); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if query := a.requests[0].URL.Query(); query.Get("resourceVersion") != "7" || query.Get("allowWatchBookmarks") != "true" {
				t.Errorf("asked for %s", a.requests[0].URL)
			}
		})
	}
}

// One object is read in full, and watched by its name.
func TestOneObject(t *testing.T) {
	const object = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","resourceVersion":"5"},"data":{"x":"y"}}`
	a := serve(t, map[string]http.HandlerFunc{
		"/api/v1/namespaces/default/configmaps/a":       says(object),
		"/api/v1/namespaces/default/configmaps?watch=1": says(event("MODIFIED", strings.Replace(object, `"5"`, `"6"`, 1))),
	})
	key := Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Namespace: "default", Name: "a"}
	from := source(t, a)
	listed, err := from.List(t.Context(), key)
	if err != nil || len(listed.Objects) != 1 || listed.ResourceVersion != "5" {
		t.Fatalf("got %+v, %v", listed, err)
	}
	w, err := from.Watch(t.Context(), key, "5")
	if err != nil {
		t.Fatal(err)
	}
	if got := watched(t, w); !slices.Equal(got, []string{"MODIFIED a@6 map[x:y]"}) {
		t.Errorf("got %q", got)
	}
	if got := a.requests[1].URL.Query().Get("fieldSelector"); got != "metadata.name=a" {
		t.Errorf("selected by %q", got)
	}
}

// Errors are those of the API.
func TestTableErrors(t *testing.T) {
	for code, is := range map[int]func(error) bool{
		http.StatusForbidden: apierrors.IsForbidden, http.StatusNotFound: apierrors.IsNotFound, http.StatusUnauthorized: apierrors.IsUnauthorized,
		http.StatusMethodNotAllowed: apierrors.IsMethodNotSupported, http.StatusTooManyRequests: apierrors.IsTooManyRequests,
	} {
		reason := map[int]string{403: "Forbidden", 404: "NotFound", 401: "Unauthorized", 405: "MethodNotAllowed", 429: "TooManyRequests"}[code]
		a := serve(t, map[string]http.HandlerFunc{"/api/v1/pods": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			refuse(w, code, reason)
		}})
		from := source(t, a)
		if _, err := from.List(t.Context(), podsKey); !is(err) {
			t.Errorf("list: %v, want %d", err, code)
		}
		if _, err := from.Watch(t.Context(), podsKey, "1"); !is(err) {
			t.Errorf("watch: %v, want %d", err, code)
		}
	}
	a := serve(t, map[string]http.HandlerFunc{"/api/v1/pods": says("<html>")})
	if _, err := source(t, a).List(t.Context(), podsKey); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("got %v of a page", err)
	}
	a.Close()
	if _, err := source(t, a).List(t.Context(), podsKey); !unreachable(err) {
		t.Errorf("got %v of a server that is away", err)
	}
}

// A watch that is stopped reads no more, although the server goes on.
func TestStopWatch(t *testing.T) {
	ended := make(chan struct{})
	a := serve(t, map[string]http.HandlerFunc{"/api/v1/pods?watch=1": func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		for i := 0; r.Context().Err() == nil; i++ {
			fmt.Fprintln(w, event("ADDED", podTable(podColumns, "", podRow("a", i))))
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	}})
	w, err := source(t, a).Watch(t.Context(), podsKey, "")
	if err != nil {
		t.Fatal(err)
	}
	<-w.ResultChan()
	w.Stop()
	w.Stop()
	<-ended
	for range w.ResultChan() { // it is closed
	}
}

func BenchmarkTableDecode(b *testing.B) {
	rows := make([]string, 0, tableChunk)
	for i := range tableChunk {
		rows = append(rows, podRow(fmt.Sprint(i), i))
	}
	body := []byte(podTable(podColumns, "", rows...))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var page table
		if err := json.Unmarshal(body, &page); err != nil || len(page.rows()) != tableChunk {
			b.Fatal(err)
		}
	}
}
