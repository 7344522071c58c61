package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
)

// routeFacts are what an explanation foretells, in the order in which a request
// meets it, beside what did happen if it was sent.
func routeFacts(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) []fact {
	facts := []fact{
		userFact(told, live),
		textFact("understood as", infoText(told.RequestInfo), live, func() string { return infoText(live.Spec.RequestInfo) }),
		filtersFact(told, live),
		textFact("flow schema", told.FlowSchema, live, func() string { return live.Status.FlowSchema }),
		textFact("priority level", told.PriorityLevel, live, func() string { return live.Status.PriorityLevel }),
		authorizationFact(told, live),
		layersFact(told, live),
		serviceFact(told, live),
		{name: "admission", foretold: pluginsText(told.AdmissionPlugins)},
		{name: "storage key", foretold: told.StorageKey},
		endFact(told, live),
		codeFact(told, live),
	}
	return slices.DeleteFunc(facts, func(f fact) bool { return f.foretold == "" && f.was == "" })
}

// textFact is a fact whose text is all there is to compare. What neither side
// knows, and what is not foretold, is left out.
func textFact(name, foretold string, live *v1alpha1.RequestTrace, was func() string) fact {
	f := fact{name: name, foretold: foretold}
	if live != nil && foretold != "" {
		f.was = was()
		f.wrong = f.was != "" && f.was != foretold
	}
	return f
}

// userFact compares names: groups may differ by those that a server adds.
func userFact(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	if told.User == nil {
		return fact{}
	}
	f := textFact("user", told.User.Name, live, func() string {
		if live.Spec.User == nil {
			return ""
		}
		return live.Spec.User.Name
	})
	if groups := groupsText(told.User); groups != "" {
		f.notes = []string{"in groups " + groups}
	}
	return f
}

// filtersFact folds filters that do nothing of note.
func filtersFact(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	f := fact{name: "filters"}
	if len(told.Filters) == 0 {
		return f
	}
	f.foretold = strconv.Itoa(len(told.Filters))
	var folded []string
	fold := func() {
		if len(folded) > 0 {
			f.children = append(f.children, text.Node{Label: foldedText(folded), Tone: text.Dim})
		}
		folded = nil
	}
	for _, filter := range told.Filters {
		if !filter.Ends && filter.Note == "" {
			folded = append(folded, filter.Name)
			continue
		}
		fold()
		node := text.Node{Name: filter.Name + ":", Label: filter.Note}
		if filter.Ends {
			node.Label, node.Tone = join(": ", "ends it here", filter.Note), text.Warning
		}
		f.children = append(f.children, node)
	}
	fold()
	if live == nil || len(live.Status.Filters) == 0 {
		return f
	}
	f.was = strconv.Itoa(len(live.Status.Filters))
	if names := unexpected(told, live); names != "" {
		f.was, f.wrong = f.was+", "+names, true
	}
	return f
}

func foldedText(names []string) string {
	if len(names) == 1 {
		return names[0] + " passes it on"
	}
	return fmt.Sprintf("%d that pass it on, %s to %s", len(names), names[0], names[len(names)-1])
}

