package requests

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func TestWhatEndsARequest(t *testing.T) {
	const pods = "/api/v1/namespaces/default/pods/"
	f := start(t, nil, func(_ *Config, c *genericapiserver.Config) { c.GoawayChance = 0 })
	endedBy := func(kind v1alpha1.EndedByKind, name string) v1alpha1.EndedBy {
		return v1alpha1.EndedBy{Kind: kind, Name: name}
	}
	for name, test := range map[string]struct {
		method, as, path, body string
		headers                []string
		ended                  v1alpha1.EndedBy
		code                   int32
		answeredBy             string
		hops                   int
		failed                 bool
	}{
		"not authenticated": {as: "bad", path: pods + "a", ended: endedBy(v1alpha1.EndedByFilter, "authentication"), code: 401},
		"not authorized":    {as: "bob", path: pods + "a", ended: endedBy(v1alpha1.EndedByFilter, "authorization"), code: 403},
		"preflight": {
			method: http.MethodOptions, path: pods + "a", ended: endedBy(v1alpha1.EndedByFilter, "cors"), code: 204,
			headers: []string{"Origin", "https://allowed.example", "Access-Control-Request-Method", "GET"},
		},
		"no deadline":    {as: "alice", path: pods + "a?timeout=soon", ended: endedBy(v1alpha1.EndedByFilter, "request-deadline"), code: 400},
		"panic":          {as: "alice", path: pods + "panic", ended: endedBy(v1alpha1.EndedByFilter, "panic-recovery"), code: 500, hops: 2, failed: true},
		"aborted":        {as: "alice", path: pods + "abort", ended: endedBy(v1alpha1.EndedByConnection, "kube-apiserver"), code: 200, hops: 2, failed: true},
		"built-in":       {as: "alice", path: pods + "a", ended: endedBy(v1alpha1.EndedByLayer, "kube-apiserver"), code: 200, answeredBy: "kube-apiserver", hops: 2},
		"health":         {as: "alice", path: "/healthz", ended: endedBy(v1alpha1.EndedByLayer, "kube-apiserver"), code: 200, answeredBy: "kube-apiserver", hops: 2},
		"broken":         {as: "alice", path: pods + "broken", ended: endedBy(v1alpha1.EndedByLayer, "kube-apiserver"), code: 500, answeredBy: "kube-apiserver", hops: 2, failed: true},
		"inspect":        {as: "alice", path: "/apis/inspect.kapi.dev/v1alpha1/filters", ended: endedBy(v1alpha1.EndedByLayer, "inspect"), code: 200, answeredBy: "inspect", hops: 3},
		"custom":         {as: "alice", path: "/apis/crd.example.com/v1/widgets", ended: endedBy(v1alpha1.EndedByLayer, "apiextensions"), code: 200, answeredBy: "apiextensions", hops: 4},
		"unknown":        {as: "alice", path: "/apis/none.example.com/v1/widgets", ended: endedBy(v1alpha1.EndedByLayer, "not-found"), code: 404, answeredBy: "not-found", hops: 5},
		"admission":      {method: http.MethodPost, as: "alice", path: pods + "refused", body: "{}", ended: endedBy(v1alpha1.EndedByAdmission, "PodSecurity"), code: 403, answeredBy: "kube-apiserver", hops: 2},
		"admitted after": {method: http.MethodPost, as: "alice", path: pods + "mended", body: "{}", ended: endedBy(v1alpha1.EndedByLayer, "kube-apiserver"), code: 200, answeredBy: "kube-apiserver", hops: 2},
		"body limit": {
			method: http.MethodPut, as: "alice", path: pods + "a", body: strings.Repeat("x", bodyLimit+1),
			ended: endedBy(v1alpha1.EndedByBodyLimit, "kube-apiserver"), code: 413, answeredBy: "kube-apiserver", hops: 2,
		},
		"body at its limit": {
			method: http.MethodPut, as: "alice", path: pods + "a", body: strings.Repeat("x", bodyLimit),
			ended: endedBy(v1alpha1.EndedByLayer, "kube-apiserver"), code: 200, answeredBy: "kube-apiserver", hops: 2,
		},
		"another 413": {
			method: http.MethodPut, as: "alice", path: pods + "full", body: "x",
			ended: endedBy(v1alpha1.EndedByLayer, "kube-apiserver"), code: 413, answeredBy: "kube-apiserver", hops: 2,
		},
		"upgrade": {as: "alice", path: pods + "upgrade", ended: endedBy(v1alpha1.EndedByLayer, "kube-apiserver"), code: 101, answeredBy: "kube-apiserver", hops: 2},
	} {
		t.Run(name, func(t *testing.T) {
			if test.method == "" {
				test.method = http.MethodGet
			}
			trace := f.traced(t, test.method, test.as, test.path, test.body, test.headers...)
			status := trace.Status
			if status.TerminatedBy != test.ended || status.Code != test.code || status.AnsweredBy != test.answeredBy {
				t.Errorf("ended by %v with %d, answered by %q; want %v with %d, %q",
					status.TerminatedBy, status.Code, status.AnsweredBy, test.ended, test.code, test.answeredBy)
			}
			if status.Failed != test.failed || len(status.Hops) != test.hops {
				t.Errorf("failed %t, hops %v; want %t, %d hops", status.Failed, status.Hops, test.failed, test.hops)
			}
			for i, hop := range status.Hops {
				if hop.Layer != layerNames[i] || hop.PassedOn != (i+1 < test.hops) {
					t.Errorf("hop %d is %+v", i, hop)
				}
			}
			if len(status.Filters) == 0 || status.Filters[0].Name != "audit-init" {
				t.Errorf("filters are %v", status.Filters)
			}
		})
	}
}

