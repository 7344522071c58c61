package handlerchain

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/waitgroup"
	"k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/features"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/routine"
	"k8s.io/apiserver/pkg/storageversion"
	"k8s.io/component-base/featuregate"
)

// closed is an event that has come.
func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// pending is a storage version manager that waits for everything.
type pending struct{ storageversion.Manager }

func (pending) Completed() bool                            { return false }
func (pending) PendingUpdate(schema.GroupResource) bool    { return true }
func (pending) LastUpdateError(schema.GroupResource) error { return errors.New("not yet") }

// lost cannot tell what a request is.
type lost struct{}

func (lost) NewRequestInfo(*http.Request) (*request.RequestInfo, error) {
	return nil, errors.New("lost")
}

const pods = "/api/v1/namespaces/default/pods"

// end is one way for a request to end.
type end struct {
	name    string
	gates   map[featuregate.Feature]bool
	config  func(*genericapiserver.Config)
	options Options
	handler http.HandlerFunc
	hangs   bool // the handler does nothing before the client has its answer
	method  string
	as      string
	path    string
	headers []string

	filter   string // who ended it; empty: the handler behind the chain
	nobody   bool   // nobody ended it
	status   int
	panicked bool // the connection was aborted
	fails    bool // the client gets no answer
}

var ends = []end{
	{name: "answered", as: "alice", path: pods, status: 200},
	{name: "health without a user", path: "/healthz", status: 200},
	{name: "nothing said", as: "alice", path: pods, handler: func(http.ResponseWriter, *http.Request) {}, status: 200},
	{name: "not found", as: "alice", path: "/nothing", handler: http.NotFound, status: 404},
	{name: "watch", as: "alice", path: pods + "?watch=true", status: 200},
	{
		name: "watch as a task", gates: on(features.APIServingWithRoutine), as: "alice", path: pods + "?watch=true", status: 200,
		handler: func(w http.ResponseWriter, r *http.Request) {
			routine.TaskFrom(r.Context()).Func = func() { ok(w, r) }
		},
	},
	{
		name: "request-info", config: func(c *genericapiserver.Config) { c.RequestInfoResolver = lost{} },
		as: "alice", path: pods, filter: "request-info", status: 500,
	},
	{
		name: "retry-after", config: func(c *genericapiserver.Config) { c.ShutdownSendRetryAfter = true },
		options: Options{Signals: Signals{NotAcceptingNewRequest: closed()}},
		as:      "alice", path: pods, filter: "retry-after", status: 429,
	},
	{
		name: "retry-after lets health through", config: func(c *genericapiserver.Config) { c.ShutdownSendRetryAfter = true },
		options: Options{Signals: Signals{NotAcceptingNewRequest: closed()}},
		path:    "/healthz", status: 200,
	},
	{
		name: "watch-termination", config: func(c *genericapiserver.Config) {
			c.ShutdownWatchTerminationGracePeriod = time.Minute
			_, _, _ = c.WatchRequestWaitGroup.Wait(func(int) (waitgroup.RateLimiter, context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(context.Background())
				return nil, ctx, cancel
			})
		},
		as: "alice", path: pods + "?watch=true", filter: "watch-termination", status: 503,
	},
	{
		name: "wait-group", config: func(c *genericapiserver.Config) { c.NonLongRunningRequestWaitGroup.Wait() },
		as: "alice", path: pods, filter: "wait-group", status: 503,
	},
	{name: "request-deadline", as: "alice", path: pods + "?timeout=soon", filter: "request-deadline", status: 400},
	{
		name: "timeout", as: "alice", path: pods + "?timeout=20ms", filter: "timeout", status: 504, hangs: true,
	},
	{
		name: "timeout of the server", config: func(c *genericapiserver.Config) { c.RequestTimeout = 20 * time.Millisecond },
		as: "alice", path: pods + "?timeout=1h", filter: "timeout", status: 504, hangs: true,
	},
	{
		name: "timeout after the answer was begun", as: "alice", path: pods + "?timeout=2s", nobody: true, status: 200, panicked: true, fails: true,
		handler: func(w http.ResponseWriter, r *http.Request) {
			ok(w, r)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			for { // until the writer is cut off
				if _, err := w.Write([]byte(".")); err != nil {
					return
				}
			}
		},
	},
	{
		name: "cors", method: http.MethodOptions, path: pods, headers: []string{"Origin", "https://good.example"},
		config: func(c *genericapiserver.Config) { c.CorsAllowedOriginList = []string{`good\.example$`} },
		filter: "cors", status: 204,
	},
	{name: "authentication", as: "bad", path: pods, filter: "authentication", status: 401},
	{
		name: "audit", as: "alice", path: pods, filter: "audit", status: 500,
		config: func(c *genericapiserver.Config) {
			c.AuditBackend = &auditLog{fails: true}
			c.AuditPolicyRuleEvaluator = policy.NewFakePolicyRuleEvaluator(audit.LevelMetadata, nil)
		},
	},
	{
		name: "impersonation", gates: off(features.ConstrainedImpersonation), as: "bob", path: pods,
		headers: []string{"Impersonate-User", "alice"}, filter: "impersonation", status: 403,
	},
	{
		name: "constrained impersonation", gates: on(features.ConstrainedImpersonation), as: "bob", path: pods,
		headers: []string{"Impersonate-User", "alice"}, filter: "constrained-impersonation", status: 403,
	},
	{
		name: "priority and fairness", config: func(c *genericapiserver.Config) { c.FlowControl = &fairness{} },
		as: "carol", path: pods, filter: "priority-and-fairness", status: 429,
	},
	{
		name: "priority and fairness, a watch", config: func(c *genericapiserver.Config) { c.FlowControl = &fairness{} },
		as: "carol", path: pods + "?watch=true", filter: "priority-and-fairness", status: 429,
	},
	{name: "authorization", as: "bob", path: pods, filter: "authorization", status: 403},
	{
		name: "storage version precondition", config: func(c *genericapiserver.Config) { c.StorageVersionManager = pending{} },
		options: Options{StorageVersionPrecondition: true}, method: http.MethodPost,
		as: "alice", path: pods, filter: "storage-version-precondition", status: 503,
	},
	{
		name: "peer proxy", options: Options{PeerProxy: peer{}},
		as: "alice", path: "/peer", filter: "peer-proxy", status: 503,
	},
	{
		name: "panic", as: "alice", path: pods, filter: "panic-recovery", status: 500, panicked: true, fails: true,
		handler: func(http.ResponseWriter, *http.Request) { panic("a test") },
	},
	{
		name: "panic of a watch", as: "alice", path: pods + "?watch=true", filter: "panic-recovery", status: 500, panicked: true, fails: true,
		handler: func(http.ResponseWriter, *http.Request) { panic("a test") },
	},
	{
		name: "panic after the answer was begun", as: "alice", path: pods, nobody: true, status: 200, panicked: true, fails: true,
		handler: func(w http.ResponseWriter, r *http.Request) { ok(w, r); panic("a test") },
	},
	{
		name: "abort", as: "alice", path: pods, nobody: true, status: 0, panicked: true, fails: true,
		handler: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	},
}

