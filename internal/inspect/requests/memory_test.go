package requests

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
	"weak"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// marked is a body that every copy of its request holds on to.
type marked struct {
	io.ReadCloser
	_ [100]byte // too big to share a block of memory with others
}

// A trace that is kept keeps nothing of its request.
func TestTraceHoldsNoRequest(t *testing.T) {
	const sent = 20
	var bodies []weak.Pointer[marked]
	var values []weak.Pointer[[100]byte]
	f := start(t, http.HandlerFunc(http.NotFound), nil)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, value := &marked{ReadCloser: r.Body}, &[100]byte{}
		bodies, values = append(bodies, weak.Make(body)), append(values, weak.Make(value))
		r = r.WithContext(context.WithValue(r.Context(), valueKey{}, value))
		r.Body = body
		f.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	f.URL = front.URL
	for i := range sent {
		path := []string{"/apis/remote.example.com/v1/things", "/api/v1/namespaces/default/pods/broken"}[i%2]
		f.ask(t, http.MethodPost, "alice", path+"?token=a", "{}")
	}
	f.rest(t)
	front.CloseClientConnections()
	if n := f.observer.Traces().Len(); n != sent || len(bodies) != sent {
		t.Fatalf("%d traces are kept, %d requests came", n, len(bodies))
	}
	eventually(t, func() bool {
		runtime.GC()
		alive := 0
		for i := range bodies {
			if bodies[i].Value() != nil || values[i].Value() != nil {
				alive++
			}
		}
		return alive == 0
	})
	runtime.KeepAlive(f.observer)
}

type valueKey struct{}

// However long URLs, names and headers are, a trace stays small.
func TestMemoryIsBounded(t *testing.T) {
	const sent, query = 300, 100_000
	f := start(t, nil, func(c *Config, _ *genericapiserver.Config) {
		c.Capacity, c.Kept, c.SlowerThan = 250, 100, time.Hour
	})
	long := strings.Repeat("n", 10_000)
	measure := func() int64 {
		f.rest(t)
		f.Client().CloseIdleConnections()
		runtime.GC()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	f.ask(t, http.MethodGet, "alice", "/api/v1/pods", "")
	before := measure()
	for i := range sent {
		f.ask(t, http.MethodGet, "alice", fmt.Sprintf("/api/v1/namespaces/%s/pods/%d?x=%s&limit=5", long, i, strings.Repeat("q", query)), "",
			"User-Agent", long, "Audit-ID", long, "Impersonate-User", long, "Impersonate-Group", long)
	}
	if grown := measure() - before; grown > sent*query/4 {
		t.Errorf("%d requests of %d bytes have taken %d bytes", sent, query, grown)
	}
	objects, _, _ := f.observer.Traces().List(t.Context())
	trace := objects[len(objects)-1].(*v1alpha1.RequestTrace)
	for _, text := range []string{trace.Spec.Path, trace.Spec.AuditID, trace.Spec.UserAgent, trace.Spec.User.Name, trace.Spec.User.Groups[0], trace.Spec.RequestInfo.Namespace} {
		if utf8.RuneCountInString(text) > maxPath || text == "" {
			t.Errorf("a text has %d bytes", len(text))
		}
	}
	if len(objects) != 250 {
		t.Errorf("%d traces are kept, none was slow or failed", len(objects))
	}
	runtime.KeepAlive(f.observer)
}

func TestGroupsAreCut(t *testing.T) {
	f := start(t, nil, nil)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.URL+"/api/v1/pods", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer alice")
	request.Header.Set("Impersonate-User", "carol")
	for i := range 100 {
		request.Header.Add("Impersonate-Group", fmt.Sprint("group-", i))
	}
	response, err := f.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if groups := f.last(t).Spec.User.Groups; len(groups) != maxGroups {
		t.Errorf("%d groups are shown", len(groups))
	}
}

// Slow and failed requests outlive a flood of others.
func TestFailedRequestsAreKept(t *testing.T) {
	f := start(t, nil, func(c *Config, _ *genericapiserver.Config) {
		c.Capacity, c.Kept, c.SlowerThan = 10, 5, time.Hour
	})
	broken := f.traced(t, http.MethodGet, "alice", "/api/v1/namespaces/default/pods/broken", "")
	for range 30 {
		f.ask(t, http.MethodGet, "alice", "/api/v1/pods", "")
	}
	f.rest(t)
	objects, _, _ := f.observer.Traces().List(t.Context())
	if len(objects) != 11 || objects[0].GetName() != broken.Name || !objects[0].(*v1alpha1.RequestTrace).Status.Failed {
		t.Errorf("%d traces are kept, the first is %s; want 11 and %s", len(objects), objects[0].GetName(), broken.Name)
	}
	slow := start(t, nil, func(c *Config, _ *genericapiserver.Config) { c.SlowerThan = 1 })
	if s := slow.traced(t, http.MethodGet, "alice", "/api/v1/pods", ""); !s.Status.Slow || s.Status.Failed {
		t.Errorf("a slow request is %+v", s.Status)
	}
	if s := slow.traced(t, http.MethodGet, "alice", "/api/v1/pods?watch=1", ""); s.Status.Slow {
		t.Error("a watch is slow")
	}
}