func TestTraceOfARequest(t *testing.T) {
	f := start(t, nil, nil)
	trace := f.traced(t, http.MethodGet, "alice",
		"/apis/inspect.kapi.dev/v1alpha1/namespaces/ns/things/one/status?limit=5&dryRun=All&labelSelector=a", "",
		"User-Agent", "test/1.0 \u202e[31m"+strings.Repeat("é", 200), "Impersonate-User", "carol", "Impersonate-Group", "staff")
	spec := trace.Spec
	want := &v1alpha1.RequestInfo{
		IsResourceRequest: true, Verb: "get", APIPrefix: "apis", APIGroup: "inspect.kapi.dev", APIVersion: "v1alpha1",
		Namespace: "ns", Resource: "things", Name: "one", Subresource: "status",
	}
	if !equality.Semantic.DeepEqual(spec.RequestInfo, want) {
		t.Errorf("requestInfo is %+v, want %+v", spec.RequestInfo, want)
	}
	if u := spec.User; u == nil || u.Name != "carol" || u.ImpersonatedBy != "alice" || !slices.Contains(u.Groups, "staff") {
		t.Errorf("user is %+v", u)
	}
	if spec.Query != "limit=5&dryRun=All" {
		t.Errorf("query is %q", spec.Query)
	}
	if !strings.HasPrefix(spec.UserAgent, "test/1.0 \uFFFD[31m") || len([]rune(spec.UserAgent)) != 120 {
		t.Errorf("user agent is %q", spec.UserAgent)
	}
	if spec.SourceIP != "127.0.0.1" || spec.Protocol != "HTTP/1.1" || spec.AuditID == "" || spec.Verb != "get" || spec.Method != http.MethodGet {
		t.Errorf("spec is %+v", spec)
	}
	labels := map[string]string{
		LabelInspect: "true", LabelVerb: "get", LabelCodeClass: "2xx", LabelLayer: "inspect", LabelResource: "things.inspect.kapi.dev",
	}
	if !equality.Semantic.DeepEqual(trace.Labels, labels) {
		t.Errorf("labels are %v, want %v", trace.Labels, labels)
	}
	if trace.ServerID != "server-1" || trace.CreationTimestamp.IsZero() || trace.UID == "" {
		t.Errorf("metadata is %+v of server %q", trace.ObjectMeta, trace.ServerID)
	}
	if trace.Status.BytesWritten != int64(len("answered")) || trace.Status.Duration.Duration <= 0 {
		t.Errorf("status is %+v", trace.Status)
	}

	alone := f.traced(t, http.MethodGet, "alice", "/api/v1/pods", "")
	if alone.Spec.User.ImpersonatedBy != "" || alone.Labels[LabelInspect] != "" || alone.Labels[LabelResource] != "pods" {
		t.Errorf("trace of a plain request is %+v, %v", alone.Spec.User, alone.Labels)
	}
	if alone.Name == trace.Name {
		t.Errorf("two traces are named %s", trace.Name)
	}
	watched := f.traced(t, http.MethodGet, "alice", "/api/v1/pods?watch=1", "")
	if !watched.Spec.LongRunning || watched.Spec.Verb != "watch" || alone.Spec.LongRunning {
		t.Errorf("a watch is %+v, and a list has longRunning %t", watched.Spec, alone.Spec.LongRunning)
	}
}

