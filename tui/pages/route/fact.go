package route

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// fact is something that an explanation foretells, beside what did happen.
type fact struct {
	name string
	// foretold is what would happen; empty if that is not certain.
	foretold string
	// was is what did happen; empty if it was not sent, or its trace does not show it.
	was string
	// wrong says that the two are not the same thing.
	wrong bool

	token ink.Token
	open  page.Location
	// below are further lines about it, folded at first where they are many.
	below  []note
	folded bool
}

// note is a line below a fact.
type note struct {
	token ink.Token
	text  string
	open  page.Location
}

// checked says that the fact could be wrong.
func (f fact) checked() bool { return f.foretold != "" && f.was != "" }

// facts are all that an explanation foretells, in the order in which a request
// meets it. live is its trace; nil if it was not sent.
func facts(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) []fact {
	of := func(value func(*v1alpha1.RequestTrace) string) string {
		if live == nil {
			return ""
		}
		return value(live)
	}
	auth, flow := page.At("auth", ""), page.At("flow", "")
	facts := []fact{
		user(told, live),
		alike("understood as", understood(told.RequestInfo), of(func(t *v1alpha1.RequestTrace) string { return understood(t.Spec.RequestInfo) })),
		filters(told, live),
		alike("flow schema", told.FlowSchema, of(func(t *v1alpha1.RequestTrace) string { return t.Status.FlowSchema })).leads(flow),
		alike("priority level", told.PriorityLevel, of(func(t *v1alpha1.RequestTrace) string { return t.Status.PriorityLevel })).leads(flow),
		authorization(told, live).leads(auth),
		layers(told, live),
		service(told, live),
		admission(told).leads(auth),
		storageKey(told),
		end(told, live),
		code(told, live),
	}
	return slices.DeleteFunc(facts, func(f fact) bool { return f.foretold == "" && f.was == "" })
}

func (f fact) leads(to page.Location) fact {
	f.open = to
	return f
}

// alike is a fact whose text is all there is to compare. What is not foretold can't
// be wrong, and is not of interest.
func alike(name, foretold, was string) fact {
	if foretold == "" {
		return fact{name: name}
	}
	return fact{name: name, foretold: foretold, was: was, wrong: was != "" && was != foretold}
}

// user compares names: a server adds groups of its own.
func user(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	if told.User == nil {
		return fact{}
	}
	was := ""
	if live != nil && live.Spec.User != nil {
		was = live.Spec.User.Name
	}
	f := alike("user", told.User.Name, was)
	if len(told.User.Groups) > 0 {
		f.below = []note{{token: ink.Muted, text: "in groups " + strings.Join(told.User.Groups, ", ")}}
	}
	return f
}

// understood says how a server takes a request.
func understood(info *v1alpha1.RequestInfo) string {
	if info == nil {
		return ""
	}
	if !info.IsResourceRequest {
		return info.Verb + " of a path that is no resource"
	}
	said := info.Verb + " " + info.Resource
	if info.Subresource != "" {
		said += "/" + info.Subresource
	}
	said += " of " + strings.TrimPrefix(info.APIGroup+"/"+info.APIVersion, "/")
	if info.Name != "" {
		said += ", named " + info.Name
	}
	if info.Namespace != "" {
		said += ", in namespace " + info.Namespace
	}
	return said
}

// filters are those that it would come through. Those that only pass it on share a
// line.
func filters(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	f := fact{name: "filters"}
	if len(told.Filters) == 0 {
		return f
	}
	f.foretold = strconv.Itoa(len(told.Filters))
	var run []string
	flush := func() {
		switch n := len(run); {
		case n == 1:
			f.below = append(f.below, note{token: ink.Muted, text: run[0] + " passes it on", open: page.At("chain", run[0])})
		case n > 1:
			f.below = append(f.below, note{token: ink.Muted, text: strconv.Itoa(n) + " that pass it on, " + run[0] + " to " + run[n-1], open: page.At("chain", run[0])})
		}
		run = nil
	}
	for _, each := range told.Filters {
		if !each.Ends && each.Note == "" {
			run = append(run, each.Name)
			continue
		}
		flush()
		n := note{token: ink.Text, text: each.Name + ": " + each.Note, open: page.At("chain", each.Name)}
		if each.Ends {
			n.token, n.text = ink.Warning, strings.TrimSuffix(each.Name+" ends it here: "+each.Note, ": ")
		}
		f.below = append(f.below, n)
	}
	flush()
	if live == nil || len(live.Status.Filters) == 0 {
		return f
	}
	f.was = strconv.Itoa(len(live.Status.Filters))
	if others := unexpected(told, live); others != "" {
		f.was, f.wrong = f.was+", "+others, true
	}
	return f
}

// unexpected names the filters that only one of the two has. Those further in than
// where the request ended say nothing: it did not come to them.
func unexpected(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) string {
	var foretold, were, parts []string
	for _, each := range told.Filters {
		foretold = append(foretold, each.Name)
	}
	for _, each := range live.Status.Filters {
		were = append(were, each.Name)
	}
	common := min(len(foretold), len(were))
	if slices.Equal(foretold[:common], were[:common]) {
		return ""
	}
	for _, name := range were {
		if !slices.Contains(foretold, name) {
			parts = append(parts, "with "+name)
		}
	}
	for _, name := range foretold[:common] {
		if !slices.Contains(were, name) {
			parts = append(parts, "without "+name)
		}
	}
	if len(parts) == 0 {
		return "in another order"
	}
	return strings.Join(parts, ", ")
}
