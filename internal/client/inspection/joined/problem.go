package joined

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Problem is something that is wrong now.
type Problem struct {
	// Severity is how bad it is: Warning or Bad.
	Severity Severity `json:"severity"`
	// What is a short sentence without an end: "APIService v1.x is unavailable".
	What string `json:"what"`
	// Why is a clause; empty where What says it all.
	Why string `json:"why,omitempty"`
	// Look is the command that shows more.
	Look string `json:"look"`
}

// alike is how many problems of one kind stand alone; more of them become one.
const alike = 2

// problemsOf applies all rules. The worst problems come first; of those that are as
// bad the ones that others follow from, which is the order of the rules.
func problemsOf(parts OverviewParts) []Problem {
	rules := []func(OverviewParts) []Problem{
		etcdProblems, hookProblems, healthProblems, serviceProblems, definitionProblems,
		namespaceProblems, controllerProblems, flowProblems, failedProblems, slowProblems, discoveryProblems, filterProblems,
	}
	all := []Problem{}
	for _, rule := range rules {
		all = append(all, rule(parts)...)
	}
	slices.SortStableFunc(all, func(a, b Problem) int { return cmp.Compare(b.Severity, a.Severity) })
	return all
}

// gather makes one problem of many of a kind. What and Look are of all of them; the
// reasons are listed by name.
func gather(many []Problem, names []string, what func(n int) string, look string) []Problem {
	if len(many) <= alike {
		return many
	}
	order := make([]int, len(many))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(many[b].Severity, many[a].Severity) })
	why := make([]string, len(many))
	for i, n := range order {
		why[i] = names[n]
	}
	return []Problem{{many[order[0]].Severity, what(len(many)), strings.Join(why, ", "), look}}
}

// healthProblems are failed checks. Those of hooks are left to the hooks, where those
// are known.
func healthProblems(parts OverviewParts) []Problem {
	hooks := Why(parts.Missing, partHooks) == ""
	var (
		all   []Problem
		names []string
	)
	for _, c := range parts.Health {
		if c.Status.State != v1alpha1.HealthFailed || (hooks && strings.HasPrefix(c.Spec.Check, "poststarthook/")) {
			continue
		}
		names = append(names, c.Spec.Check)
		all = append(all, Problem{Bad, fmt.Sprintf("health check %s fails", c.Spec.Check), c.Status.LastError, "kapi inspect health " + c.Name})
	}
	return gather(all, names, func(n int) string { return fmt.Sprintf("%d health checks fail", n) }, "kapi inspect health")
}

func serviceProblems(parts OverviewParts) []Problem {
	var (
		all   []Problem
		names []string
	)
	for _, a := range parts.APIServices {
		if a.State.Severity == OK {
			continue
		}
		what := fmt.Sprintf("APIService %s is %s", a.Name, strings.ToLower(a.State.Word))
		if a.State.Word == stateAvailable {
			what = fmt.Sprintf("APIService %s is failing", a.Name)
		}
		name := a.Name
		if a.FailingStep != "" {
			name += fmt.Sprintf(" (%s)", a.FailingStep)
		}
		names = append(names, name)
		all = append(all, Problem{a.State.Severity, what, a.State.Why, "kapi inspect apiservices " + a.Name})
	}
	return gather(all, names, func(n int) string { return fmt.Sprintf("%d APIServices do not work", n) }, "kapi inspect apiservices")
}

func definitionProblems(parts OverviewParts) []Problem {
	var (
		all   []Problem
		names []string
	)
	for _, d := range parts.Definitions {
		if d.State.Severity == OK {
			continue
		}
		names = append(names, fmt.Sprintf("%s (%s)", d.Name, d.State.Word))
		all = append(all, Problem{d.State.Severity, fmt.Sprintf("CRD %s %s", d.Name, stateMeans(d.State)), d.State.Why, "kapi inspect crds " + d.Name})
	}
	return gather(all, names, func(n int) string { return fmt.Sprintf("%d CRDs do not work", n) }, "kapi inspect crds")
}

// discoveryProblems are group versions that discovery does not have as they are.
// Those whose APIService does not work follow from that.
func discoveryProblems(parts OverviewParts) []Problem {
	broken := map[string]bool{}
	for _, a := range parts.APIServices {
		broken[a.Name] = a.State.Severity != OK
	}
	var (
		all   []Problem
		names []string
	)
	for _, d := range parts.Discovery {
		if d.Status.Freshness == v1alpha1.DiscoveryCurrent || d.Status.Freshness == "" || broken[d.Spec.Version+"."+d.Spec.Group] {
			continue
		}
		gv := strings.TrimPrefix(d.Spec.Group+"/"+d.Spec.Version, "/")
		names = append(names, gv)
		all = append(all, Problem{
			Warning, fmt.Sprintf("discovery of %s is %s", gv, strings.ToLower(string(d.Status.Freshness))), d.Status.Error, "kapi inspect discovery " + d.Name,
		})
	}
	return gather(all, names, func(n int) string { return fmt.Sprintf("discovery of %d group versions is not current", n) }, "kapi inspect discovery")
}

// stateMeans says what a state is in a sentence about the definition.
func stateMeans(s State) string {
	switch s.Word {
	case stateInstalling:
		return "is not established yet"
	case stateNamesConflict:
		return "has names that others have"
	case stateNonStructural:
		return "has a schema that is not structural"
	case stateNotApproved:
		return "is not approved for a group of Kubernetes"
	case stateNotServed:
		return "has no version that is served"
	case stateTerminating:
		if s.Severity == Bad {
			return "is stuck in its deletion"
		}
		return "is being deleted"
	default:
		return "is not established"
	}
}
