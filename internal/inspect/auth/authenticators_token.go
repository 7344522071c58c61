package auth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"time"
	"weak"

	"k8s.io/apiserver/pkg/authentication/authenticator"
)

// origins knows which authenticator made a response. The token cache hands out
// the response that it has kept, so that a request which was answered from the
// cache has an origin too. It does not keep responses alive.
type origins struct{ m sync.Map }

func (o *origins) set(response *authenticator.Response, c *counter) {
	key := weak.Make(response)
	if _, known := o.m.LoadOrStore(key, c); !known {
		runtime.AddCleanup(response, func(key weak.Pointer[authenticator.Response]) { o.m.Delete(key) }, key)
	}
}

func (o *origins) of(response *authenticator.Response) *counter {
	c, _ := o.m.Load(weak.Make(response))
	origin, _ := c.(*counter)
	return origin
}

// observedToken counts what an authenticator of tokens decides. Accepted ones
// are counted for each request, by attributed.
type observedToken struct {
	next    authenticator.Token
	counter *counter
	origins *origins
}

// AuthenticateToken implements authenticator.Token.
func (o *observedToken) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	start := time.Now()
	response, ok, err := o.next.AuthenticateToken(ctx, token)
	o.counter.since(start)
	switch {
	case err != nil:
		o.counter.failed.Add(1)
	case ok:
		o.origins.set(response, o.counter)
	default:
		o.counter.none.Add(1)
	}
	return response, ok, err
}

// observedIssuers counts for all JWT authenticators, which are one function that
// a reload of their file replaces. Only the one whose issuer the token names has
// an opinion; those in front of it have none, and those behind it are not asked.
type observedIssuers struct {
	next authenticator.Token
	to   *Authenticators
}

// AuthenticateToken implements authenticator.Token.
func (o *observedIssuers) AuthenticateToken(ctx context.Context, token string) (*authenticator.Response, bool, error) {
	start := time.Now()
	response, ok, err := o.next.AuthenticateToken(ctx, token)
	took := time.Since(start)
	configured, failure := o.to.cfg.Configured()
	if failure != nil {
		return response, ok, err // Collect says why
	}
	issuer := issuerOf(token)
	for _, one := range configured {
		if one.Type != TypeJWT {
			continue
		}
		c := o.to.counter(one.Name)
		if one.Issuer != issuer {
			c.none.Add(1)
			continue
		}
		c.latency.Record(took)
		switch {
		case err != nil:
			c.failed.Add(1)
		case ok:
			o.to.origins.set(response, c)
		default:
			c.none.Add(1)
		}
		break
	}
	return response, ok, err
}

// issuerOf reads the issuer that a token claims, which is not verified: it only
// chooses whose answer the answer is. Empty when it is not a JWT.
func issuerOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return ""
	}
	return claims.Issuer
}
