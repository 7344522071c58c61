package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// PrivilegedGroups is the name of the authorizer that the server puts in front of
// those that are configured: it allows everything to group system:masters.
const PrivilegedGroups = "system-privileged-group"

// upstreamPrivilegedGroups is upstream's name for it.
const upstreamPrivilegedGroups = "kubernetes.io/system-privileged-group"

// ConfiguredAuthorizer is one authorizer of the server's configuration.
type ConfiguredAuthorizer struct {
	// Name is its name in the configuration ("rbac").
	Name string
	// Type is Node, RBAC, ABAC, Webhook, AlwaysAllow or AlwaysDeny.
	Type string
	// Configured says where it comes from.
	Configured v1alpha1.Configured
}

// AuthorizersConfig is what Authorizers needs.
type AuthorizersConfig struct {
	// ServerID stands in the objects.
	ServerID string
	// Configured returns what is configured now, without the privileged groups, in
	// the order in which it is asked.
	Configured func() ([]ConfiguredAuthorizer, error)
}

// Authorizers counts what the authorizers of a server decide, one by one.
type Authorizers struct {
	cfg AuthorizersConfig

	next       authorizer.Authorizer
	reload     reloadable
	reloads    bool
	chain      atomic.Pointer[authorizers]
	rebuilding sync.Mutex
}

// NewAuthorizers returns Authorizers that have seen nothing.
func NewAuthorizers(cfg AuthorizersConfig) *Authorizers { return &Authorizers{cfg: cfg} }

// Collect returns the authorizers, in the order in which they are asked. Before
// Wrap they are those that are configured.
func (a *Authorizers) Collect(context.Context) ([]store.Object, error) {
	configured, err := a.cfg.Configured()
	if err != nil {
		return nil, fmt.Errorf("reading the configuration of authorizers: %w", err)
	}
	known := make(map[string]ConfiguredAuthorizer, len(configured))
	names := []string{PrivilegedGroups}
	for _, one := range configured {
		known[one.Name] = one
		names = append(names, one.Name)
	}
	counters := map[string]*counter{}
	if chain := a.current(); chain != nil && !chain.whole {
		names = names[:0]
		for _, link := range chain.links {
			names = append(names, link.name)
			counters[link.name] = link.counter
		}
	}
	objects := make([]store.Object, 0, len(names))
	for i, name := range names {
		objects = append(objects, a.object(i, name, known, counters[name]))
	}
	return objects, nil
}

func (a *Authorizers) object(order int, name string, known map[string]ConfiguredAuthorizer, c *counter) *v1alpha1.Authorizer {
	object := &v1alpha1.Authorizer{
		ObjectMeta: metav1.ObjectMeta{Name: objectName(name)},
		ServerID:   a.cfg.ServerID,
		Spec:       v1alpha1.AuthorizerSpec{Order: int32(order)},
	}
	switch one, ok := known[name]; {
	case ok:
		object.Spec.Type, object.Spec.Configured = one.Type, one.Configured
	case name == PrivilegedGroups:
		object.Spec.Type, object.Spec.Configured = "PrivilegedGroups", v1alpha1.Configured{ConfiguredBy: "default"}
	default:
		// The file was just changed and is not in force yet. Only webhooks have names of their own.
		object.Spec.Type = TypeWebhook
	}
	if c != nil {
		object.Status = v1alpha1.AuthorizerStatus{
			Allowed: c.yes.Load(), Denied: c.no.Load(), NoOpinion: c.none.Load(), Errors: c.failed.Load(),
			Latency: latencyOf(&c.latency),
		}
	}
	return object
}

// Explain says what the authorizers would decide, and which of them, without
// counting it. It is as expensive as the decision itself: a webhook is asked.
func (a *Authorizers) Explain(ctx context.Context, attributes authorizer.Attributes) v1alpha1.ExplainedAuthorization {
	chain := a.current()
	if chain == nil {
		return v1alpha1.ExplainedAuthorization{Error: "the server's authorizer is not known"}
	}
	var reasons []string
	var failures []error
	for _, link := range chain.links {
		decision, reason, err := link.next.Authorize(ctx, attributes)
		if decision == authorizer.DecisionNoOpinion {
			failures = append(failures, err)
			if reason != "" {
				reasons = append(reasons, reason)
			}
			continue
		}
		if link.name == PrivilegedGroups && reason == "" {
			reason = "the user is in group system:masters"
		}
		explained := v1alpha1.ExplainedAuthorization{
			Allowed: decision == authorizer.DecisionAllow, Authorizer: objectName(link.name), Reason: reason,
		}
		if err != nil {
			explained.Error = err.Error()
		}
		return explained
	}
	explained := v1alpha1.ExplainedAuthorization{Reason: strings.Join(reasons, "; ")}
	if err := errors.Join(failures...); err != nil {
		explained.Error = err.Error()
	}
	return explained
}
