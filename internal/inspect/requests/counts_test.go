package requests

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Sums agree exactly: 50 clients with 200 requests each, of every kind.
func TestSumsAgree(t *testing.T) {
	const clients, each = 50, 200
	f := start(t, nil, func(_ *Config, c *genericapiserver.Config) {
		c.MaxRequestsInFlight, c.MaxMutatingRequestsInFlight = 3, 2
	})
	close(f.release) // nothing waits
	f.left = nil
	kinds := []struct{ method, as, path, body string }{
		{http.MethodGet, "alice", "/api/v1/namespaces/default/pods/a", ""},
		{http.MethodGet, "alice", "/api/v1/pods?watch=1", ""},
		{http.MethodPost, "alice", "/api/v1/namespaces/default/pods/a", "{}"},
		{http.MethodPost, "alice", "/api/v1/namespaces/default/pods/refused", "{}"},
		{http.MethodPut, "alice", "/api/v1/namespaces/default/pods/a", strings.Repeat("x", bodyLimit+1)},
		{http.MethodGet, "alice", "/apis/inspect.kapi.dev/v1alpha1/filters", ""},
		{http.MethodGet, "alice", "/apis/crd.example.com/v1/widgets", ""},
		{http.MethodGet, "alice", "/apis/none.example.com/v1/widgets", ""},
		{http.MethodGet, "bob", "/api/v1/pods", ""},
		{http.MethodGet, "bad", "/api/v1/pods", ""},
		{http.MethodGet, "alice", "/api/v1/namespaces/default/pods/broken", ""},
		// A client sends a GET again when the connection is closed without an answer,
		// as the timeout filter does too when the answer was begun.
		{http.MethodPost, "alice", "/apis/none.example.com/v1/widgets?timeout=1ns", ""},
		{http.MethodPost, "alice", "/api/v1/namespaces/default/pods/panic", ""},
		{http.MethodPost, "alice", "/api/v1/namespaces/default/pods/abort", ""},
		{http.MethodGet, "alice", "/api/v1/namespaces/default/pods/a?timeout=soon", ""},
	}
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(client)))
			for range each {
				kind := kinds[random.IntN(len(kinds))]
				f.ask(t, kind.method, kind.as, kind.path, kind.body)
			}
		})
	}
	reading := make(chan struct{})
	wg.Go(func() { // collecting while requests run sees no negative number
		defer close(reading)
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for f.observer.Totals().Received < clients*each {
			for _, name := range layerNames {
				if s := f.layer(t, name).Status; s.RequestsInFlight < 0 {
					t.Errorf("layer %s is %+v", name, s)
				}
			}
			if totals := f.observer.Totals(); totals.InFlight < 0 {
				t.Errorf("totals are %+v", totals)
			}
			<-ticker.C
		}
	})
	wg.Wait()
	<-reading
	f.rest(t)
	f.checkSums(t, clients*each)
}

// checkSums checks what holds at rest, and that each kind of end has come.
func (f *fixture) checkSums(t *testing.T, sent int64) {
	t.Helper()
	totals := f.observer.Totals()
	if totals.Received != sent || totals.InFlight != 0 {
		t.Errorf("totals are %+v after %d requests", totals, sent)
	}
	var answered, terminated int64
	before := sent
	for i, name := range layerNames {
		s := f.layer(t, name).Status
		t.Logf("%-15s received %d, passed on %d, abandoned %d, answered %s", name, s.RequestsReceived, s.RequestsPassedOn, s.RequestsAbandoned, fmt.Sprint(s.Answers))
		if s.RequestsReceived != s.RequestsAnswered+s.RequestsPassedOn+s.RequestsAbandoned || s.RequestsInFlight != 0 {
			t.Errorf("sums of layer %s do not agree: %+v", name, s)
		}
		if i > 0 && s.RequestsReceived != before {
			t.Errorf("layer %s has received %d, the one before passed on %d", name, s.RequestsReceived, before)
		}
		if name != "aggregator" && s.RequestsAnswered == 0 {
			t.Errorf("layer %s has answered nothing", name)
		}
		before = s.RequestsPassedOn
		answered += s.RequestsAnswered
	}
	filters, err := f.observer.Filters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range filters {
		filter := object.(*v1alpha1.Filter)
		var here int64
		for _, count := range filter.Status.Terminated {
			here += count.Count
		}
		if filter.Spec.Enabled && filter.Status.Requests != filter.Status.PassedOn+filter.Status.Abandoned+here {
			t.Errorf("sums of filter %s do not agree: %+v", filter.Name, filter.Status)
		}
		terminated += here
	}
	if terminated != totals.Terminated || answered+terminated+totals.GivenUp != totals.Received || totals.GivenUp == 0 {
		t.Errorf("answered %d + terminated %d (%d) + given up %d are not %d",
			answered, terminated, totals.Terminated, totals.GivenUp, totals.Received)
	}
	if kept := f.observer.Traces().Len(); kept > DefaultCapacity+DefaultKept {
		t.Errorf("%d traces are kept", kept)
	}
}
