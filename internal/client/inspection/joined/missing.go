package joined

import (
	"cmp"
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

// Missing is a part that could not be had.
type Missing struct {
	// Part is what would be there: the name of a resource ("poststarthooks"), with
	// the column after a dot if it is not the whole.
	Part string `json:"part"`
	// Reason is a clause that says why not.
	Reason string `json:"reason"`
}

// Why returns the reason why a part is missing as a whole; "" if it is not.
func Why(missing []Missing, part string) string {
	for _, one := range missing {
		if one.Part == part {
			return one.Reason
		}
	}
	return ""
}

// list asks for the objects of one kind. What can't be had is a Missing, unless it is
// a column that the join does not use.
func list[T kinds.Object](ctx context.Context, server inspection.Server, resource string, query inspection.Query) ([]T, []Missing) {
	kind, ok := kinds.ByName(resource)
	if !ok {
		return nil, []Missing{{Part: resource, Reason: "this version of kapi does not know it"}}
	}
	listing, err := server.List(ctx, kind, query)
	if err != nil {
		return nil, []Missing{{Part: resource, Reason: reason(explained(ctx, err), resource)}}
	}
	var missing []Missing
	for _, gap := range listing.Gaps {
		part := resource
		if gap.Column != "" {
			if !slices.Contains(used()[resource], gap.Column) {
				continue
			}
			part += "." + gap.Column
		}
		missing = append(missing, Missing{Part: part, Reason: gap.Reason})
	}
	objects := make([]T, 0, len(listing.Objects))
	for _, object := range listing.Objects {
		if typed, ok := object.(T); ok {
			objects = append(objects, typed)
		}
	}
	return objects, missing
}

// used are the columns that the joins use of each resource, where those that a server
// lacks are worth a word.
func used() map[string][]string {
	return map[string][]string{
		partLayers:        {"Received", "Answered", "In-Flight", "Last-Error"},
		partFilters:       {"Requests", "Terminated"},
		partHooks:         {"State"},
		partHealth:        {"State"},
		partRegistrations: {"Served"},
		partStorages:      {"Objects", "Size"},
		partTransitions:   {"From", "To-Established", "To-Served"},
		partProbes:        {"Failing-Step", "Error", "503s", "Last-Probe"},
		partDiscovery:     {"Freshness"},
		partFlows:         {"Queued"},
		partEtcd:          {"Size", "In-Use", "Quota", "Leader", "Trouble"},
	}
}

// reason says why a resource could not be had, and which role gives it.
func reason(err error, resource string) string {
	switch {
	case apierrors.IsForbidden(err) && fault.Hint(err) != "":
		return "forbidden: " + fault.Hint(err)
	case apierrors.IsForbidden(err):
		return "forbidden: " + allows(resource)
	case apierrors.IsUnauthorized(err):
		return "the server does not know who asks"
	case apierrors.IsNotFound(err):
		return "the server does not serve it"
	default:
		first, _, _ := strings.Cut(err.Error(), "\n")
		return first
	}
}

// allows names what would allow to list a resource.
func allows(resource string) string {
	switch resource {
	case partDefinitions, partAPIServices, partNamespaces:
		return "it takes a role that lists " + resource
	case partTraces:
		return "the ClusterRole " + v1alpha1.RoleRequests + " gives it"
	default:
		return "the ClusterRole " + v1alpha1.RoleInspect + " gives it"
	}
}

// The parts, by the resources that they are listed as.
const (
	partDefinitions   = "customresourcedefinitions"
	partAPIServices   = "apiservices"
	partLayers        = "serverlayers"
	partFilters       = "filters"
	partHooks         = "poststarthooks"
	partHealth        = "healthchecks"
	partRegistrations = "apiresourceregistrations"
	partStorages      = "resourcestorages"
	partTransitions   = "conditiontransitions"
	partProbes        = "apiserviceprobes"
	partDiscovery     = "discoverystates"
	partTraces        = "requesttraces"
	partFlows         = "flowstates"
	partEtcd          = "etcdmembers"
	partControllers   = "controllers"
	partNamespaces    = "namespaces"
)

// sortMissing orders by the place of the resource; other parts come last.
func sortMissing(missing []Missing, place map[string]int) []Missing {
	of := func(m Missing) int {
		resource, _, _ := strings.Cut(m.Part, ".")
		if i, ok := place[resource]; ok {
			return i
		}
		return len(place)
	}
	slices.SortStableFunc(missing, func(a, b Missing) int {
		return cmp.Or(cmp.Compare(of(a), of(b)), strings.Compare(a.Part, b.Part))
	})
	return missing
}