// Every filter that can end a request is named, with its status, in the record and in
// its counts, and in nobody else's.
func TestEnds(t *testing.T) {
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			c := config(t, e.gates)
			if e.config != nil {
				e.config(c)
			}
			handler := http.Handler(ok)
			if e.handler != nil {
				handler = e.handler
			}
			release := make(chan struct{})
			if e.hangs {
				handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release })
			}
			if e.method == "" {
				e.method = http.MethodGet
			}
			s := serve(t, Filters(c, e.options), handler)
			response, err := s.try(t, e.method, e.as, e.path, e.headers...)
			close(release)
			if (err != nil) != e.fails || err == nil && response.StatusCode != e.status {
				t.Errorf("the client got %v, %v", response, err)
			}
			eventually(t, func() bool { return s.kept.count() == 1 })
			record, _ := s.kept.last(t)
			e.check(t, s, record)
			balanced(t, s.chain)
		})
	}
}

func (e end) check(t *testing.T, s *served, record *Record) {
	t.Helper()
	ended := ""
	if i, ok := record.Terminator(); ok {
		ended = s.chain.Filters()[i].Name
	}
	if ended != e.filter || record.Status() != e.status || record.Panicked() != e.panicked || !record.Over() {
		t.Errorf("ended by %q with %d, panicked: %t; want %q, %d, %t", ended, record.Status(), record.Panicked(), e.filter, e.status, e.panicked)
	}
	stats, name := s.chain.Stats(), e.filter
	for i, f := range s.chain.Filters() {
		if n := stats[i].Terminated[e.status]; (f.Name == name) != (n == 1) || len(stats[i].Terminated) > 1 {
			t.Errorf("%s has ended %v", f.Name, stats[i].Terminated)
		}
	}
	handled := s.chain.HandlerStats().Terminated[e.status] == 1
	if want := e.filter == "" && !e.nobody; handled != want {
		t.Errorf("the handler behind the chain answered: %t, want %t", handled, want)
	}
	if first := stats[0]; (first.Abandoned == 1) != e.nobody {
		t.Errorf("%d were abandoned at the outermost filter", first.Abandoned)
	}
}

// A request above the limit ends at max-in-flight; the one that is served does not.
func TestEndsMaxInFlight(t *testing.T) {
	c := config(t, nil)
	c.MaxRequestsInFlight = 1
	arrived, release := make(chan struct{}), make(chan struct{})
	s := serve(t, Filters(c, Options{}), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		ok(w, r)
	}))
	first := make(chan int, 1)
	go func() {
		response, err := s.try(t, http.MethodGet, "alice", pods)
		if err != nil {
			first <- 0
			return
		}
		first <- response.StatusCode
	}()
	<-arrived
	limit := index(t, s.chain.Filters(), "max-in-flight")
	if now := s.chain.Stats()[limit]; now.InFlight != 1 || now.Requests != 1 {
		t.Errorf("%d of %d are in flight", now.InFlight, now.Requests)
	}
	if response := s.get(t, "alice", pods); response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the second request got %d", response.StatusCode)
	}
	refused, _ := s.kept.last(t)
	if at, ok := refused.Terminator(); !ok || at != limit {
		t.Errorf("ended by %d, %t", at, ok)
	}
	close(release)
	if status := <-first; status != http.StatusOK {
		t.Errorf("the first request got %d", status)
	}
	eventually(t, func() bool { return s.kept.count() == 2 })
	balanced(t, s.chain)
}

// A filter that answers after the next said nothing has ended the request.
func TestEndsLateAnswer(t *testing.T) {
	late := Filter{Name: "late", Enabled: true, Wrap: func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r)
			w.WriteHeader(http.StatusTeapot)
		})
	}}
	outer := Filter{Name: "outer", Enabled: true, Wrap: func(h http.Handler) http.Handler { return h }}
	s := serve(t, []Filter{outer, {Name: "off"}, late}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	if response := s.get(t, "", "/"); response.StatusCode != http.StatusTeapot {
		t.Errorf("the client got %d", response.StatusCode)
	}
	record, _ := s.kept.last(t)
	if i, ok := record.Terminator(); !ok || i != 2 || record.Status() != http.StatusTeapot {
		t.Errorf("ended by %d, %t with %d", i, ok, record.Status())
	}
	balanced(t, s.chain)
}