// unexpected names the filters that were in one of the two only. Those further in
// than the one that ended the request say nothing: it did not come to them.
func unexpected(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) string {
	var foretold, were []string
	for _, filter := range told.Filters {
		foretold = append(foretold, filter.Name)
	}
	for _, filter := range live.Status.Filters {
		were = append(were, filter.Name)
	}
	common := min(len(foretold), len(were))
	if slices.Equal(foretold[:common], were[:common]) {
		return ""
	}
	var parts []string
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

const (
	allowed = "allowed"
	denied  = "denied"
)

// authorizationFact takes from a trace what it shows of the decision: a request that
// was denied ends in the filter that asks, one that came to a layer was allowed.
func authorizationFact(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	decision := told.Authorization
	if decision == nil {
		return fact{}
	}
	f := textFact("authorization", map[bool]string{true: allowed, false: denied}[decision.Allowed], live, func() string {
		switch by := live.Status.TerminatedBy; {
		case by.Kind == v1alpha1.EndedByFilter && by.Name == "authorization" && live.Status.Code == 403:
			return denied
		case len(live.Status.Hops) > 0:
			return allowed
		default:
			return ""
		}
	})
	if !decision.Allowed {
		f.tone = text.Warning
	}
	by := decision.Authorizer
	if by == "" && !decision.Allowed {
		by = "no authorizer allows it"
	}
	if why := join(": ", by, decision.Reason); why != "" {
		f.notes = append(f.notes, why)
	}
	if decision.Error != "" {
		f.notes = append(f.notes, "error: "+decision.Error)
	}
	return f
}

// layersFact nests the layers as the request comes through them. Of servers that do
// not tell their layers there is nothing to say.
func layersFact(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	f := fact{name: "layers", foretold: hopsText(told.Hops, told.TerminatedBy)}
	if f.foretold == "" {
		return f
	}
	for i, hop := range slices.Backward(told.Hops) {
		node := text.Node{Name: hop + ":", Label: "passes it on", Children: f.children}
		switch {
		case i < len(told.Hops)-1:
		case told.Service != "":
			node.Label = "sends it on to service " + told.Service
		default:
			node.Label = "answers"
		}
		f.children = []text.Node{node}
	}
	if live != nil {
		var hops []string
		for _, hop := range live.Status.Hops {
			hops = append(hops, hop.Layer)
		}
		f.was = hopsText(hops, &live.Status.TerminatedBy)
		f.wrong = f.was != "" && f.was != f.foretold
	}
	return f
}

func hopsText(hops []string, by *v1alpha1.EndedBy) string {
	switch {
	case len(hops) > 0:
		return strings.Join(hops, ", ")
	case by != nil && by.Kind == v1alpha1.EndedByFilter:
		return "none is reached"
	default:
		return ""
	}
}

// serviceFact is who serves the group version. A trace names an APIService only if
// the request was sent on.
func serviceFact(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	f := fact{name: "APIService", foretold: told.APIService}
	if told.APIService == "" {
		return f
	}
	f.notes = []string{"served by this server"}
	if told.Service != "" {
		f.notes = []string{"served by service " + told.Service}
	}
	switch {
	case live == nil || told.Service == "" && live.Status.ProxiedTo == nil:
	case len(live.Status.Hops) == 0 && live.Status.ProxiedTo == nil: // it was seen from the client only
	case live.Status.ProxiedTo == nil:
		f.was, f.wrong = "not sent on", true
	default:
		f.was = live.Status.ProxiedTo.APIService
		f.wrong = told.Service == "" || f.was != f.foretold
		f.notes = append(f.notes, "was sent on to "+proxiedText(live.Status.ProxiedTo))
	}
	return f
}

func pluginsText(plugins []string) string {
	if len(plugins) == 0 {
		return ""
	}
	return counted(len(plugins), "plugin") + ", " + strings.Join(plugins, ", ")
}

// endFact is what ends the request. An admission plugin among those foretold may
// refuse it, and so may the limit of the body: nobody knows that before the body.
func endFact(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	if told.TerminatedBy == nil {
		return fact{}
	}
	f := fact{name: "ended by", foretold: endText(*told.TerminatedBy, 0, false)}
	if live == nil || live.Status.TerminatedBy.Kind == "" {
		return f
	}
	by := live.Status.TerminatedBy
	f.was = endText(by, 0, live.Status.Panicked)
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

func codeFact(told v1alpha1.RouteExplanationStatus, live *v1alpha1.RequestTrace) fact {
	f := fact{name: "code"}
	if told.Code != 0 {
		f.foretold, f.tone = codeText(told.Code), codeTone(told.Code)
	}
	if live != nil {
		f.was = codeText(live.Status.Code)
		f.wrong = told.Code != 0 && told.Code != live.Status.Code
	}
	return f
}
