package foreign

import (
	"context"
	"iter"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

const (
	definitionsResource = "customresourcedefinitions.apiextensions.k8s.io"
	servicesResource    = "apiservices.apiregistration.k8s.io"
	namespacesResource  = "namespaces"
)

// Definitions implements inspection.Server.
func (s *Server) Definitions(ctx context.Context) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error] {
	return permitted(s.objects.Definitions(ctx, nil), definitionsResource)
}

// APIServices implements inspection.Server.
func (s *Server) APIServices(ctx context.Context) iter.Seq2[*apiregistrationv1.APIService, error] {
	return permitted(s.objects.APIServices(ctx, nil), servicesResource)
}

// TerminatingNamespaces implements inspection.Server.
func (s *Server) TerminatingNamespaces(ctx context.Context) iter.Seq2[*corev1.Namespace, error] {
	return permitted(s.objects.TerminatingNamespaces(ctx, nil), namespacesResource)
}

// Definition returns one definition, or NotFound.
func (s *Server) Definition(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	object, err := s.objects.Definition(ctx, name)
	return object, allowing(err, needs("get", definitionsResource))
}

// APIService returns one APIService, or NotFound.
func (s *Server) APIService(ctx context.Context, name string) (*apiregistrationv1.APIService, error) {
	object, err := s.objects.APIService(ctx, name)
	return object, allowing(err, needs("get", servicesResource))
}

// permitted adds to a Forbidden error what would allow the list.
func permitted[T any](items iter.Seq2[*T, error], resource string) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for item, err := range items {
			if !yield(item, allowing(err, needs("list", resource))) {
				return
			}
		}
	}
}

// all is the whole of a list; nothing of it where an error ends it.
func all[T any](list iter.Seq2[*T, error]) ([]*T, error) {
	var items []*T
	for item, err := range list {
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

func definitionCondition(c *apiextensionsv1.CustomResourceDefinitionCondition) metav1.Condition {
	return metav1.Condition{
		Type: string(c.Type), Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
		LastTransitionTime: c.LastTransitionTime, ObservedGeneration: c.ObservedGeneration,
	}
}

func serviceCondition(c *apiregistrationv1.APIServiceCondition) metav1.Condition {
	return metav1.Condition{
		Type: string(c.Type), Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
		LastTransitionTime: c.LastTransitionTime,
	}
}
