package joined

import (
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// patience is how long an installation or a deletion may take before it counts as
// stuck. Both take less than a second where nothing is wrong.
const patience = time.Minute

// The words of a definition's state.
const (
	stateEstablished    = "Established"
	stateInstalling     = "Installing"
	stateNotEstablished = "NotEstablished"
	stateNamesConflict  = "NamesConflict"
	stateNonStructural  = "NonStructural"
	stateNotApproved    = "NotApproved"
	stateNotServed      = "NotServed"
	stateTerminating    = "Terminating"
)

// definitionState decides the word. The first that holds counts: what hides the
// rest comes first.
func definitionState(object *apiextensionsv1.CustomResourceDefinition, conditions []Condition, now time.Time) State {
	find := func(kind apiextensionsv1.CustomResourceDefinitionConditionType) Condition {
		return Find(conditions, string(kind))
	}
	established, names := find(apiextensionsv1.Established), find(apiextensionsv1.NamesAccepted)
	nonStructural, approved := find(apiextensionsv1.NonStructuralSchema), find(apiextensionsv1.KubernetesAPIApprovalPolicyConformant)
	serves := established.Status == "True"
	switch {
	case object.DeletionTimestamp != nil:
		return terminating(object, find(apiextensionsv1.Terminating), now)
	case names.Status == "False":
		return State{stateNamesConflict, Bad, because(names), names.Since}
	case !serves && (established.Reason == "Installing" || established.Status == ""):
		return installing(object, established, now)
	case !serves:
		return State{stateNotEstablished, Bad, because(established), established.Since}
	case nonStructural.Status == "True":
		return State{stateNonStructural, Warning, because(nonStructural), nonStructural.Since}
	case approved.Status == "False":
		return State{stateNotApproved, Warning, because(approved), approved.Since}
	case !anyServed(object):
		return State{stateNotServed, Warning, "no version has served: true", established.Since}
	default:
		return State{Word: stateEstablished, Severity: OK, Since: established.Since}
	}
}

func terminating(object *apiextensionsv1.CustomResourceDefinition, c Condition, now time.Time) State {
	s := State{Word: stateTerminating, Severity: Warning, Why: "waits for " + strings.Join(object.Finalizers, ", "), Since: object.DeletionTimestamp.Time}
	if c.Status == "True" {
		s.Why = because(c)
	}
	if c.Reason == "InstanceDeletionFailed" || now.Sub(s.Since) > patience {
		s.Severity = Bad
	}
	return s
}

func installing(object *apiextensionsv1.CustomResourceDefinition, c Condition, now time.Time) State {
	s := State{Word: stateInstalling, Severity: Warning, Why: because(c), Since: c.Since}
	if c.Status == "" {
		s.Why, s.Since = "no controller has looked at it yet", object.CreationTimestamp.Time
	}
	if now.Sub(s.Since) > patience {
		s.Severity = Bad
	}
	return s
}

// because is what a condition says.
func because(c Condition) string {
	if c.Message == "" {
		return c.Reason
	}
	return c.Message
}

func anyServed(object *apiextensionsv1.CustomResourceDefinition) bool {
	for i := range object.Spec.Versions {
		if object.Spec.Versions[i].Served {
			return true
		}
	}
	return false
}

// problems lists what is wrong with names and schemas, one problem a line.
func problems(object *apiextensionsv1.CustomResourceDefinition, conditions []Condition) []string {
	var all []string
	if c := Find(conditions, string(apiextensionsv1.NamesAccepted)); c.Status == "False" {
		all = append(all, fmt.Sprintf("names: %s (%s)", c.Message, c.Reason))
	}
	structural := Find(conditions, string(apiextensionsv1.NonStructuralSchema))
	all = append(all, split(structural)...)
	if object.Spec.PreserveUnknownFields && !strings.Contains(structural.Message, "preserveUnknownFields") {
		all = append(all, "spec.preserveUnknownFields: true, so fields that no schema knows are kept and nothing is pruned")
	}
	for i := range object.Spec.Versions {
		if v := &object.Spec.Versions[i]; v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			all = append(all, fmt.Sprintf("spec.versions[%d].schema: %s has none, so nothing is validated", i, v.Name))
		}
	}
	return all
}

// split takes the message of NonStructuralSchema apart, which is one violation or a
// list "[a, b]" of them; each begins with the path of a field. A violation may hold
// commas itself.
func split(c Condition) []string {
	if c.Status == "" || c.Status == "False" || c.Message == "" {
		return nil
	}
	message := c.Message
	if !strings.HasPrefix(message, "[") || !strings.HasSuffix(message, "]") {
		return []string{message}
	}
	var all []string
	for i, part := range strings.Split(message[1:len(message)-1], ", spec.") {
		if i > 0 {
			part = "spec." + part
		}
		all = append(all, part)
	}
	return all
}
