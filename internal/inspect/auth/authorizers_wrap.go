package auth

import (
	"context"
	"time"
	"unsafe"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/union"
)

// authorizers is the chain that is in force until the configuration file is
// read again. It is not changed once it is in use.
type authorizers struct {
	of    unsafe.Pointer // what a reload replaces
	links []link
	// whole says that next was not a union that could be looked into: its only
	// link is all of it.
	whole bool
	// observed is upstream's union of the links, each with its counter around it.
	observed authorizer.Authorizer
}

// link is one authorizer of the chain.
type link struct {
	name    string
	next    authorizer.Authorizer
	counter *counter
}

// Wrap returns next with a counter around each authorizer of its union. It
// decides the same, with the same reasons and errors, also after the
// configuration file was changed. Call it as soon as the authorizer is
// made: who got next before is not counted.
func (a *Authorizers) Wrap(next authorizer.Authorizer) authorizer.Authorizer {
	if _, wrapped := next.(observedUnion); wrapped || next == nil {
		return next
	}
	a.next = next
	a.reload, a.reloads = reloadableOf(next)
	a.current()
	return observedUnion{a}
}

// current returns the chain in force; nil before Wrap.
func (a *Authorizers) current() *authorizers {
	if a.next == nil {
		return nil
	}
	var of unsafe.Pointer
	if a.reloads {
		of = a.reload.load()
	}
	if chain := a.chain.Load(); chain != nil && chain.of == of {
		return chain
	}
	a.rebuilding.Lock()
	defer a.rebuilding.Unlock()
	before := a.chain.Load()
	if before != nil && before.of == of {
		return before
	}
	chain := a.build(of, before)
	a.chain.Store(chain)
	return chain
}

// build looks into the union. Authorizers that were there before keep their counters.
func (a *Authorizers) build(of unsafe.Pointer, before *authorizers) *authorizers {
	counters := map[string]*counter{}
	if before != nil {
		for _, link := range before.links {
			counters[link.name] = link.counter
		}
	}
	whole := a.next
	if a.reloads {
		if inner, ok := a.reload.union(); ok {
			whole = inner
		}
	}
	named, ok := chainOf(whole)
	if !ok {
		return &authorizers{of: of, whole: true, links: []link{{next: a.next}}, observed: a.next}
	}
	chain := &authorizers{of: of}
	observed := make([]union.NamedAuthorizer, 0, len(named))
	for _, one := range named {
		name := one.AuthorizerName
		if name == upstreamPrivilegedGroups {
			name = PrivilegedGroups
		}
		c := counters[name]
		if c == nil {
			c = &counter{}
		}
		chain.links = append(chain.links, link{name, one.Authorizer, c})
		// Names stay as they are: they are part of reasons, and of conditions.
		observed = append(observed, union.NamedAuthorizer{
			AuthorizerName: one.AuthorizerName, Authorizer: observedAuthorizer{one.Authorizer, c},
		})
	}
	var err error
	if chain.observed, err = union.New(observed...); err != nil {
		// Upstream has made a union of the same names.
		chain.observed = whole
	}
	return chain
}

// observedUnion is what Wrap returns.
type observedUnion struct{ of *Authorizers }

// Authorize implements authorizer.Authorizer.
func (o observedUnion) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	return o.of.current().observed.Authorize(ctx, attributes)
}

// ConditionsAwareAuthorize implements authorizer.Authorizer.
func (o observedUnion) ConditionsAwareAuthorize(ctx context.Context, attributes authorizer.Attributes) authorizer.ConditionsAwareDecision {
	return o.of.current().observed.ConditionsAwareAuthorize(ctx, attributes)
}

// EvaluateConditions implements authorizer.Authorizer.
func (o observedUnion) EvaluateConditions(ctx context.Context, decision authorizer.ConditionsAwareDecision, data authorizer.ConditionsData) (authorizer.Decision, string, error) {
	return o.of.current().observed.EvaluateConditions(ctx, decision, data)
}

// observedAuthorizer counts what one authorizer decides. A conditional decision
// is counted when its conditions are evaluated.
type observedAuthorizer struct {
	next    authorizer.Authorizer
	counter *counter
}

func (o observedAuthorizer) record(start time.Time, decision authorizer.Decision, err error) {
	o.counter.since(start)
	switch {
	case decision == authorizer.DecisionAllow:
		o.counter.yes.Add(1)
	case decision == authorizer.DecisionDeny:
		o.counter.no.Add(1)
	case err != nil:
		o.counter.failed.Add(1)
	default:
		o.counter.none.Add(1)
	}
}

// Authorize implements authorizer.Authorizer.
func (o observedAuthorizer) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	start := time.Now()
	decision, reason, err := o.next.Authorize(ctx, attributes)
	o.record(start, decision, err)
	return decision, reason, err
}

// ConditionsAwareAuthorize implements authorizer.Authorizer.
func (o observedAuthorizer) ConditionsAwareAuthorize(ctx context.Context, attributes authorizer.Attributes) authorizer.ConditionsAwareDecision {
	start := time.Now()
	decision := o.next.ConditionsAwareAuthorize(ctx, attributes)
	switch {
	case decision.IsAllow():
		o.record(start, authorizer.DecisionAllow, nil)
	case decision.IsDeny():
		o.record(start, authorizer.DecisionDeny, nil)
	case decision.IsNoOpinion():
		o.record(start, authorizer.DecisionNoOpinion, decision.Error())
	}
	return decision
}

// EvaluateConditions implements authorizer.Authorizer.
func (o observedAuthorizer) EvaluateConditions(ctx context.Context, decision authorizer.ConditionsAwareDecision, data authorizer.ConditionsData) (authorizer.Decision, string, error) {
	start := time.Now()
	decided, reason, err := o.next.EvaluateConditions(ctx, decision, data)
	o.record(start, decided, err)
	return decided, reason, err
}
