package joined

import (
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
)

// noon is now in tests that have no recording; born is when their objects were made.
var (
	noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	born = noon.Add(-time.Hour)
)

// definition returns one that was established within two seconds, changed by edit.
func definition(edit func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.example.com", UID: "1", CreationTimestamp: metav1.NewTime(born)},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Kind: "Thing"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}},
	}
	set(d, "NamesAccepted", "True", "NoConflicts", "no conflicts found")
	set(d, "Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
	if edit != nil {
		edit(d)
	}
	return d
}

// set gives a definition a condition, or changes it; without a status it takes it away.
func set(d *apiextensionsv1.CustomResourceDefinition, kind, status, reason, message string) {
	next := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.CustomResourceDefinitionConditionType(kind), Status: apiextensionsv1.ConditionStatus(status),
		Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(born.Add(2 * time.Second)),
	}
	var kept []apiextensionsv1.CustomResourceDefinitionCondition
	for _, c := range d.Status.Conditions {
		if string(c.Type) != kind {
			kept = append(kept, c)
		}
	}
	if status != "" {
		kept = append(kept, next)
	}
	d.Status.Conditions = kept
}

// apiService returns one for a service, with its Available condition; local without one.
func apiService(service, status, reason, message string) *apiregistrationv1.APIService {
	a := &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: "v1.example.com", UID: "1", CreationTimestamp: metav1.NewTime(born)},
		Spec:       apiregistrationv1.APIServiceSpec{Group: "example.com", Version: "v1"},
	}
	if service != "" {
		a.Spec.Service = &apiregistrationv1.ServiceReference{Namespace: "default", Name: service}
	}
	if status != "" {
		a.Status.Conditions = []apiregistrationv1.APIServiceCondition{{
			Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionStatus(status),
			Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(born),
		}}
	}
	return a
}

// failedAt returns a probe that failed at a step.
func failedAt(step v1alpha1.ProbeStepName, message string) *v1alpha1.APIServiceProbe {
	probe := v1alpha1.Probe{At: metav1.NewMicroTime(noon)}
	for _, name := range StepNames() {
		if name == step {
			probe.Steps = append(probe.Steps, v1alpha1.ProbeStep{Name: name, Error: message})
			break
		}
		probe.Steps = append(probe.Steps, v1alpha1.ProbeStep{Name: name, OK: true, Detail: "10.0.0.7:443"})
	}
	return &v1alpha1.APIServiceProbe{
		ObjectMeta: metav1.ObjectMeta{Name: "v1.example.com"},
		Status:     v1alpha1.APIServiceProbeStatus{FailingStep: step, Error: message, Probes: []v1alpha1.Probe{probe}},
	}
}

// healthy returns the recorded server without what is broken in it.
func healthy(t *testing.T) *joinedtest.Server {
	t.Helper()
	s := joinedtest.Lab(t)
	s.CRDs = []*apiextensionsv1.CustomResourceDefinition{s.CRD(t, "widgets.lab.example")}
	var working []*apiregistrationv1.APIService
	for _, a := range s.Services {
		if c := a.Status.Conditions; len(c) > 0 && c[0].Status == apiregistrationv1.ConditionTrue {
			working = append(working, a)
		}
	}
	s.Services = working
	var current []kinds.Object
	for _, d := range joinedtest.Of[*v1alpha1.DiscoveryState](s, partDiscovery) {
		if d.Status.Freshness == v1alpha1.DiscoveryCurrent {
			current = append(current, d)
		}
	}
	s.Objects[partDiscovery] = current
	s.Objects[partTraces], s.Objects[partControllers], s.Namespaces = nil, nil, nil
	return s
}
