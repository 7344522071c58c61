package joined

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// kindAPIService is how transitions name an APIService's kind.
const kindAPIService = "APIService"

// The words of an APIService's state.
const (
	stateAvailable   = "Available"
	stateUnavailable = "Unavailable"
	stateUnknown     = "Unknown"
)

// APIService is everything about one APIService.
type APIService struct {
	// Name is the object's, Group and Version are what it answers for.
	Name    string `json:"name"`
	Group   string `json:"group"`
	Version string `json:"version"`
	// Service is that of the aggregated server ("namespace/name:port"); empty where a
	// layer of the server itself answers.
	Service string `json:"service,omitempty"`
	// CreatedAt is when the object was created, to the second.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// GroupPriority and VersionPriority order discovery; higher is first.
	GroupPriority   int32 `json:"groupPriority"`
	VersionPriority int32 `json:"versionPriority"`
	// CABundle says that the certificate is checked against a bundle of its own,
	// InsecureSkipTLSVerify that it is not checked.
	CABundle              bool `json:"caBundle"`
	InsecureSkipTLSVerify bool `json:"insecureSkipTLSVerify,omitempty"`
	// State sums it up.
	State State `json:"state"`
	// Conditions are those that it has now.
	Conditions []Condition `json:"conditions,omitempty"`
	// Steps are those of the last probe, in order, those that were not tried as well;
	// none for a local one, or if there was no probe.
	Steps []Step `json:"steps,omitempty"`
	// FailingStep is the one that failed; empty if none did.
	FailingStep v1alpha1.ProbeStepName `json:"failingStep,omitempty"`
	// Hint is how to mend it, a sentence; empty where nothing is broken.
	Hint string `json:"hint,omitempty"`
	// Probes are the last ones, newest first, and Succeeded is how many of them did.
	Probes    []Try `json:"probes,omitempty"`
	Succeeded int   `json:"succeeded"`
	// UnavailableAnswers is how many requests of clients were answered 503 in its place;
	// -1 if not known.
	UnavailableAnswers int64 `json:"unavailableAnswers"`
	// Transitions are the changes of its conditions that were seen, newest last.
	Transitions []v1alpha1.ConditionTransitionSpec `json:"transitions,omitempty"`
	// Earlier counts the transitions of objects that had the name before.
	Earlier int `json:"earlier,omitempty"`
	// LastChange is the last change of a condition.
	LastChange time.Time `json:"lastChange,omitzero"`
	// Discovery is how far discovery knows its group version; nil if not known.
	Discovery *v1alpha1.DiscoveryStateStatus `json:"discovery,omitempty"`
	// Namespaces are those whose deletion waits for it: what of its resources is in them
	// can't be found.
	Namespaces []string `json:"namespaces,omitempty"`
	// Resources are those of its group version.
	Resources []Resource `json:"resources,omitempty"`
	// Missing is what could not be had.
	Missing []Missing `json:"missing,omitempty"`
}

// Step is a step of a probe.
type Step struct {
	v1alpha1.ProbeStep `json:",inline"`
	// Tried is false after a step that failed.
	Tried bool `json:"tried"`
}

// Try is the outcome of one probe.
type Try struct {
	// At is when it began.
	At time.Time `json:"at"`
	// OK says that all steps succeeded; FailingStep is the one that did not.
	OK          bool                   `json:"ok"`
	FailingStep v1alpha1.ProbeStepName `json:"failingStep,omitempty"`
}

// Resource is a resource of an APIService.
type Resource struct {
	// Name is the plural, Kind that of its objects.
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"`
	// Namespaced says whether its objects are in namespaces.
	Namespaced bool `json:"namespaced"`
	// Layer is the layer that answers or passes it on to the aggregated server.
	Layer string `json:"layer,omitempty"`
	// Served says whether the server answers for it.
	Served bool `json:"served"`
}

// APIServiceParts is what an APIService is joined from. Objects that belong to others
// are left out of the join.
type APIServiceParts struct {
	// APIService is the object itself; it must be there.
	APIService    *apiregistrationv1.APIService
	Probes        []*v1alpha1.APIServiceProbe
	Transitions   []*v1alpha1.ConditionTransition
	Registrations []*v1alpha1.APIResourceRegistration
	Discovery     []*v1alpha1.DiscoveryState
	// Namespaces are those that are being deleted.
	Namespaces []*corev1.Namespace
	// Missing is what could not be had.
	Missing []Missing
}

