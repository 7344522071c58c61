package route

import (
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/filters"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// verdict is what one filter does: pass on, with a note, or end the request.
type verdict struct {
	code int // not 0: it ends here
	note string
	// outcome says why it ends.
	outcome string
}

// deciders are the filters that don't do the same to all requests, as far as
// that can be known beforehand.
var deciders = map[string]func(*dryRun) (verdict, error){
	filterCORS:                (*dryRun).cors,
	filterAuthentication:      (*dryRun).authentication,
	filterPriorityAndFairness: (*dryRun).flow,
	filterMaxInFlight:         (*dryRun).inFlight,
	filterAuthorization:       (*dryRun).authorization,
}

// filters walks through the handler chain, and says whether a filter ends the request.
func (d *dryRun) filters() (bool, error) {
	for _, filter := range d.of.cfg.Filters() {
		if !filter.Enabled {
			continue
		}
		var v verdict
		if decide := deciders[filter.Name]; decide != nil {
			var err error
			if v, err = decide(d); err != nil {
				return false, err
			}
		}
		d.status.Filters = append(d.status.Filters, v1alpha1.ExplainedFilter{Name: filter.Name, Ends: v.code != 0, Note: v.note})
		if v.code != 0 {
			d.status.Code = int32(v.code)
			d.status.TerminatedBy = &v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: filter.Name}
			d.status.Outcome = v.outcome
			return true, nil
		}
	}
	return false, nil
}

func (d *dryRun) cors() (verdict, error) {
	if d.r.Method != http.MethodOptions {
		return verdict{}, nil
	}
	return verdict{note: "with an Origin header that is allowed, it would be answered here with 204"}, nil
}

func (d *dryRun) authentication() (verdict, error) {
	if d.user.GetName() != user.Anonymous || d.of.cfg.Anonymous(d.info.Path) {
		return verdict{note: fmt.Sprintf("user %q", d.user.GetName())}, nil
	}
	return verdict{
		code: http.StatusUnauthorized, note: "anonymous requests are not let in by this path",
		outcome: "The request would be answered 401: nobody may come by this path without credentials.",
	}, nil
}

func (d *dryRun) flow() (verdict, error) {
	switch {
	case d.info.Verb != "watch" && d.of.cfg.LongRunning(d.r, d.info):
		return verdict{note: "long-running: takes no seat"}, nil
	case d.of.cfg.FlowSchemas == nil:
		return verdict{note: "the flow schemas are not known"}, nil
	}
	schema, err := d.of.classify(d.user, d.info)
	if err != nil || schema == nil {
		return verdict{note: "no flow schema matches"}, err
	}
	d.status.FlowSchema, d.status.PriorityLevel = schema.Name, schema.Spec.PriorityLevelConfiguration.Name
	return verdict{note: fmt.Sprintf("flow schema %q, priority level %q", d.status.FlowSchema, d.status.PriorityLevel)}, nil
}

func (d *dryRun) inFlight() (verdict, error) {
	switch {
	case d.of.cfg.LongRunning(d.r, d.info):
		return verdict{note: "long-running: not limited"}, nil
	case slices.Contains([]string{"get", "list", "watch"}, d.info.Verb):
		return verdict{note: "counts as read-only"}, nil
	default:
		return verdict{note: "counts as mutating"}, nil
	}
}

func (d *dryRun) authorization() (verdict, error) {
	attributes, err := filters.GetAuthorizerAttributes(d.r.Context())
	if err != nil {
		return verdict{}, err
	}
	decided := d.of.cfg.Authorization(d.r.Context(), attributes)
	d.status.Authorization = &decided
	switch {
	case decided.Allowed:
		return verdict{note: "allowed by " + decided.Authorizer}, nil
	case decided.Error != "":
		return verdict{
			code: http.StatusInternalServerError, note: "the authorizers could not decide",
			outcome: "The request would be answered 500: the authorizers could not decide.",
		}, nil
	case decided.Authorizer != "":
		return verdict{
			code: http.StatusForbidden, note: "denied by " + decided.Authorizer,
			outcome: fmt.Sprintf("The request would be answered 403: authorizer %s denies it.", decided.Authorizer),
		}, nil
	default:
		return verdict{
			code: http.StatusForbidden, note: "no authorizer allows it",
			outcome: fmt.Sprintf("The request would be answered 403: no authorizer allows it to user %q.", d.user.GetName()),
		}, nil
	}
}
