package resources

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// customVerbs are what can be done with every custom resource, in the order of discovery.
func customVerbs() []string {
	return []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
}

// customResources are those of all CustomResourceDefinitions, from the
// definitions themselves: asking discovery for hundreds of them would be slow.
func (r *Resources) customResources() ([]registration, error) {
	if r.config.Custom.Definitions == nil {
		return nil, nil
	}
	definitions, err := r.config.Custom.Definitions()
	if err != nil {
		return nil, fmt.Errorf("listing CustomResourceDefinitions: %w", err)
	}
	var all []registration
	for _, definition := range definitions {
		for i := range definition.Spec.Versions {
			all = append(all, r.customResource(definition, &definition.Spec.Versions[i]))
		}
	}
	return all, nil
}

func (r *Resources) customResource(definition *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion) registration {
	spec, names := &definition.Spec, acceptedNames(definition)
	one := registration{
		Group: spec.Group, Version: version.Name, Resource: names.Plural, Kind: names.Kind,
		Namespaced: spec.Scope == apiextensionsv1.NamespaceScoped, Verbs: customVerbs(),
		ShortNames: names.ShortNames, Categories: names.Categories, Layer: r.config.Custom.Layer,
		EtcdPrefix: groupPrefix(r.config.Custom.Prefix, schema.GroupResource{Group: spec.Group, Resource: names.Plural}),
		DisabledBy: whyNotServed(definition, version),
	}
	one.Served = one.DisabledBy == ""
	if stored := slices.IndexFunc(spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage }); stored >= 0 {
		one.StorageVersion = schema.GroupVersion{Group: spec.Group, Version: spec.Versions[stored].Name}.String()
	}
	if version.Subresources != nil && version.Subresources.Status != nil {
		one.Subresources = append(one.Subresources, "status")
	}
	if version.Subresources != nil && version.Subresources.Scale != nil {
		one.Subresources = append(one.Subresources, "scale")
	}
	return one
}

// acceptedNames are those in force; those asked for until there are any.
func acceptedNames(definition *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinitionNames {
	if definition.Status.AcceptedNames.Plural == "" {
		return &definition.Spec.Names
	}
	return &definition.Status.AcceptedNames
}

func whyNotServed(definition *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if !version.Served {
		return fmt.Sprintf("served: false of version %s in CustomResourceDefinition %s", version.Name, definition.Name)
	}
	for _, condition := range definition.Status.Conditions {
		if condition.Type != apiextensionsv1.Established {
			continue
		}
		if condition.Status == apiextensionsv1.ConditionTrue {
			return ""
		}
		return fmt.Sprintf("CustomResourceDefinition %s is not established: %s", definition.Name, condition.Message)
	}
	return fmt.Sprintf("CustomResourceDefinition %s is not established yet", definition.Name)
}
