package requests

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/handlerchain"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

const bodyLimit = 1000

// tokens are user names; bob may do nothing, and "bad" is no token.
func serverConfig() *genericapiserver.Config {
	c := genericapiserver.NewConfig(scheme.Codecs)
	c.RequestInfoResolver = &apirequest.RequestInfoFactory{
		APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
	}
	c.LongRunningFunc = genericfilters.BasicLongRunningRequestCheck(sets.NewString("watch"), sets.NewString("exec"))
	c.CorsAllowedOriginList = []string{"^https?://allowed\\.example"}
	c.Authentication.Authenticator = authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if name, _, basic := r.BasicAuth(); basic {
			token, ok = name, true
		}
		if !ok || token == "bad" {
			return nil, false, nil
		}
		return &authenticator.Response{User: &user.DefaultInfo{Name: token, Groups: []string{"people", user.AllAuthenticated}}}, true, nil
	})
	c.Authorization.Authorizer = authorizer.AuthorizerFunc(
		func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			if a.GetUser().GetName() == "bob" {
				return authorizer.DecisionNoOpinion, "", nil
			}
			return authorizer.DecisionAllow, "", nil
		})
	return c
}

// fixture is a real HTTP server with the real filters in front of five layers that
// only tell themselves apart.
type fixture struct {
	*httptest.Server
	observer *Observer
	chain    *handlerchain.Chain
	// release lets handlers go on that wait at paths named "stuck".
	release chan struct{}
	// left is closed by such a handler when it is done.
	left chan struct{}
}

var layerNames = []string{"aggregator", "kube-apiserver", "inspect", "apiextensions", "not-found"}

// start makes a fixture; configure may change both configurations, and remote answers
// for remote.example.com.
func start(t testing.TB, remote http.Handler, configure func(*Config, *genericapiserver.Config)) *fixture {
	t.Helper()
	c := serverConfig()
	config := Config{
		ServerID: "server-1", Revision: store.NewRevision(time.Unix(1000, 0)), MaxRequestBodyBytes: bodyLimit,
		LongRunning: c.LongRunningFunc,
		Proxied: func(group, version string) (string, bool) {
			return version + "." + group, group == "remote.example.com"
		},
	}
	for _, name := range layerNames {
		config.Layers = append(config.Layers, Layer{Name: name})
	}
	if configure != nil {
		configure(&config, c)
	}
	f := &fixture{observer: New(config), release: make(chan struct{}), left: make(chan struct{})}
	c.FlowControl = f.observer.FlowControl(c.FlowControl)
	f.chain = f.observer.NewChain(handlerchain.Filters(c, handlerchain.Options{}))
	f.Server = httptest.NewUnstartedServer(f.chain.Wrap(f.layers(remote)))
	f.Config.ErrorLog = log.New(io.Discard, "", 0)
	f.Start()
	if transport, ok := f.Client().Transport.(*http.Transport); ok {
		transport.MaxIdleConnsPerHost = 100
	}
	t.Cleanup(f.Close)
	return f
}

// layers are the layers, innermost first, each in front of the next.
func (f *fixture) layers(remote http.Handler) http.Handler {
	o := f.observer
	next := o.Layer("not-found", http.HandlerFunc(http.NotFound))
	next = o.Layer("apiextensions", answering("/apis/crd.example.com/", http.HandlerFunc(f.api), next))
	next = o.Layer("inspect", answering("/apis/inspect.kapi.dev", http.HandlerFunc(f.api), next))
	next = o.Layer("kube-apiserver", answering("/api/", http.HandlerFunc(f.api), answering("/healthz", http.HandlerFunc(f.api), next)))
	if remote != nil {
		next = answering("/apis/remote.example.com/", remote, next)
	}
	return o.Layer("aggregator", o.ObserveProxy(next))
}

func answering(prefix string, handler, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, prefix) {
			handler.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// api answers as the last part of the path says.
func (f *fixture) api(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] {
	case "panic":
		panic("a handler panics")
	case "abort":
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "broken":
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	case "refused":
		f.observer.Rejected(r.Context(), "PodSecurity")
		http.Error(w, "refused", http.StatusForbidden)
		return
	case "mended": // refused first, and accepted then
		f.observer.Rejected(r.Context(), "PodSecurity")
	case "full":
		http.Error(w, "an answer like the body limit's", http.StatusRequestEntityTooLarge)
		return
	case "upgrade":
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			conn.Close()
		}
		return
	case "stuck":
		<-f.release
		f.observer.Hop(r, "inspect")
		f.observer.Rejected(r.Context(), "TooLate")
		f.observer.Proxied(r, "v1.too.late", "127.0.0.1:1")
		close(f.left)
	}
	if body, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit+1)); err == nil && len(body) > bodyLimit {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	_, _ = io.WriteString(w, "answered")
}

// ask sends a request as a user, with headers in pairs. The error of a connection
// that was given up is none.
func (f *fixture) ask(t testing.TB, method, as, path, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, f.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+as)
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	response, err := f.Client().Do(r)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		t.Error(err) // not Fatal: clients run in goroutines of their own
		return nil
	}
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	return response
}

// rest waits until no request is under way.
func (f *fixture) rest(t testing.TB) {
	t.Helper()
	eventually(t, func() bool { return f.observer.Totals().InFlight == 0 })
}

// traced does what ask does, and returns the trace of it.
func (f *fixture) traced(t testing.TB, method, as, path, body string, headers ...string) *v1alpha1.RequestTrace {
	t.Helper()
	f.ask(t, method, as, path, body, headers...)
	return f.last(t)
}

func (f *fixture) last(t testing.TB) *v1alpha1.RequestTrace {
	t.Helper()
	f.rest(t)
	objects, _, err := f.observer.Traces().List(t.Context())
	if err != nil || len(objects) == 0 {
		t.Fatalf("listing traces: %v, there are %d", err, len(objects))
	}
	return objects[len(objects)-1].(*v1alpha1.RequestTrace)
}

func (f *fixture) layer(t testing.TB, name string) *v1alpha1.ServerLayer {
	t.Helper()
	objects, err := f.observer.Layers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object.GetName() == name {
			return object.(*v1alpha1.ServerLayer)
		}
	}
	t.Fatalf("there is no layer %s", name)
	return nil
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
			t.Fatal("it did not happen within a minute")
		}
	}
}
