package trace

import (
	"net/http"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/page"
)

// Step is something to look at next, and where it is.
type Step struct {
	Text string
	Open page.Location
}

// Next is what to look at after a request that did not end well; nothing after one
// that did.
func Next(t *v1alpha1.RequestTrace) []Step {
	if !Troubled(t) {
		return nil
	}
	var steps []Step
	by := t.Status.TerminatedBy
	if t.Status.Panicked {
		steps = append(steps, Step{"the stack is in the server's log", page.At("logs", "", "filter", "panic")})
	}
	if to := t.Status.ProxiedTo; to != nil && t.Status.Code >= 500 {
		steps = append(steps, Step{"why APIService " + to.APIService + " is unavailable", page.At("apiservices", to.APIService)})
	}
	switch t.Status.Code {
	case http.StatusForbidden, http.StatusUnauthorized, http.StatusNotFound:
		steps = append(steps, Step{"a dry run of the request: who decides, by which rule, where it goes", Route(t)})
	case http.StatusTooManyRequests:
		if t.Status.PriorityLevel != "" {
			steps = append(steps, Step{"who takes the seats of level " + t.Status.PriorityLevel, page.At("flow", t.Status.PriorityLevel)})
		}
	}
	if by.Kind == v1alpha1.EndedByAdmission {
		steps = append(steps, Step{"the admission plugins, and what they refuse", page.At("auth", "")})
	}
	if by.Kind == v1alpha1.EndedByFilter {
		steps = append(steps, Step{"other requests that filter " + by.Name + " has ended", page.At("requests", "", "filter", "by:"+by.Name)})
	}
	return steps
}

// Route is the dry run of a request.
func Route(t *v1alpha1.RequestTrace) page.Location {
	return page.At("route", "", "verb", t.Spec.Method, "path", Path(t), "user", UserName(t))
}
