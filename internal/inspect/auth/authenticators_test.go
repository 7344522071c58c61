package auth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/request/websocket"
	"k8s.io/apiserver/pkg/authentication/token/cache"
	tokenunion "k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// knows is an authenticator of one token; others are an error if strict says so.
func knows(token string, strict bool) authenticator.Token {
	return authenticator.TokenFunc(func(_ context.Context, given string) (*authenticator.Response, bool, error) {
		switch {
		case given == token:
			return &authenticator.Response{User: &user.DefaultInfo{Name: "of-" + token}}, true, nil
		case strict && given == "bad":
			return nil, false, errors.New("bad token")
		default:
			return nil, false, nil
		}
	})
}

// serverUnion is put together as kube-apiserver's is.
func serverUnion(ttl time.Duration, tokens ...authenticator.Token) authenticator.Request {
	all := tokenunion.New(tokens...)
	if ttl > 0 {
		all = cache.New(all, true, ttl, 0)
	}
	inner := group.NewAuthenticatedGroupAdder(union.New(bearertoken.New(all), websocket.NewProtocolAuthenticator(all)))
	server := union.NewFailOnError(inner, anonymous.NewAuthenticator(nil))
	return union.New(bearertoken.New(knows("loopback", false)), server)
}

func configuredNames(types ...string) func() ([]ConfiguredAuthenticator, error) {
	return func() ([]ConfiguredAuthenticator, error) {
		var all []ConfiguredAuthenticator
		for _, kind := range types {
			all = append(all, ConfiguredAuthenticator{Name: kind, Type: kind})
		}
		return all, nil
	}
}

func ask(t *testing.T, wrapped authenticator.Request, token string) (*authenticator.Response, bool, error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return wrapped.AuthenticateRequest(r)
}

func collected(t *testing.T, a *Authenticators) (order []string, by map[string]v1alpha1.AuthenticatorStatus) {
	t.Helper()
	objects, err := a.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	by = map[string]v1alpha1.AuthenticatorStatus{}
	for _, object := range objects {
		order = append(order, object.GetName())
		by[object.GetName()] = object.(*v1alpha1.Authenticator).Status
	}
	return order, by
}

func TestRequestsFromTheTokenCacheAreCounted(t *testing.T) {
	t.Parallel()
	a := NewAuthenticators(AuthenticatorsConfig{Configured: configuredNames(TypeTokenFile, TypeWebhook, TypeAnonymous), TokenCache: time.Hour})
	// Between the two is the place of JWT, which has no issuer here.
	wrapped := a.Wrap(serverUnion(time.Hour, knows("one", false), knows("nobody", false), knows("two", true)))
	// Another layer completes its configuration: with the same authenticators, and a token of its own.
	inner := wrapped
	if parts, ok := elements[authenticator.Request](wrapped, "Handlers"); ok {
		inner = parts[1]
	}
	other := a.Wrap(union.New(bearertoken.New(knows("other loopback", false)), inner))
	if _, ok, err := ask(t, other, "one"); !ok || err != nil {
		t.Error(ok, err)
	}
	const clients, each = 20, 50
	var clientsDone sync.WaitGroup
	for range clients {
		clientsDone.Go(func() {
			for range each {
				for _, token := range []string{"one", "two", "loopback", ""} {
					if response, ok, err := ask(t, wrapped, token); !ok || err != nil {
						t.Errorf("token %q: %v %v %v", token, response, ok, err)
					}
				}
				if _, ok, err := ask(t, wrapped, "bad"); ok || err == nil {
					t.Error("a bad token was let in")
				}
			}
		})
	}
	clientsDone.Wait()
	order, by := collected(t, a)
	if len(order) != 4 || order[0] != "loopback" {
		t.Errorf("order %v", order)
	}
	for _, name := range []string{TypeTokenFile, TypeWebhook, "loopback", TypeAnonymous} {
		want := int64(clients * each)
		if name == TypeTokenFile {
			want++
		}
		if by[name].Authenticated != want {
			t.Errorf("%s authenticated %d, want %d", name, by[name].Authenticated, want)
		}
	}
	if by[TypeWebhook].Errors == 0 || by[TypeTokenFile].NoOpinion == 0 || by[TypeTokenFile].Errors != 0 {
		t.Errorf("evaluations: %+v %+v", by[TypeTokenFile], by[TypeWebhook])
	}
	if by[TypeTokenFile].Counted == "" || by[TypeAnonymous].Counted != "" {
		t.Errorf("what is counted: %q, %q", by[TypeTokenFile].Counted, by[TypeAnonymous].Counted)
	}
}

