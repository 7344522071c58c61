package foreign_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Lists come in chunks, and go on with what is there when the state that they
// began with is gone.
func TestDefinitionsInChunks(t *testing.T) {
	const all = 1201
	expired := false
	server := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		limit, err := strconv.Atoi(query.Get("limit"))
		if err != nil || limit > 500 {
			t.Errorf("limit is %q", query.Get("limit"))
		}
		from, _ := strconv.Atoi(query.Get("continue"))
		w.Header().Set("Content-Type", "application/json")
		if from == 500 && !expired {
			expired = true
			w.WriteHeader(http.StatusGone)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","metadata":{"continue":"501"},"status":"Failure","reason":"Expired","code":410}`)
			return
		}
		next := from + limit
		more := strconv.Itoa(next)
		if next >= all {
			next, more = all, ""
		}
		fmt.Fprintf(w, `{"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1","metadata":{"continue":%q},"items":[`, more)
		for i := from; i < next; i++ {
			if i > from {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, `{"metadata":{"name":"d%d.example.com"},"spec":{"group":"example.com"}}`, i)
		}
		fmt.Fprint(w, "]}")
	})
	count, last := 0, ""
	for definition, err := range server.Definitions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		count, last = count+1, definition.Name
	}
	if count != all-1 || last != "d1200.example.com" || !expired {
		t.Errorf("got %d, the last is %s; want %d", count, last, all-1)
	}
	seen := 0
	for range server.Definitions(t.Context()) {
		if seen++; seen == 3 {
			break // whoever has enough asks for no more
		}
	}
}

func TestDefinitionsForbidden(t *testing.T) {
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	server := serve(t, map[string]answer{path: forbidden(path)})
	seen := 0
	for definition, err := range server.Definitions(t.Context()) {
		if seen++; definition != nil || !apierrors.IsForbidden(err) {
			t.Errorf("got %v, %v", definition, err)
		}
	}
	if seen != 1 {
		t.Errorf("%d errors", seen)
	}
	for service, err := range serve(t, nil).APIServices(t.Context()) {
		if err != nil || service.Name == "" {
			t.Errorf("got %v, %v", service, err)
		}
	}
}
