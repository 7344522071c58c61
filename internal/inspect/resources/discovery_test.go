package resources

import (
	"net/http"
	"testing"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// documents serves real OpenAPI v3 documents, and counts how often one is read.
type documents struct {
	*handler3.OpenAPIService

	mux  *http.ServeMux
	read map[string]int
}

func newDocuments(discovery http.Handler) *documents {
	d := &documents{OpenAPIService: handler3.NewOpenAPIService(), mux: http.NewServeMux(), read: map[string]int{}}
	d.mux.Handle("/apis", discovery)
	d.mux.HandleFunc("/openapi/v3", d.HandleDiscovery)
	d.mux.HandleFunc("/openapi/v3/", func(w http.ResponseWriter, r *http.Request) {
		d.read[r.URL.Path]++
		d.HandleGroupVersion(w, r)
	})
	d.mux.HandleFunc("/openapi/v2", func(w http.ResponseWriter, r *http.Request) {
		d.read[r.URL.Path]++
		w.Header().Set("ETag", `"abc"`)
		_, _ = w.Write([]byte(`{"paths":{"/apis/metrics.example.com/v1/nodes":{"get":{}},"/version":{}}}`))
	})
	return d
}

func titled(title string) *spec3.OpenAPI {
	return &spec3.OpenAPI{Version: "3.0.0", Info: &spec.Info{InfoProps: spec.InfoProps{Title: title}}}
}

func TestDiscoveryStates(t *testing.T) {
	t.Parallel()
	manager, handler := discoveryServer(apidiscoveryv2.DiscoveryFreshnessCurrent)
	d := newDocuments(handler)
	d.UpdateGroupVersion("apis/metrics.example.com/v1", titled("one"))
	c := newClock()
	r := New(Config{
		ServerID: "server", Handler: d.mux, Now: c.time,
		APIServices: apiServices(
			remote("metrics.example.com", "v1", apiregistrationv1.ConditionFalse),
			remote("absent.example.com", "v2", apiregistrationv1.ConditionFalse)),
	})
	look := func() map[string]*v1alpha1.DiscoveryState {
		c.later(askAgain)
		return named[*v1alpha1.DiscoveryState](t, r.DiscoveryStates)
	}
	all := look()
	first := all["metrics.example.com.v1"]
	if first == nil || first.Status.Freshness != v1alpha1.DiscoveryCurrent || first.Status.Resources != 1 || first.Spec.Source != "ns/api:443" || first.Status.Error != "" {
		t.Fatalf("current: %+v", first)
	}
	if v3 := first.Status.OpenAPIV3; !v3.Listed || v3.Hash == "" || v3.Bytes != 0 || v3.LastBuild != nil {
		t.Errorf("OpenAPI v3 is %+v", v3)
	}
	if v2 := first.Status.OpenAPIV2; v2.Listed || v2.Error == "" {
		t.Errorf("OpenAPI v2 is %+v", v2)
	}
	absent := all["absent.example.com.v2"].Status
	if absent.Freshness != v1alpha1.DiscoveryMissing || absent.Error != "it is False" || absent.OpenAPIV3.Listed {
		t.Errorf("absent: %+v", absent)
	}
	// Nothing has changed: the object is the same, and no document was read.
	if again := look()["metrics.example.com.v1"]; !again.Status.LastFetch.Equal(first.Status.LastFetch) || len(d.read) != 0 {
		t.Errorf("looked again: %+v, read %v", again.Status, d.read)
	}

	manager.AddGroupVersion("metrics.example.com", apidiscoveryv2.APIVersionDiscovery{Version: "v1", Freshness: apidiscoveryv2.DiscoveryFreshnessStale})
	d.UpdateGroupVersion("apis/metrics.example.com/v1", titled("two"))
	stale := look()["metrics.example.com.v1"].Status
	if stale.Freshness != v1alpha1.DiscoveryStale || stale.Error != "it is False" || stale.Resources != 0 {
		t.Errorf("stale: %+v", stale)
	}
	if v3 := stale.OpenAPIV3; v3.Hash == first.Status.OpenAPIV3.Hash || v3.LastBuild == nil || !v3.LastBuild.Time.Equal(c.time()) {
		t.Errorf("changed OpenAPI v3 is %+v", v3)
	}
}

func TestMeasureOpenAPI(t *testing.T) {
	t.Parallel()
	_, handler := discoveryServer(apidiscoveryv2.DiscoveryFreshnessCurrent)
	d := newDocuments(handler)
	d.UpdateGroupVersion("apis/metrics.example.com/v1", titled("one"))
	r := New(Config{Handler: d.mux})
	if err := r.MeasureOpenAPI(t.Context(), "metrics.example.com", "v1", false); err != nil {
		t.Fatal(err)
	}
	if d.read["/openapi/v2"] != 0 || d.read["/openapi/v3/apis/metrics.example.com/v1"] != 1 {
		t.Errorf("read %v", d.read)
	}
	status := named[*v1alpha1.DiscoveryState](t, r.DiscoveryStates)["metrics.example.com.v1"].Status
	if v3 := status.OpenAPIV3; v3.Bytes == 0 || v3.Cost == nil || v3.Hash == "" {
		t.Errorf("OpenAPI v3 is %+v", v3)
	}
	if err := r.MeasureOpenAPI(t.Context(), "metrics.example.com", "v1", true); err != nil {
		t.Fatal(err)
	}
	status = named[*v1alpha1.DiscoveryState](t, r.DiscoveryStates)["metrics.example.com.v1"].Status
	if v2 := status.OpenAPIV2; !v2.Listed || v2.Bytes == 0 || v2.Hash != "abc" || v2.Error != "" || v2.Cost == nil {
		t.Errorf("OpenAPI v2 is %+v", v2)
	}
	if err := r.MeasureOpenAPI(t.Context(), "none.example.com", "v1", false); err == nil {
		t.Error("a group version that is not there was measured")
	}
}

// TestDiscoveryOfARealServer asks a server whose /api nobody serves.
func TestDiscoveryOfARealServer(t *testing.T) {
	t.Parallel()
	s := newSample(t)
	r := New(s.config())
	for plural, want := range map[string]bool{"fischers": true, "fishes": false} {
		if got := r.Served(t.Context(), "wardle.example.com", "v1alpha1", plural); got != want {
			t.Errorf("%s is served: %t", plural, got)
		}
	}
	all := named[*v1alpha1.DiscoveryState](t, r.DiscoveryStates)
	state := all["wardle.example.com.v1alpha1"]
	if len(all) != 2 || state == nil || state.Status.Resources != 2 || state.Spec.Source != "local" || time.Since(state.Status.LastFetch.Time) > time.Hour {
		t.Errorf("states are %+v", all)
	}
}
