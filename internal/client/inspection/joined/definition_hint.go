package joined

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// hint says how to mend what is wrong with the definition.
func (d *Definition) hint() string {
	switch d.State.Word {
	case stateNamesConflict:
		return fmt.Sprintf("Give it other names, or delete what has them in group %s: kapi inspect registrations --field-selector spec.group=%s", d.Group, d.Group)
	case stateNonStructural:
		return "Give each field of the schema a type, and set spec.preserveUnknownFields to false. Until then nothing is pruned, and OpenAPI does not have it."
	case stateNotApproved:
		return fmt.Sprintf("Use a group that does not end in k8s.io or kubernetes.io, or set the annotation %s.", apiextensionsv1.KubeAPIApprovedAnnotation)
	case stateNotServed:
		return "Set served to true for a version of it."
	case stateInstalling:
		return "This takes less than a second. If it lasts, the controllers of the layer apiextensions don't run: kapi inspect hooks"
	case stateTerminating:
		return d.deletionHint()
	default:
		return ""
	}
}

// deletionHint says what a deletion waits for: objects with finalizers of their own,
// or whoever is to remove one of the definition's.
func (d *Definition) deletionHint() string {
	resource := d.Plural + "." + d.Group
	if d.Objects > 0 {
		return fmt.Sprintf("Objects are left, most likely with finalizers that nobody removes. They are shown by: kapi kubectl get %s -A -o yaml", resource)
	}
	for _, finalizer := range d.Deletion.Finalizers {
		if finalizer != apiextensionsv1.CustomResourceCleanupFinalizer {
			return fmt.Sprintf("Start the controller that removes the finalizer %s, or remove it by hand if that controller is gone.", finalizer)
		}
	}
	return fmt.Sprintf("See which objects are left: kapi kubectl get %s -A", resource)
}
