package auth

import (
	"cmp"
	cryptox509 "crypto/x509"
	"errors"
	"net/http"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/websocket"
	"k8s.io/apiserver/pkg/authentication/request/x509"
)

// Wrap puts a counter around each authenticator inside of request, in place, and
// returns what is to be used instead of request: it answers the same, with the
// same errors, warnings and audiences. Call it once, before the server serves.
// Parts that are not found stay as they are, and their objects say so.
//
// Called with the union of a completed configuration (in the builder of the
// handler chain) it finds the server's own token too; called before that, the
// requests of the server to itself are not seen.
func (a *Authenticators) Wrap(request authenticator.Request) authenticator.Request {
	if request == nil {
		return nil
	}
	configured, err := a.cfg.Configured()
	if err != nil {
		return request // Collect says why
	}
	w := &wrapping{to: a, configured: configured, found: map[string]bool{}}
	w.count(request)
	wrapped := w.request(request)
	a.lock.Lock()
	defer a.lock.Unlock()
	a.loopback = a.loopback || w.found[loopbackAuthenticator.Name]
	if a.uncounted == nil {
		a.uncounted = map[string]bool{}
		for _, one := range configured {
			a.uncounted[cmp.Or(jwtSlot(one.Type), one.Name)] = true
		}
	}
	for name := range w.found {
		delete(a.uncounted, name)
	}
	return wrapped
}

// wrapping is one call of Wrap.
type wrapping struct {
	to         *Authenticators
	configured []ConfiguredAuthenticator
	// bearers is how many authenticators of bearer tokens are still to come: all
	// but the last know the server's own token only.
	bearers int
	found   map[string]bool // by name, and TypeJWT for all issuers
	// whole is the wrapper of a token authenticator that bearer tokens and
	// websockets do not share through a union or a cache.
	whole authenticator.Token
}

// count finds out how many authenticators of bearer tokens there are.
func (w *wrapping) count(request authenticator.Request) {
	switch part := request.(type) {
	case *bearertoken.Authenticator:
		w.bearers++
	case *attributed:
		w.count(part.next)
	case *group.AuthenticatedGroupAdder:
		w.count(part.Authenticator)
	default:
		parts, _ := elements[authenticator.Request](request, "Handlers")
		for _, part := range parts {
			w.count(part)
		}
	}
}

func (w *wrapping) request(request authenticator.Request) authenticator.Request {
	switch part := request.(type) {
	case *observedRequest:
		return part
	case *attributed:
		if _, ok := part.next.(*bearertoken.Authenticator); ok {
			w.bearers--
		}
		return part
	case *group.AuthenticatedGroupAdder:
		part.Authenticator = w.request(part.Authenticator)
		return part
	case *x509.Authenticator:
		return w.single(TypeClientCertificate, part)
	case *anonymous.Authenticator:
		return w.single(TypeAnonymous, part)
	case *bearertoken.Authenticator:
		if w.bearers--; w.bearers > 0 {
			w.found[loopbackAuthenticator.Name] = true
			return &observedRequest{part, w.to.counter(loopbackAuthenticator.Name), false}
		}
		if auth, ok := field[authenticator.Token](part, "auth"); ok && w.tokens(auth) {
			return &attributed{part, &w.to.origins}
		}
		return part
	case *websocket.ProtocolAuthenticator:
		if auth, ok := field[authenticator.Token](part, "auth"); ok && w.whole != nil {
			*auth = w.whole
		}
		return &attributed{part, &w.to.origins}
	}
	if parts, ok := elements[authenticator.Request](request, "Handlers"); ok {
		for i, part := range parts {
			parts[i] = w.request(part)
		}
		return request
	}
	// The only part of a type that can't be named.
	return w.single(TypeRequestHeader, request)
}

// single wraps the only authenticator of its type.
func (w *wrapping) single(kind string, next authenticator.Request) authenticator.Request {
	for _, one := range w.configured {
		if one.Type == kind && !w.found[one.Name] {
			w.found[one.Name] = true
			return &observedRequest{next, w.to.counter(one.Name), one.Type == TypeRequestHeader}
		}
	}
	return next
}

// tokens wraps the authenticators of tokens: a union of them, mostly behind a cache.
func (w *wrapping) tokens(auth *authenticator.Token) bool {
	inner := auth
	if cached, ok := field[authenticator.Token](*auth, "authenticator"); ok {
		inner = cached
	}
	parts, isUnion := elements[authenticator.Token](*inner, "Handlers")
	if !isUnion {
		parts = []authenticator.Token{*inner}
	}
	slots := w.slots(len(parts))
	if slots == nil {
		return false
	}
	for i, slot := range slots {
		w.found[slot] = true
		parts[i] = w.token(slot, parts[i])
	}
	if !isUnion {
		*inner = parts[0]
		if inner == auth {
			w.whole = parts[0]
		}
	}
	return true
}

func (w *wrapping) token(slot string, next authenticator.Token) authenticator.Token {
	if slot == TypeJWT {
		return &observedIssuers{next: next, to: w.to}
	}
	return &observedToken{next, w.to.counter(slot), &w.to.origins}
}

// slots names the parts of the union of n token authenticators, or returns nil
// when the configuration has another number of them. The one for JWT is there
// without an issuer too, as issuers may come later.
func (w *wrapping) slots(n int) []string {
	var local, remote []string
	issuers := 0
	for _, one := range w.configured {
		switch {
		case one.Type == TypeJWT:
			issuers++
		case one.Type == TypeWebhook:
			remote = append(remote, one.Name)
		case bearsToken(one.Type):
			local = append(local, one.Name)
		}
	}
	switch n {
	case len(local) + 1 + len(remote):
		return append(append(local, TypeJWT), remote...)
	case len(local) + len(remote):
		if issuers == 0 {
			return append(local, remote...)
		}
	}
	return nil
}

// observedRequest counts what an authenticator of requests decides.
type observedRequest struct {
	next    authenticator.Request
	counter *counter
	// proxies says that it knows the certificates of authenticating proxies. It is
	// shown every client's first, and one of another authority is nothing to it.
	proxies bool
}

// AuthenticateRequest implements authenticator.Request.
func (o *observedRequest) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	start := time.Now()
	response, ok, err := o.next.AuthenticateRequest(r)
	o.counter.since(start)
	switch {
	case err != nil && o.proxies && errors.As(err, &cryptox509.UnknownAuthorityError{}):
		o.counter.none.Add(1)
	case err != nil:
		o.counter.failed.Add(1)
	case ok:
		o.counter.yes.Add(1)
	default:
		o.counter.none.Add(1)
	}
	return response, ok, err
}

// attributed counts requests that a token authenticated for the authenticator
// that once accepted the token.
type attributed struct {
	next    authenticator.Request
	origins *origins
}

// AuthenticateRequest implements authenticator.Request.
func (o *attributed) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	response, ok, err := o.next.AuthenticateRequest(r)
	if ok && err == nil {
		if c := o.origins.of(response); c != nil {
			c.yes.Add(1)
		}
	}
	return response, ok, err
}
