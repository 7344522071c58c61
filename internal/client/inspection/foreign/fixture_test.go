package foreign_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/foreign"
)

// answer is what a page of the fixture answers in place of what was recorded.
type answer struct {
	code int
	body string
}

// recorded are the pages of a real kube-apiserver, by their paths. They are made by
// `go test ./internal/e2e/foreign -update`.
func recorded() map[string]string {
	return map[string]string{
		"/version": "version.json", "/metrics": "metrics.txt", "/flagz": "flagz.json",
		"/readyz": "readyz.txt", "/livez": "livez.txt", "/healthz": "healthz.txt",
		"/api": "api.json", "/apis": "apis.json", "/openapi/v3": "openapi.json",
		"/debug/api_priority_and_fairness/dump_priority_levels":             "levels.txt",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions":           "definitions.json",
		"/apis/apiregistration.k8s.io/v1/apiservices":                       "apiservices.json",
		"/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations": "prioritylevels.json",
		"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas":                 "flowschemas.json",
	}
}

// serve answers from the record, but for some pages.
func serve(t *testing.T, instead map[string]answer) *foreign.Server {
	t.Helper()
	return serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		if given, ok := instead[r.URL.Path]; ok {
			w.WriteHeader(given.code)
			fmt.Fprint(w, given.body)
			return
		}
		file, ok := recorded()[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Error(err)
		}
		if filepath.Ext(file) == ".json" {
			w.Header().Set("Content-Type", "application/json")
		}
		_, _ = w.Write(data)
	})
}

func serveFunc(t *testing.T, handler http.HandlerFunc) *foreign.Server {
	t.Helper()
	http := httptest.NewServer(handler)
	t.Cleanup(http.Close)
	server, err := foreign.New(&rest.Config{Host: http.URL})
	if err != nil {
		t.Fatal(err)
	}
	server.Period = time.Millisecond
	return server
}

// forbidden is what an API server answers whoever has no right to a path.
func forbidden(path string) answer {
	return answer{http.StatusForbidden, fmt.Sprintf(
		`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"forbidden: User \"alice\" cannot get path %q","reason":"Forbidden","code":403}`, path)}
}

func kindOf(t *testing.T, name string) kinds.Kind {
	t.Helper()
	kind, ok := kinds.ByName(name)
	if !ok {
		t.Fatalf("no kind %s", name)
	}
	return kind
}

func list(t *testing.T, server *foreign.Server, kind string) inspection.Listing {
	t.Helper()
	listing, err := server.List(t.Context(), kindOf(t, kind), inspection.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return listing
}

// write shows a listing with every column, and what is missing from it.
func write(kind kinds.Kind, listing inspection.Listing, now time.Time) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n", kind.Resource)
	for _, object := range listing.Objects {
		fmt.Fprintf(&out, "\n%s\n", object.GetName())
		for _, column := range kind.Columns {
			if text := fmt.Sprint(column.Cell(object, now)); text != "" {
				fmt.Fprintf(&out, "  %s: %s\n", column.Name, text)
			}
		}
	}
	fmt.Fprint(&out, "\nmissing\n")
	for _, gap := range listing.Gaps {
		fmt.Fprintf(&out, "  %s: %s\n", gap.Column, gap.Reason)
	}
	return out.String()
}
