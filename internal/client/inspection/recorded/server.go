package recorded

import (
	"context"
	"iter"

	"k8s.io/apimachinery/pkg/watch"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/filter"
	"github.com/kapi-dev/kapi/internal/fault"
)

// Server is what was recorded. It implements inspection.Server and never changes;
// what could not be read when it was recorded fails again in the same way.
type Server struct {
	about       inspection.About
	listings    map[string]inspection.Listing
	definitions []item
	services    []item
	namespaces  []item
	failed      map[string]Failure
	seen        map[string]bool
}

func (d *document) server(name string) *Server {
	about := d.about
	about.At, about.RecordedFrom = d.takenAt, name
	for resource, gaps := range d.gaps {
		if listing, ok := d.listings[resource]; ok {
			listing.Gaps = gaps
			d.listings[resource] = listing
		}
	}
	return &Server{about, d.listings, d.definitions, d.services, d.namespaces, d.failed, d.seen}
}

// About implements inspection.Server. At is when the recording was made.
func (s *Server) About(context.Context) (inspection.About, error) { return s.about, nil }

// List implements inspection.Server.
func (s *Server) List(_ context.Context, kind kinds.Kind, query inspection.Query) (inspection.Listing, error) {
	if failure, ok := s.failed[kind.Resource]; ok {
		return inspection.Listing{}, failure.err()
	}
	recorded, ok := s.listings[kind.Resource]
	if !ok {
		recorded.Gaps = []inspection.Gap{{Reason: s.about.RecordedFrom + " was made by another version of kapi and has none of them"}}
	}
	selected, err := filter.Apply(kind, query, recorded.Objects)
	if err != nil {
		return inspection.Listing{}, err
	}
	objects := make([]kinds.Object, 0, len(selected))
	for _, object := range selected {
		// A copy: whoever asks may change what it gets.
		if own, ok := object.DeepCopyObject().(kinds.Object); ok {
			objects = append(objects, own)
		}
	}
	recorded.Objects = objects
	return recorded, nil
}

// Watch implements inspection.Server: bad input, since nothing will ever change.
func (s *Server) Watch(context.Context, kinds.Kind, inspection.Query, string) (watch.Interface, error) {
	return nil, fault.WithHint(fault.Usagef("%s is a recording, which does not change: there is nothing to watch", s.about.RecordedFrom),
		"list it, or watch the server itself")
}

// Explain implements inspection.Server: bad input, since nobody is there to ask.
func (s *Server) Explain(context.Context, v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error) {
	return nil, fault.WithHint(fault.Usagef("%s is a recording, which can't be asked what would happen to a request", s.about.RecordedFrom),
		"ask the server itself")
}

// Definitions implements inspection.Server. Those that were recorded come first,
// then the error that ended the recording of them, if one did.
func (s *Server) Definitions(ctx context.Context) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error] {
	return replay[apiextensionsv1.CustomResourceDefinition](ctx, s, definitionsResource, s.definitions)
}

// APIServices implements inspection.Server, in the same way.
func (s *Server) APIServices(ctx context.Context) iter.Seq2[*apiregistrationv1.APIService, error] {
	return replay[apiregistrationv1.APIService](ctx, s, servicesResource, s.services)
}

// TerminatingNamespaces implements inspection.Server, in the same way.
func (s *Server) TerminatingNamespaces(ctx context.Context) iter.Seq2[*corev1.Namespace, error] {
	return replay[corev1.Namespace](ctx, s, namespacesResource, s.namespaces)
}

func replay[T any](ctx context.Context, s *Server, resource string, items []item) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for _, each := range items {
			object := new(T)
			err := context.Cause(ctx)
			if err == nil {
				err = explained(each.decode(object), s.about.RecordedFrom, most())
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(object, nil) {
				return
			}
		}
		if failure, ok := s.failed[resource]; ok {
			yield(nil, failure.err())
		} else if !s.seen[resource] {
			yield(nil, fault.Usagef("%s has no %s", s.about.RecordedFrom, resource))
		}
	}
}