// JoinAPIService puts an APIService together.
func JoinAPIService(parts APIServiceParts) APIService {
	object := parts.APIService
	a := APIService{
		Name: object.Name, Group: object.Spec.Group, Version: object.Spec.Version, Service: serviceOf(object),
		CreatedAt: object.CreationTimestamp.Time, GroupPriority: object.Spec.GroupPriorityMinimum, VersionPriority: object.Spec.VersionPriority,
		CABundle: len(object.Spec.CABundle) > 0, InsecureSkipTLSVerify: object.Spec.InsecureSkipTLSVerify,
		Conditions: serviceConditions(object), UnavailableAnswers: -1, Missing: parts.Missing,
	}
	for _, p := range parts.Probes {
		if p.Name == a.Name {
			a.joinProbe(p)
		}
	}
	a.State = serviceState(object, a.Conditions, a.failure())
	a.Hint = a.hint()
	transitions, earlier := own(parts.Transitions, kindAPIService, object.Name, string(object.UID))
	for _, t := range transitions {
		a.Transitions = append(a.Transitions, t.Spec)
	}
	a.Earlier, a.LastChange = earlier, lastChange(a.Conditions, transitions)
	for _, r := range parts.Registrations {
		if r.Spec.Group == a.Group && r.Spec.Version == a.Version {
			a.Resources = append(a.Resources, Resource{r.Spec.Resource, r.Spec.Kind, r.Spec.Namespaced, r.Spec.Layer, r.Spec.Served})
		}
	}
	for _, d := range parts.Discovery {
		if d.Spec.Group == a.Group && d.Spec.Version == a.Version {
			a.Discovery = &d.Status
		}
	}
	for _, n := range parts.Namespaces {
		if line := JoinNamespace(n, time.Time{}); slices.Contains(line.GroupVersions, a.Group+"/"+a.Version) {
			a.Namespaces = append(a.Namespaces, n.Name)
		}
	}
	return a
}

// StepNames are the steps of a probe, in order.
func StepNames() []v1alpha1.ProbeStepName {
	return []v1alpha1.ProbeStepName{
		v1alpha1.ProbeService, v1alpha1.ProbeEndpoint, v1alpha1.ProbeDial, v1alpha1.ProbeTLS, v1alpha1.ProbeStatus,
	}
}

func (a *APIService) joinProbe(p *v1alpha1.APIServiceProbe) {
	a.FailingStep, a.UnavailableAnswers = p.Status.FailingStep, p.Status.UnavailableAnswers
	for i := range p.Status.Probes {
		probe := &p.Status.Probes[i]
		try := Try{At: probe.At.Time, OK: probe.OK}
		if n := len(probe.Steps); !probe.OK && n > 0 {
			try.FailingStep = probe.Steps[n-1].Name
		}
		if try.OK {
			a.Succeeded++
		}
		a.Probes = append(a.Probes, try)
	}
	if len(p.Status.Probes) == 0 {
		return
	}
	for _, name := range StepNames() {
		step := Step{ProbeStep: v1alpha1.ProbeStep{Name: name}}
		for _, tried := range p.Status.Probes[0].Steps {
			if tried.Name == name {
				step = Step{ProbeStep: tried, Tried: true}
			}
		}
		a.Steps = append(a.Steps, step)
	}
}

// failed returns the step of the last probe that failed.
func (a *APIService) failed() (Step, bool) {
	for _, step := range a.Steps {
		if step.Tried && !step.OK {
			return step, true
		}
	}
	return Step{}, false
}

// failure says where the last probe failed, and why.
func (a *APIService) failure() string {
	if step, ok := a.failed(); ok {
		if name := string(step.Name); strings.HasPrefix(step.Error, name) {
			return step.Error // "tls: failed to verify certificate"
		}
		return fmt.Sprintf("%s: %s", step.Name, step.Error)
	}
	return ""
}

// serviceOf is the service of an aggregated server; "" for a local one.
func serviceOf(object *apiregistrationv1.APIService) string {
	service := object.Spec.Service
	if service == nil {
		return ""
	}
	port := int32(443)
	if service.Port != nil {
		port = *service.Port
	}
	return fmt.Sprintf("%s/%s:%d", service.Namespace, service.Name, port)
}

// serviceState decides the word. failure is what the last probe found.
func serviceState(object *apiregistrationv1.APIService, conditions []Condition, failure string) State {
	available := Find(conditions, string(apiregistrationv1.Available))
	why := failure
	switch {
	case object.DeletionTimestamp != nil:
		return State{stateTerminating, Warning, "it is being deleted", object.DeletionTimestamp.Time}
	case available.Status == "True" && failure != "":
		return State{stateAvailable, Warning, "the last probe failed at " + failure, available.Since}
	case available.Status == "True":
		return State{Word: stateAvailable, Severity: OK, Since: available.Since}
	case available.Status == "False":
		if why == "" {
			why = because(available)
		}
		return State{stateUnavailable, Bad, why, available.Since}
	default:
		if why == "" {
			why = "no controller has looked at it yet"
		}
		return State{stateUnknown, Warning, why, object.CreationTimestamp.Time}
	}
}
