package conditions

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func readDefinition(object any) (state, bool) {
	definition, ok := object.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return state{}, false
	}
	s := state{
		key: objectKey{KindDefinition, definition.Name}, meta: &definition.ObjectMeta,
		conditions: map[string]condition{}, definition: definition,
	}
	for i := range definition.Status.Conditions {
		c := &definition.Status.Conditions[i]
		s.conditions[string(c.Type)] = condition{string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
	}
	return s, true
}

func readAPIService(object any) (state, bool) {
	service, ok := object.(*apiregistrationv1.APIService)
	if !ok {
		return state{}, false
	}
	s := state{key: objectKey{KindAPIService, service.Name}, meta: &service.ObjectMeta, conditions: map[string]condition{}}
	for i := range service.Status.Conditions {
		c := &service.Status.Conditions[i]
		s.conditions[string(c.Type)] = condition{string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
	}
	return s, true
}

// readNamespace reads a namespace. Its conditions are about its deletion, and wanted
// to be False. Source: k8s.io/kubernetes/pkg/controller/namespace/deletion.
func readNamespace(object any) (state, bool) {
	namespace, ok := object.(*corev1.Namespace)
	if !ok {
		return state{}, false
	}
	s := state{
		key: objectKey{KindNamespace, namespace.Name}, meta: &namespace.ObjectMeta,
		conditions: map[string]condition{}, good: string(corev1.ConditionFalse),
	}
	for i := range namespace.Status.Conditions {
		c := &namespace.Status.Conditions[i]
		s.conditions[string(c.Type)] = condition{string(c.Status), c.Reason, c.Message, c.LastTransitionTime.Time}
	}
	return s, true
}
