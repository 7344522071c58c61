package joined

import (
	"cmp"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Condition is a condition of an object as it is now.
type Condition struct {
	// Type, Status, Reason and Message are the condition's.
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Since is when the status last changed, to the second.
	Since time.Time `json:"since,omitzero"`
}

// Severity says how bad the status is for a condition of this type.
func (c Condition) Severity() Severity {
	good, severity := "True", Bad
	switch c.Type {
	case string(apiextensionsv1.NonStructuralSchema), string(apiextensionsv1.Terminating):
		good, severity = "False", Warning
	case string(apiextensionsv1.KubernetesAPIApprovalPolicyConformant):
		severity = Warning
	case string(apiextensionsv1.StorageMigrating):
		return OK
	case v1alpha1.ConditionRunning:
		return runningSeverity(c)
	}
	switch {
	case remains(c.Type):
		good, severity = "False", Warning
	case slices.Contains(blocking(), c.Type):
		good = "False"
	}
	if c.Status == good {
		return OK
	}
	if c.Status != "True" && c.Status != "False" {
		return Warning
	}
	return severity
}

// runningSeverity is that of the condition Running of a controller, which is false in
// most that are well.
func runningSeverity(c Condition) Severity {
	switch c.Reason {
	case v1alpha1.ControllerFailed:
		return Bad
	case v1alpha1.ControllerStarting:
		return Warning
	default:
		return OK
	}
}

// ControllerConditions are those of a controller, as they are shown.
func ControllerConditions(c *v1alpha1.Controller) []Condition {
	conditions := make([]Condition, 0, len(c.Status.Conditions))
	for i := range c.Status.Conditions {
		each := &c.Status.Conditions[i]
		conditions = append(conditions, Condition{each.Type, string(each.Status), each.Reason, each.Message, each.LastTransitionTime.Time})
	}
	return conditions
}

// Find returns the condition of a type; one without a status if there is none.
func Find(conditions []Condition, kind string) Condition {
	for _, c := range conditions {
		if c.Type == kind {
			return c
		}
	}
	return Condition{Type: kind}
}

// ConditionTypes are those of definitions, in the order in which they are shown.
func ConditionTypes() []string {
	return []string{
		string(apiextensionsv1.Established), string(apiextensionsv1.NamesAccepted),
		string(apiextensionsv1.NonStructuralSchema), string(apiextensionsv1.Terminating),
		string(apiextensionsv1.KubernetesAPIApprovalPolicyConformant), string(apiextensionsv1.StorageMigrating),
	}
}

func definitionConditions(definition *apiextensionsv1.CustomResourceDefinition) []Condition {
	conditions := make([]Condition, 0, len(definition.Status.Conditions))
	for i := range definition.Status.Conditions {
		c := &definition.Status.Conditions[i]
		conditions = append(conditions, Condition{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time})
	}
	order := ConditionTypes()
	place := func(c Condition) int {
		if i := slices.Index(order, c.Type); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(conditions, func(a, b Condition) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Type, b.Type))
	})
	return conditions
}

func serviceConditions(service *apiregistrationv1.APIService) []Condition {
	conditions := make([]Condition, 0, len(service.Status.Conditions))
	for i := range service.Status.Conditions {
		c := &service.Status.Conditions[i]
		conditions = append(conditions, Condition{string(c.Type), string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time})
	}
	return conditions
}

// lastChange is the last time that is known at which conditions changed.
func lastChange(conditions []Condition, transitions []*v1alpha1.ConditionTransition) time.Time {
	var last time.Time
	for _, c := range conditions {
		last = later(last, c.Since)
	}
	for _, t := range transitions {
		last = later(last, t.Spec.At.Time)
	}
	return last
}

// own returns the transitions of one object, oldest first, and how many there are of
// objects that had its name before it.
func own(all []*v1alpha1.ConditionTransition, kind, name, uid string) (mine []*v1alpha1.ConditionTransition, earlier int) {
	for _, t := range all {
		switch o := t.Spec.Object; {
		case o.Kind != kind || o.Name != name:
		case o.UID == "" || uid == "" || o.UID == uid:
			mine = append(mine, t)
		default:
			earlier++
		}
	}
	slices.SortStableFunc(mine, func(a, b *v1alpha1.ConditionTransition) int { return a.Spec.At.Compare(b.Spec.At.Time) })
	return mine, earlier
}