// What cannot be a label's value is left out.
func TestLabelsAreValid(t *testing.T) {
	f := start(t, nil, nil)
	trace := f.traced(t, "M!SEARCH", "alice", "/api/v1/"+strings.Repeat("x", 100)+"/-", "")
	want := map[string]string{LabelCodeClass: "2xx", LabelLayer: "kube-apiserver"}
	if !equality.Semantic.DeepEqual(trace.Labels, want) {
		t.Errorf("labels are %v, want %v", trace.Labels, want)
	}
	other := f.traced(t, "M!SEARCH", "alice", "/healthz", "")
	if other.Spec.Verb != "m!search" || other.Labels[LabelVerb] != "" {
		t.Errorf("verb is %q, labels are %v", other.Spec.Verb, other.Labels)
	}
}

// What a goroutine reports that a timeout has left behind changes nothing.
func TestTimeoutLeavesAGoroutineBehind(t *testing.T) {
	f := start(t, nil, nil)
	before := f.traced(t, http.MethodGet, "alice", "/api/v1/namespaces/default/pods/stuck?timeout=10ms", "")
	want := v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: "timeout"}
	if before.Status.TerminatedBy != want || before.Status.Code != http.StatusGatewayTimeout || before.Status.AnsweredBy != "" {
		t.Errorf("status is %+v", before.Status)
	}
	if before.Spec.User == nil || before.Spec.User.Name != "alice" || len(before.Status.Hops) != 2 || !before.Status.Failed {
		t.Errorf("trace is %+v %+v", before.Spec.User, before.Status)
	}
	close(f.release)
	<-f.left
	if after := f.last(t); !equality.Semantic.DeepEqual(before, after) {
		t.Errorf("the trace has changed:\n%+v\n%+v", before, after)
	}
	kube, outer, inspect := f.layer(t, "kube-apiserver").Status, f.layer(t, "aggregator").Status, f.layer(t, "inspect").Status
	if kube.RequestsReceived != 1 || kube.RequestsAbandoned != 1 || kube.RequestsAnswered != 0 || kube.RequestsInFlight != 0 {
		t.Errorf("kube-apiserver is %+v", kube)
	}
	if outer.RequestsPassedOn != 1 || inspect.RequestsReceived != 0 {
		t.Errorf("aggregator is %+v, inspect is %+v", outer, inspect)
	}
}

func TestLayersAndFilters(t *testing.T) {
	f := start(t, nil, func(c *Config, _ *genericapiserver.Config) {
		c.Layers[1].GroupVersions = func() []string { return []string{"v1", "apps/v1"} }
		c.Layers[1].ListedPaths = func() []string { return []string{"/healthz"} }
		c.Layers[1].WebServices = func() []string { return []string{"/api/v1"} }
	})
	trace := f.traced(t, http.MethodGet, "alice", "/api/v1/namespaces/default/pods/broken", "")
	f.traced(t, http.MethodGet, "bob", "/api/v1/pods", "")
	kube := f.layer(t, "kube-apiserver")
	if kube.Spec.Order != 1 || kube.Spec.Delegate != "inspect" || len(kube.Spec.GroupVersions) != 2 ||
		len(kube.Spec.ListedPaths) != 1 || len(kube.Spec.WebServices) != 1 || kube.ServerID != "server-1" {
		t.Errorf("spec is %+v", kube.Spec)
	}
	if e := kube.Status.LastError; e == nil || e.Code != 500 || e.AuditID != trace.Spec.AuditID {
		t.Errorf("last error is %+v, want 500 of %s", e, trace.Spec.AuditID)
	}
	if last := f.layer(t, "not-found"); last.Spec.Delegate != "" {
		t.Errorf("the end of the chain has the delegate %q", last.Spec.Delegate)
	}
	filters, err := f.observer.Filters(t.Context())
	if err != nil || len(filters) != len(f.chain.Filters()) {
		t.Fatalf("there are %d filters, %v", len(filters), err)
	}
	for i, object := range filters {
		filter := object.(*v1alpha1.Filter)
		switch {
		case int(filter.Spec.Order) != i || filter.Spec.Doc == "" || filter.Spec.Enabled != (filter.Spec.Reason == ""):
			t.Errorf("filter %s is %+v", filter.Name, filter.Spec)
		case !filter.Spec.Enabled && filter.Status.Requests != 0, filter.Spec.Enabled && filter.Status.Requests != 2:
			t.Errorf("filter %s has had %d requests", filter.Name, filter.Status.Requests)
		case filter.Name == "authorization" && !slices.Equal(filter.Status.Terminated, []v1alpha1.StatusCount{{Code: 403, Count: 1}}):
			t.Errorf("authorization has ended %v", filter.Status.Terminated)
		}
	}
}
