package handlerchain

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/apis/audit"
	auditcontext "k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/metrics"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/features"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/routine"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/metrics/legacyregistry"
)

// revealing answers with everything that filters have attached to the request.
func revealing(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if r.URL.Path == pods+"/slow" {
		<-ctx.Done()
		return
	}
	warning.AddWarning(ctx, "", "old version")
	info, _ := request.RequestInfoFrom(ctx)
	who, _ := request.UserFrom(ctx)
	_, received := request.ReceivedTimestampFrom(ctx)
	_, deadline := ctx.Deadline()
	_, latency := request.LatencyTrackersFrom(ctx)
	_, flushes := w.(http.Flusher)
	_, hijacks := w.(http.Hijacker)
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintln(w, info.Verb, info.APIGroup, info.APIVersion, info.Resource, info.Namespace, info.Name, info.IsResourceRequest)
	fmt.Fprintln(w, who, received, deadline, latency, flushes, hijacks, r.Header["Authorization"], r.Body == http.NoBody)
	fmt.Fprintln(w, filters.NoMuxAndDiscoveryIncompleteKey(ctx), request.ServerShutdownSignalFrom(ctx) != nil, routine.TaskFrom(ctx) != nil,
		auditcontext.AuditContextFrom(ctx).Enabled())
}

// variants are the options and gates that change the chain, each as a change of a
// configuration. What they share with others (wait groups, limits) is made anew.
var variants = []struct {
	name   string
	gates  map[featuregate.Feature]bool
	change func(*genericapiserver.Config)
}{
	{name: "defaults"},
	{name: "plain impersonation", gates: off(features.ConstrainedImpersonation)},
	{name: "routine", gates: on(features.APIServingWithRoutine)},
	{name: "cors", change: func(c *genericapiserver.Config) { c.CorsAllowedOriginList = []string{`good\.example$`} }},
	{name: "hsts", change: func(c *genericapiserver.Config) { c.HSTSDirectives = []string{"max-age=1", "preload"} }},
	{name: "retry-after", change: func(c *genericapiserver.Config) { c.ShutdownSendRetryAfter = true }},
	{name: "watch termination", change: func(c *genericapiserver.Config) { c.ShutdownWatchTerminationGracePeriod = time.Minute }},
	{name: "priority and fairness", change: func(c *genericapiserver.Config) { c.FlowControl = &fairness{} }},
	{name: "no limits", change: func(c *genericapiserver.Config) { c.MaxRequestsInFlight, c.MaxMutatingRequestsInFlight = 0, 0 }},
	{name: "audit", change: func(c *genericapiserver.Config) {
		c.AuditBackend, c.AuditPolicyRuleEvaluator = &auditLog{}, policy.NewFakePolicyRuleEvaluator(audit.LevelMetadata, nil)
	}},
	{name: "no authentication", change: func(c *genericapiserver.Config) {
		c.Authentication.Authenticator, c.Authorization.Authorizer = nil, nil
	}},
	{name: "stopping", change: func(c *genericapiserver.Config) { c.NonLongRunningRequestWaitGroup.Wait() }},
}

// asked are the requests that all variants get.
var asked = []struct {
	method, as, path string
	headers          []string
}{
	{path: "/healthz"},
	{path: "/healthz", headers: []string{"Audit-Id", "mine"}},
	{path: "/nothing"},
	{path: pods},
	{as: "bad", path: pods},
	{as: "bad", path: "/apis/apps/v1/deployments", headers: []string{"Accept", "application/yaml"}},
	{as: "bob", path: pods + "/a"},
	{as: "alice", path: pods + "/a"},
	{as: "alice", path: "/apis/apps/v1/namespaces/default/deployments/a/status"},
	{as: "alice", path: pods + "?watch=true"},
	{as: "alice", path: pods + "?timeout=soon"},
	{as: "alice", path: pods + "/slow?timeout=300ms"},
	{as: "carol", path: pods},
	{as: "bob", path: pods, headers: []string{"Impersonate-User", "alice"}},
	{as: "alice", path: pods, headers: []string{"Impersonate-User", "dave", "Impersonate-Group", "ops"}},
	{as: "alice", path: pods, headers: []string{"Impersonate-Group", "ops"}},
	{method: http.MethodDelete, as: "alice", path: pods + "/a"},
	{method: http.MethodOptions, path: pods, headers: []string{"Origin", "https://good.example"}},
	{method: http.MethodOptions, path: pods, headers: []string{"Origin", "https://bad.example"}},
	{as: "alice", path: pods, headers: []string{"Origin", "https://good.example"}},
	{as: "alice", path: pods, headers: []string{"X-Remote-User", "root", "User-Agent", "kube-apiserver/test"}},
}

