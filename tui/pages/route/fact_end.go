package route

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

const (
	allowed = "allowed"
	denied  = "denied"
)

// authorization takes from a trace what it shows of the decision: what was denied
// ended in the filter that asks, what came to a layer was allowed.
func authorization(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	decision := told.Authorization
	if decision == nil {
		return fact{}
	}
	said, token := allowed, ink.Good
	if !decision.Allowed {
		said, token = denied, ink.Bad
	}
	f := alike("authorization", said, decided(live))
	f.token = token
	by := decision.Authorizer
	if by == "" && !decision.Allowed {
		by = "no authorizer allows it"
	}
	if why := strings.Trim(by+": "+decision.Reason, ": "); why != "" {
		f.below = append(f.below, note{token: ink.Text, text: why, open: page.At("auth", "")})
	}
	if decision.Error != "" {
		f.below = append(f.below, note{token: ink.Bad, text: "error: " + decision.Error})
	}
	return f
}

// decided is what a trace shows of the authorizers' decision; empty if nothing.
func decided(live *v1alpha1.RequestTrace) string {
	if live == nil {
		return ""
	}
	by := live.Status.TerminatedBy
	switch {
	case by.Kind == v1alpha1.EndedByFilter && by.Name == "authorization" && live.Status.Code == http.StatusForbidden:
		return denied
	case len(live.Status.Hops) > 0:
		return allowed
	}
	return ""
}

// layers are those that it would come through, a line each. A server that does not
// tell its layers has none here.
func layers(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	f := fact{name: "layers", foretold: hops(told.Hops, told.TerminatedBy)}
	if f.foretold == "" {
		return f
	}
	for i, hop := range told.Hops {
		does := "passes it on"
		switch {
		case i < len(told.Hops)-1:
		case told.Service != "":
			does = "sends it on to service " + told.Service
		default:
			does = "answers"
		}
		f.below = append(f.below, note{token: ink.Text, text: strings.Repeat("  ", i) + hop + " " + does, open: page.At("chain", "layer/"+hop)})
	}
	if live == nil {
		return f
	}
	var were []string
	for _, hop := range live.Status.Hops {
		were = append(were, hop.Layer)
	}
	f.was = hops(were, &live.Status.TerminatedBy)
	f.wrong = f.was != "" && f.was != f.foretold
	return f
}

func hops(names []string, by *v1alpha1.EndedBy) string {
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case by != nil && by.Kind == v1alpha1.EndedByFilter:
		return "none is reached"
	}
	return ""
}

// service is who serves the group version. A trace names an APIService only if the
// request was sent on.
func service(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	f := fact{name: "APIService", foretold: told.APIService, open: page.At("apiservices", told.APIService)}
	if told.APIService == "" {
		return f
	}
	by := "served by this server"
	if told.Service != "" {
		by = "served by service " + told.Service
	}
	f.below = []note{{token: ink.Muted, text: by}}
	if live == nil || len(live.Status.Hops) == 0 && live.Status.ProxiedTo == nil {
		return f // it was not sent, or was seen from the client only
	}
	switch to := live.Status.ProxiedTo; {
	case to == nil && told.Service == "":
	case to == nil:
		f.was, f.wrong = "not sent on", true
	default:
		f.was = to.APIService
		f.wrong = told.Service == "" || f.was != f.foretold
		f.below = append(f.below, note{token: ink.Text, text: sentOn(to)})
	}
	return f
}

func sentOn(to *v1alpha1.ProxiedTo) string {
	if to.Address == "" {
		return "was to be sent on, to an address that was not found"
	}
	return "was sent on to " + to.Address
}

func admission(told v1alpha1.RouteExplanationStatus) fact {
	f := fact{name: "admission"}
	if n := len(told.AdmissionPlugins); n > 0 {
		f.foretold, f.folded = plural(n, "plugin"), true
		for _, plugin := range told.AdmissionPlugins {
			f.below = append(f.below, note{token: ink.Text, text: plugin, open: page.At("auth", "")})
		}
	}
	return f
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

func storageKey(told v1alpha1.RouteExplanationStatus) fact {
	f := fact{name: "storage key", foretold: told.StorageKey, open: page.At("etcd", told.StorageKey)}
	if strings.HasSuffix(told.StorageKey, "/") {
		f.open = page.At("etcd", "", "prefix", told.StorageKey)
	}
	return f
}

// end is what ends the request. One of the admission plugins may refuse it, and the
// body may be too long: nobody knows that before the body.
func end(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	if told.TerminatedBy == nil {
		return fact{}
	}
	f := fact{name: "ended by", foretold: ended(*told.TerminatedBy, false), open: endedAt(*told.TerminatedBy)}
	if live == nil || live.Status.TerminatedBy.Kind == "" {
		return f
	}
	by := live.Status.TerminatedBy
	f.was = ended(by, live.Status.Panicked)
	switch by.Kind {
	case v1alpha1.EndedByAdmission:
		f.wrong = !slices.Contains(told.AdmissionPlugins, by.Name)
	case v1alpha1.EndedByBodyLimit:
		f.wrong = told.TerminatedBy.Kind != v1alpha1.EndedByLayer
	default:
		f.wrong = by != *told.TerminatedBy
	}
	return f
}

func ended(by v1alpha1.EndedBy, panicked bool) string {
	switch by.Kind {
	case v1alpha1.EndedByFilter:
		if panicked {
			return "filter " + by.Name + ", after a handler panicked"
		}
		return "filter " + by.Name
	case v1alpha1.EndedByLayer:
		return "layer " + by.Name
	case v1alpha1.EndedByAdmission:
		return "admission plugin " + by.Name + ", which refused the change"
	case v1alpha1.EndedByBodyLimit:
		return "the limit of a request's body"
	case v1alpha1.EndedByConnection:
		return "the connection, which was given up before an answer"
	default:
		return "something unknown"
	}
}

func endedAt(by v1alpha1.EndedBy) page.Location {
	switch by.Kind {
	case v1alpha1.EndedByFilter:
		return page.At("chain", by.Name)
	case v1alpha1.EndedByLayer:
		return page.At("chain", "layer/"+by.Name)
	case v1alpha1.EndedByAdmission:
		return page.At("auth", "")
	default:
		return page.Location{}
	}
}

// code is the status code, where it is certain beforehand, or was seen.
func code(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	f := fact{name: "code"}
	if told.Code != 0 {
		f.foretold, f.token = status(told.Code), tone(told.Code)
	}
	if live != nil {
		f.was = status(live.Status.Code)
		f.wrong = told.Code != 0 && told.Code != live.Status.Code
	}
	return f
}

func status(code int32) string {
	if code == 0 {
		return "no answer"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(int(code))))
}

func tone(code int32) ink.Token {
	switch {
	case code == 0 || code >= 500:
		return ink.Bad
	case code >= 400:
		return ink.Warning
	}
	return ink.Good
}
