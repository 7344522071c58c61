package auth

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Types of authenticators.
const (
	TypeRequestHeader     = "RequestHeader"
	TypeClientCertificate = "ClientCertificate"
	TypeTokenFile         = "TokenFile"
	TypeServiceAccount    = "ServiceAccount"
	TypeBootstrapToken    = "BootstrapToken"
	TypeJWT               = "JWT"
	TypeWebhook           = "Webhook"
	TypeAnonymous         = "Anonymous"
	// TypeLoopback knows the token by which the server talks to itself. It is in
	// the union only after the generic configuration was completed.
	TypeLoopback = "Loopback"
)

// ConfiguredAuthenticator is one authenticator of the server's configuration.
type ConfiguredAuthenticator struct {
	// Name is unique, and stays as long as the authenticator does.
	Name string
	// Type is one of the types above.
	Type string
	// Issuer is the issuer, letter for letter, of a JWT authenticator.
	Issuer string
	// Configured says where it comes from.
	Configured v1alpha1.Configured
}

// AuthenticatorsConfig is what Authenticators needs.
type AuthenticatorsConfig struct {
	// ServerID stands in the objects.
	ServerID string
	// Configured returns what is configured now, in the order in which it is asked.
	// Only JWT issuers may change while the server runs.
	Configured func() ([]ConfiguredAuthenticator, error)
	// TokenCache is for how long an accepted token is not looked at again.
	TokenCache time.Duration
}

// Authenticators counts what the authenticators of a server decide.
type Authenticators struct {
	cfg AuthenticatorsConfig

	lock     sync.Mutex
	counters map[string]*counter
	// uncounted holds the names that Wrap did not find, nil before Wrap.
	uncounted map[string]bool
	loopback  bool
	origins   origins
}

// NewAuthenticators returns Authenticators that have seen nothing.
func NewAuthenticators(cfg AuthenticatorsConfig) *Authenticators {
	return &Authenticators{cfg: cfg, counters: map[string]*counter{}}
}

func (a *Authenticators) counter(name string) *counter {
	a.lock.Lock()
	defer a.lock.Unlock()
	c := a.counters[name]
	if c == nil {
		c = &counter{}
		a.counters[name] = c
	}
	return c
}

// Collect returns the authenticators, in the order in which they are asked.
func (a *Authenticators) Collect(context.Context) ([]store.Object, error) {
	configured, err := a.configured()
	if err != nil {
		return nil, err
	}
	a.forget(configured)
	objects := make([]store.Object, 0, len(configured))
	for i, one := range configured {
		objects = append(objects, &v1alpha1.Authenticator{
			ObjectMeta: metav1.ObjectMeta{Name: objectName(one.Name)},
			ServerID:   a.cfg.ServerID,
			Spec:       v1alpha1.AuthenticatorSpec{Order: int32(i), Type: one.Type, Configured: one.Configured},
			Status:     a.status(one),
		})
	}
	return objects, nil
}

func (a *Authenticators) configured() ([]ConfiguredAuthenticator, error) {
	configured, err := a.cfg.Configured()
	if err != nil {
		return nil, fmt.Errorf("reading the configuration of authenticators: %w", err)
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.loopback {
		configured = slices.Insert(slices.Clone(configured), 0, loopbackAuthenticator)
	}
	return configured, nil
}

var loopbackAuthenticator = ConfiguredAuthenticator{
	Name: "loopback", Type: TypeLoopback, Configured: v1alpha1.Configured{ConfiguredBy: "default"},
}

// forget drops the counters of issuers that are no longer configured.
func (a *Authenticators) forget(configured []ConfiguredAuthenticator) {
	names := make(map[string]bool, len(configured))
	for _, one := range configured {
		names[one.Name] = true
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	maps.DeleteFunc(a.counters, func(name string, _ *counter) bool { return !names[name] })
}

func (a *Authenticators) status(one ConfiguredAuthenticator) v1alpha1.AuthenticatorStatus {
	c := a.counter(one.Name)
	return v1alpha1.AuthenticatorStatus{
		Authenticated: c.yes.Load(), NoOpinion: c.none.Load(), Errors: c.failed.Load(),
		Latency: latencyOf(&c.latency), Counted: a.counted(one),
	}
}

// counted says what the numbers are of, where that is not every request.
func (a *Authenticators) counted(one ConfiguredAuthenticator) string {
	a.lock.Lock()
	defer a.lock.Unlock()
	slot := cmp.Or(jwtSlot(one.Type), one.Name)
	switch {
	case a.uncounted == nil:
		return "nothing is counted: the server's authenticators were not wrapped"
	case a.uncounted[slot]:
		return "nothing is counted: this authenticator was not found in the server's union"
	case a.cfg.TokenCache > 0 && bearsToken(one.Type):
		return fmt.Sprintf("authenticated counts all requests; the other numbers are of tokens that were looked at, "+
			"as an accepted one is not looked at again for %s", a.cfg.TokenCache)
	default:
		return ""
	}
}

func bearsToken(kind string) bool {
	switch kind {
	case TypeTokenFile, TypeServiceAccount, TypeBootstrapToken, TypeJWT, TypeWebhook:
		return true
	default:
		return false
	}
}

// jwtSlot is the slot of all JWT issuers in the union: they come and go in one.
func jwtSlot(kind string) string {
	if kind == TypeJWT {
		return TypeJWT
	}
	return ""
}