// The chain answers what upstream's answers, to everything, under every option.
func TestAnswersAreUpstreams(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			made := func() *genericapiserver.Config {
				c := config(t, v.gates)
				if v.change != nil {
					v.change(c)
				}
				return c
			}
			theirs, mine := made(), made()
			upstream := serveHandler(t, genericapiserver.DefaultBuildHandlerChain(http.HandlerFunc(revealing), theirs))
			// Upstream's configuration has not signalled anything.
			options := Options{Signals: Signals{MuxAndDiscoveryComplete: make(chan struct{}), NotAcceptingNewRequest: make(chan struct{})}}
			ours := serve(t, Filters(mine, options), http.HandlerFunc(revealing))
			for _, a := range asked {
				want, got := answerOf(t, upstream, a.method, a.as, a.path, a.headers), answerOf(t, ours.Server, a.method, a.as, a.path, a.headers)
				if got != want {
					t.Errorf("%s %s as %q with %v\nours:      %s\nupstreams: %s", a.method, a.path, a.as, a.headers, got, want)
				}
			}
			if log, ok := mine.AuditBackend.(*auditLog); ok {
				other, _ := theirs.AuditBackend.(*auditLog)
				// What timed out is audited when its handler returns.
				eventually(t, func() bool { return slices.Equal(log.seen(), other.seen()) && len(log.seen()) > 20 })
			}
			eventually(t, func() bool { return ours.kept.count() >= len(asked) })
			balanced(t, ours.chain)
		})
	}
}

// answerOf is an answer as text, without what differs each time.
func answerOf(t *testing.T, s *httptest.Server, method, as, path string, headers []string) string {
	t.Helper()
	response, err := (&served{Server: s}).try(t, method, as, path, headers...)
	if err != nil {
		return err.Error()
	}
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, response.StatusCode, response.Close)
	for _, name := range slices.Sorted(maps.Keys(response.Header)) {
		value := response.Header[name]
		if name == "Date" || name == "Audit-Id" && !slices.Contains(headers, "mine") {
			value = []string{fmt.Sprint(len(value))}
		}
		fmt.Fprintln(&b, name, value)
	}
	b.Write(all)
	return b.String()
}

// The latency metrics of upstream go on under their names, as often as upstream has them.
func TestFilterLatencyMetrics(t *testing.T) {
	metrics.Register()
	counts := func(handler http.Handler) map[string]uint64 {
		before := filterLatencies(t)
		for _, as := range []string{"alice", "bad", "bob"} {
			r := httptest.NewRequest(http.MethodGet, pods, nil)
			r.Header.Set("Authorization", "Bearer "+as)
			handler.ServeHTTP(httptest.NewRecorder(), r)
		}
		after := filterLatencies(t)
		for name := range after {
			after[name] -= before[name]
		}
		return after
	}
	for _, gate := range []bool{true, false} {
		gates := map[featuregate.Feature]bool{features.ConstrainedImpersonation: gate}
		want := counts(genericapiserver.DefaultBuildHandlerChain(ok, config(t, gates)))
		got := counts(New(Filters(config(t, gates), Options{}), &keeper{}).Wrap(ok))
		if !maps.Equal(got, want) || want["audit"] == 0 || want["authentication"] == 0 {
			t.Errorf("ours are %v, upstream's %v", got, want)
		}
	}
}

func filterLatencies(t *testing.T) map[string]uint64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]uint64{}
	for _, family := range families {
		if family.GetName() != "apiserver_request_filter_duration_seconds" {
			continue
		}
		for _, metric := range family.GetMetric() {
			counts[metric.GetLabel()[0].GetValue()] += metric.GetHistogram().GetSampleCount()
		}
	}
	return counts
}

// Goaway closes connections of HTTP/2, and nothing else does.
func TestGoaway(t *testing.T) {
	for name, want := range map[string]int32{"off": 1, "on": 3} {
		c := config(t, nil)
		c.SecureServing = &genericapiserver.SecureServingInfo{}
		if name == "on" {
			c.GoawayChance = 1
		}
		var connections atomic.Int32
		s := httptest.NewUnstartedServer(New(Filters(c, Options{}), &keeper{}).Wrap(ok))
		s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				connections.Add(1)
			}
		}
		s.EnableHTTP2 = true
		s.StartTLS()
		t.Cleanup(s.Close)
		for range 3 {
			response, err := (&served{Server: s}).try(t, http.MethodGet, "alice", pods)
			if err != nil || response.ProtoMajor != 2 {
				t.Fatalf("%s: %v, %v", name, response, err)
			}
		}
		if got := connections.Load(); got != want {
			t.Errorf("%s: %d connections for three requests, want %d", name, got, want)
		}
	}
}

// The signals reach those that wait for them.
func TestSignals(t *testing.T) {
	complete, shutdown := make(chan struct{}), make(chan struct{})
	c := config(t, nil)
	c.ShutdownWatchTerminationGracePeriod = time.Minute
	var incomplete, ending bool
	s := serve(t, Filters(c, Options{Signals: Signals{MuxAndDiscoveryComplete: complete, ShuttingDown: shutdown}}),
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			incomplete = !filters.NoMuxAndDiscoveryIncompleteKey(r.Context())
			select {
			case <-request.ServerShutdownSignalFrom(r.Context()).ShuttingDown():
				ending = true
			default:
			}
		}))
	s.get(t, "alice", pods+"?watch=true")
	if !incomplete || ending {
		t.Errorf("at first: incomplete %t, ending %t", incomplete, ending)
	}
	close(complete)
	close(shutdown)
	s.get(t, "alice", pods+"?watch=true")
	if incomplete || !ending {
		t.Errorf("at last: incomplete %t, ending %t", incomplete, ending)
	}
}
