package handlerchain

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/features"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/flowcontrol"
	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	flowcontrolrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
)

// Upstream logs every request that fails, with its stack; here they fail on purpose.
func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	os.Exit(m.Run())
}

// config returns a configuration as the server has it: tokens are user names, "bad"
// is no token, without one the caller is anonymous; bob may do nothing, anonymous
// callers may see health.
func config(t testing.TB, gates map[featuregate.Feature]bool) *genericapiserver.Config {
	t.Helper()
	c := genericapiserver.NewConfig(scheme.Codecs)
	c.RequestInfoResolver = &request.RequestInfoFactory{
		APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
	}
	c.LongRunningFunc = genericfilters.BasicLongRunningRequestCheck(
		sets.NewString("watch", "proxy"), sets.NewString("attach", "exec", "proxy", "log", "portforward"))
	c.Authentication.Authenticator = authenticator.RequestFunc(authenticate)
	c.Authorization.Authorizer = authorizer.AuthorizerFunc(authorize)
	gate := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	for feature, on := range gates {
		if err := gate.OverrideDefault(feature, on); err != nil {
			t.Fatal(err)
		}
	}
	c.FeatureGate = gate
	return c
}

func authenticate(r *http.Request) (*authenticator.Response, bool, error) {
	name := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch name {
	case "bad":
		return nil, false, nil
	case "":
		return &authenticator.Response{User: &user.DefaultInfo{Name: user.Anonymous, Groups: []string{user.AllUnauthenticated}}}, true, nil
	default:
		return &authenticator.Response{User: &user.DefaultInfo{Name: name, Groups: []string{user.AllAuthenticated}}}, true, nil
	}
}

func authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	switch name := a.GetUser().GetName(); {
	case name == "bob", name == user.Anonymous && a.GetPath() != "/healthz":
		return authorizer.DecisionNoOpinion, "", nil
	default:
		return authorizer.DecisionAllow, "", nil
	}
}

// everything returns a configuration with all filters on that can be at the same time.
func everything(t testing.TB) *genericapiserver.Config {
	t.Helper()
	c := config(t, on(features.APIServingWithRoutine))
	c.ShutdownSendRetryAfter = true
	c.HSTSDirectives = []string{"max-age=31536000", "includeSubDomains"}
	c.SecureServing = &genericapiserver.SecureServingInfo{}
	c.GoawayChance = 1
	c.ShutdownWatchTerminationGracePeriod = time.Minute
	c.CorsAllowedOriginList = []string{`^https://good\.example$`}
	c.AuditBackend, c.AuditPolicyRuleEvaluator = &auditLog{}, policy.NewFakePolicyRuleEvaluator(audit.LevelMetadata, nil)
	c.FlowControl = &fairness{}
	return c
}

// peer is a peer proxy that takes what is under /peer.
type peer struct{}

func (peer) WrapHandler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/peer") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// auditLog is an audit backend that keeps the stages of events.
type auditLog struct {
	mu     sync.Mutex
	stages []string
	fails  bool
}

func (l *auditLog) ProcessEvents(events ...*audit.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		l.stages = append(l.stages, string(e.Stage))
	}
	return !l.fails
}

// seen returns the stages of all events, sorted.
func (l *auditLog) seen() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.stages))
}

func (*auditLog) Run(<-chan struct{}) error { return nil }
func (*auditLog) Shutdown()                 {}
func (*auditLog) String() string            { return "test" }

// fairness is a flow control that rejects what carol asks.
type fairness struct{ flowcontrol.Interface }

func (*fairness) GetInterestedWatchCount(*request.RequestInfo) int { return 0 }
func (*fairness) GetMaxSeats(string) uint64                        { return 1 }

func (*fairness) RegisterWatch(*http.Request) flowcontrol.ForgetWatchFunc { return func() {} }

func (*fairness) Handle(_ context.Context, digest flowcontrol.RequestDigest,
	note func(*flowcontrolv1.FlowSchema, *flowcontrolv1.PriorityLevelConfiguration, string),
	_ func() flowcontrolrequest.WorkEstimate, _ fq.QueueNoteFn, execute func(),
) {
	note(&flowcontrolv1.FlowSchema{}, &flowcontrolv1.PriorityLevelConfiguration{}, "")
	if digest.User.GetName() != "carol" {
		execute()
	}
}

// on and off are feature gates for config.
func on(f featuregate.Feature) map[featuregate.Feature]bool {
	return map[featuregate.Feature]bool{f: true}
}

