package joined

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// LoadAPIService asks a server for everything about one APIService. It fails only
// where the APIService itself can't be had: NotFound if there is none of that name.
func LoadAPIService(ctx context.Context, server inspection.Server, name string) (APIService, error) {
	version, group, _ := strings.Cut(name, ".") // the API accepts no other names
	var (
		parts APIServiceParts
		err   error
		lost  [5][]Missing
		work  sync.WaitGroup
	)
	work.Go(func() { parts.APIService, err = getAPIService(ctx, server, name) })
	work.Go(func() {
		parts.Probes, lost[0] = list[*v1alpha1.APIServiceProbe](ctx, server, partProbes, where("metadata.name", name))
	})
	work.Go(func() {
		parts.Transitions, lost[1] = list[*v1alpha1.ConditionTransition](ctx, server, partTransitions, history(kindAPIService, name))
	})
	work.Go(func() {
		parts.Registrations, lost[2] = list[*v1alpha1.APIResourceRegistration](ctx, server, partRegistrations, where("spec.group", group, "spec.version", version))
	})
	work.Go(func() {
		parts.Discovery, lost[3] = list[*v1alpha1.DiscoveryState](ctx, server, partDiscovery, where("spec.group", group))
	})
	work.Go(func() {
		for namespace, err := range server.TerminatingNamespaces(ctx) {
			if err != nil {
				lost[4] = []Missing{{partNamespaces, reason(err, partNamespaces)}}
				return
			}
			parts.Namespaces = append(parts.Namespaces, namespace)
		}
	})
	work.Wait()
	if err != nil {
		return APIService{}, err
	}
	for _, missing := range lost {
		parts.Missing = append(parts.Missing, missing...)
	}
	a := JoinAPIService(parts)
	a.Missing = slices.DeleteFunc(a.Missing, a.idle)
	return a, nil
}

// idle says that nothing would be shown of a part even if it were not missing: times
// that only definitions have, probes of what nobody probes, failures of what works and who waits for it.
func (a *APIService) idle(m Missing) bool {
	switch m.Part {
	case partTransitions + ".To-Established", partTransitions + ".To-Served":
		return true
	case partProbes + ".Failing-Step", partProbes + ".Error", partNamespaces:
		return a.Service == "" || a.State.Severity == OK
	case partProbes + ".Last-Probe", partProbes + ".503s":
		return a.Service == ""
	default:
		return false
	}
}

// APIServices asks a server for all APIServices, a line each. What they are joined
// with is fetched at once, the APIServices themselves while the lines are taken. The
// second result is what the lines lack.
func APIServices(ctx context.Context, server inspection.Server) (iter.Seq2[APIServiceLine, error], []Missing) {
	var (
		transitions []*v1alpha1.ConditionTransition
		probes      []*v1alpha1.APIServiceProbe
		lost        [2][]Missing
		work        sync.WaitGroup
	)
	work.Go(func() {
		transitions, lost[0] = list[*v1alpha1.ConditionTransition](ctx, server, partTransitions, where("spec.object.kind", kindAPIService))
	})
	work.Go(func() {
		probes, lost[1] = list[*v1alpha1.APIServiceProbe](ctx, server, partProbes, inspection.Query{})
	})
	work.Wait()
	index := NewAPIServiceIndex(probes, transitions)
	lines := func(yield func(APIServiceLine, error) bool) {
		for object, err := range server.APIServices(ctx) {
			if err != nil {
				yield(APIServiceLine{}, err)
				return
			}
			if !yield(index.Line(object), nil) {
				return
			}
		}
	}
	return lines, append(lost[0], lost[1]...)
}