func TestASingleTokenAuthenticatorWithoutCacheIsFoundTwice(t *testing.T) {
	t.Parallel()
	a := NewAuthenticators(AuthenticatorsConfig{Configured: configuredNames(TypeTokenFile)})
	wrapped := a.Wrap(serverUnion(0, knows("one", false)))
	if _, ok, err := ask(t, wrapped, "one"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.b25l, v4.channel.k8s.io")
	if response, ok, err := wrapped.AuthenticateRequest(r); !ok || err != nil || response.User.GetName() != "of-one" {
		t.Fatal(response, ok, err)
	}
	if _, by := collected(t, a); by[TypeTokenFile].Authenticated != 2 || by[TypeTokenFile].Latency.Count != 2 {
		t.Errorf("%+v", by[TypeTokenFile])
	}
}

func TestAnUnknownUnionWorksUncounted(t *testing.T) {
	t.Parallel()
	a := NewAuthenticators(AuthenticatorsConfig{Configured: configuredNames(TypeTokenFile, TypeWebhook)})
	if _, by := collected(t, a); by[TypeWebhook].Counted == "" {
		t.Error("before Wrap it is not said that nothing is counted")
	}
	wrapped := a.Wrap(serverUnion(time.Hour, knows("one", false), knows("2", false), knows("3", false), knows("4", false)))
	for _, token := range []string{"one", "4"} {
		if _, ok, err := ask(t, wrapped, token); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if _, by := collected(t, a); by[TypeTokenFile].Counted == "" || by[TypeTokenFile].Authenticated != 0 {
		t.Errorf("%+v", by[TypeTokenFile])
	}
	if a.Wrap(nil) != nil {
		t.Error("no authenticator is wrapped into one")
	}
}

func TestIssuersAreCountedApart(t *testing.T) {
	t.Parallel()
	issuers := []string{"https://a", "https://b"}
	a := NewAuthenticators(AuthenticatorsConfig{Configured: func() ([]ConfiguredAuthenticator, error) {
		var all []ConfiguredAuthenticator
		for _, issuer := range issuers {
			all = append(all, ConfiguredAuthenticator{Name: "jwt-" + issuer[8:], Type: TypeJWT, Issuer: issuer})
		}
		return all, nil
	}})
	const ofB, ofNobody = "x.eyJpc3MiOiJodHRwczovL2IifQ.x", "x.eyJpc3MiOiJodHRwczovL2MifQ.x"
	wrapped := a.Wrap(serverUnion(0, knows(ofB, false)))
	if _, ok, err := ask(t, wrapped, ofB); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, _ := ask(t, wrapped, ofNobody); ok {
		t.Fatal("a token of nobody was let in")
	}
	_, by := collected(t, a)
	if by["jwt-a"].NoOpinion != 2 || by["jwt-b"].Authenticated != 1 || by["jwt-b"].NoOpinion != 1 {
		t.Errorf("%+v", by)
	}
	issuers = issuers[:1]                                                     // a reload takes the other out
	if order, _ := collected(t, a); len(order) != 2 || len(a.counters) != 2 { // with the loopback's
		t.Errorf("left: %v, counters %v", order, a.counters)
	}
}