func off(f featuregate.Feature) map[featuregate.Feature]bool {
	return map[featuregate.Feature]bool{f: false}
}

// keeper is an observer that keeps all records, and what they know at their end only.
type keeper struct {
	mu      sync.Mutex
	begun   int
	records []*Record
	ends    []atEnd
	onEnd   func(*Record)
}

type atEnd struct {
	deepest *http.Request
	info    *request.RequestInfo
	user    user.Info
}

func (k *keeper) Begin(r *Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.begun++
	r.Data = k.begun
}

func (k *keeper) End(r *Record) {
	var end atEnd
	end.deepest = r.Deepest()
	end.info, _ = request.RequestInfoFrom(r.Context())
	end.user, _ = request.UserFrom(r.Context())
	if k.onEnd != nil {
		k.onEnd(r)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.records = append(k.records, r)
	k.ends = append(k.ends, end)
}

// last returns the record of the only or last request.
func (k *keeper) last(t testing.TB) (*Record, atEnd) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.records) == 0 {
		t.Fatal("no request was reported")
	}
	return k.records[len(k.records)-1], k.ends[len(k.ends)-1]
}

func (k *keeper) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.records)
}

// ok answers like an API.
var ok = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte("answered " + r.URL.Path))
})

// served is a chain behind a real HTTP/1.1 server.
type served struct {
	*httptest.Server
	chain *Chain
	kept  *keeper
}

func serve(t testing.TB, filters []Filter, handler http.Handler) *served {
	t.Helper()
	s := &served{kept: &keeper{}}
	s.chain = New(filters, s.kept)
	s.Server = serveHandler(t, s.chain.Wrap(handler))
	return s
}

// serveHandler starts an HTTP/1.1 server that does not log the panics of a test.
func serveHandler(t testing.TB, handler http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// get sends a GET as user (empty: anonymous) with headers, as pairs, and waits until
// the record of it is there.
func (s *served) get(t testing.TB, as, path string, headers ...string) *http.Response {
	t.Helper()
	return s.do(t, http.MethodGet, as, path, headers...)
}

func (s *served) do(t testing.TB, method, as, path string, headers ...string) *http.Response {
	t.Helper()
	before := s.kept.count()
	response, err := s.try(t, method, as, path, headers...)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return s.kept.count() > before })
	return response
}

func (s *served) try(t testing.TB, method, as, path string, headers ...string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+as)
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	return fetch(s.Client(), r)
}

// fetch sends a request and reads the whole answer; the body can be read again.
func fetch(client *http.Client, r *http.Request) (*http.Response, error) {
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(all))
	return response, err
}

// eventually waits for what another goroutine is about to do.
func eventually(t testing.TB, done func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	limit := time.After(time.Minute)
	for !done() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatal("waited a minute for nothing")
		}
	}
}

func index(t testing.TB, filters []Filter, name string) int {
	t.Helper()
	i := slices.IndexFunc(filters, func(f Filter) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("there is no filter %q", name)
	}
	return i
}

// balanced checks the identity of every filter at rest, and that counts agree from
// filter to filter.
func balanced(t testing.TB, c *Chain) {
	t.Helper()
	filters := append(c.Filters(), Filter{Name: "handler", Enabled: true})
	stats := append(c.Stats(), c.HandlerStats())
	outer := -1
	for i, s := range stats {
		if !filters[i].Enabled {
			if s.Requests != 0 {
				t.Errorf("%s is off and has %d requests", filters[i].Name, s.Requests)
			}
			continue
		}
		var ended int64
		for _, n := range s.Terminated {
			ended += n
		}
		if s.InFlight != 0 || s.Requests != s.PassedOn+ended+s.Abandoned {
			t.Errorf("%s: %d requests, %d in flight, %d passed on, %d ended, %d abandoned",
				filters[i].Name, s.Requests, s.InFlight, s.PassedOn, ended, s.Abandoned)
		}
		if s.In.Count() != s.PassedOn+ended || s.Back.Count() > s.In.Count() {
			t.Errorf("%s: %d times in, %d back, for %d passed on and %d ended", filters[i].Name, s.In.Count(), s.Back.Count(), s.PassedOn, ended)
		}
		if outer >= 0 && s.Requests-s.Abandoned > stats[outer].PassedOn {
			t.Errorf("%s: %d requests were answered from here on, %s passed on %d",
				filters[i].Name, s.Requests-s.Abandoned, filters[outer].Name, stats[outer].PassedOn)
		}
		outer = i
	}
}
