package joined

import (
	"time"

	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// APIServiceLine is an APIService on one line of a list.
type APIServiceLine struct {
	// Name is the object's, Group and Version are what it answers for.
	Name    string `json:"name"`
	Group   string `json:"group"`
	Version string `json:"version"`
	// Service is that of the aggregated server; empty for a local one.
	Service string `json:"service,omitempty"`
	// GroupPriority and VersionPriority order discovery; higher is first.
	GroupPriority   int32 `json:"groupPriority"`
	VersionPriority int32 `json:"versionPriority"`
	// State sums it up.
	State State `json:"state"`
	// Available is the status of that condition, Reason its reason.
	Available string `json:"available"`
	Reason    string `json:"reason,omitempty"`
	// FailingStep is the step at which the last probe failed.
	FailingStep v1alpha1.ProbeStepName `json:"failingStep,omitempty"`
	// Succeeded of Probed probes did.
	Succeeded int `json:"succeeded"`
	Probed    int `json:"probed"`
	// LastProbe is when the last one began.
	LastProbe time.Time `json:"lastProbe,omitzero"`
	// UnavailableAnswers is how many requests of clients were answered 503 in its place;
	// -1 if not known.
	UnavailableAnswers int64 `json:"unavailableAnswers"`
	// LastChange is the last change of a condition.
	LastChange time.Time `json:"lastChange,omitzero"`
}

// APIServiceIndex is what lines are joined with.
type APIServiceIndex struct {
	probes  map[string]*v1alpha1.APIServiceProbe
	history map[string][]*v1alpha1.ConditionTransition
}

// NewAPIServiceIndex makes an index of the probes and of the history.
func NewAPIServiceIndex(probes []*v1alpha1.APIServiceProbe, transitions []*v1alpha1.ConditionTransition) APIServiceIndex {
	x := APIServiceIndex{probes: make(map[string]*v1alpha1.APIServiceProbe, len(probes)), history: map[string][]*v1alpha1.ConditionTransition{}}
	for _, p := range probes {
		x.probes[p.Name] = p
	}
	for _, t := range transitions {
		if t.Spec.Object.Kind == kindAPIService {
			x.history[t.Spec.Object.Name] = append(x.history[t.Spec.Object.Name], t)
		}
	}
	return x
}

// Line joins one APIService.
func (x APIServiceIndex) Line(object *apiregistrationv1.APIService) APIServiceLine {
	parts := APIServiceParts{APIService: object, Transitions: x.history[object.Name]}
	if p := x.probes[object.Name]; p != nil {
		parts.Probes = []*v1alpha1.APIServiceProbe{p}
	}
	a := JoinAPIService(parts)
	available := Find(a.Conditions, string(apiregistrationv1.Available))
	line := APIServiceLine{
		Name: a.Name, Group: a.Group, Version: a.Version, Service: a.Service,
		GroupPriority: a.GroupPriority, VersionPriority: a.VersionPriority,
		State: a.State, Available: available.Status, Reason: available.Reason, FailingStep: a.FailingStep,
		Succeeded: a.Succeeded, Probed: len(a.Probes), UnavailableAnswers: a.UnavailableAnswers, LastChange: a.LastChange,
	}
	if line.Available == "" {
		line.Available = string(apiregistrationv1.ConditionUnknown)
	}
	if len(a.Probes) > 0 {
		line.LastProbe = a.Probes[0].At
	}
	return line
}
