// Package joinedtest is a recorded server for tests of joins and of what prints
// them: kapi with a definition that works, one whose names conflict, one that can't
// be deleted, and an APIService for each step at which a probe can fail. It answers
// from memory, and each kind can be made to fail. It may import what the package
// joined may, and no test of the project should need more of a server than this.
package joinedtest

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

//go:embed lab.json
var lab []byte

// Server is an inspection.Server in memory. Its fields may be changed before it is asked.
type Server struct {
	// Facts is what it says of itself.
	Facts inspection.About
	// CRDs and Services are its definitions and APIServices.
	CRDs     []*apiextensionsv1.CustomResourceDefinition
	Services []*apiregistrationv1.APIService
	// Namespaces are those that are being deleted.
	Namespaces []*corev1.Namespace
	// Objects are those of the kinds, by resource.
	Objects map[string][]kinds.Object
	// Gaps and Errors are what a list of a resource returns as well, or in its place.
	Gaps   map[string][]inspection.Gap
	Errors map[string]error
}

var _ inspection.Server = (*Server)(nil)

// Lab returns the recorded server.
func Lab(t testing.TB) *Server {
	t.Helper()
	var file struct {
		About       inspection.About                            `json:"about"`
		Definitions []*apiextensionsv1.CustomResourceDefinition `json:"definitions"`
		APIServices []*apiregistrationv1.APIService             `json:"apiServices"`
		Namespaces  []*corev1.Namespace                         `json:"namespaces"`
		Kinds       map[string][]json.RawMessage                `json:"kinds"`
	}
	if err := json.Unmarshal(lab, &file); err != nil {
		t.Fatalf("reading the recording: %v", err)
	}
	s := &Server{
		Facts: file.About, CRDs: file.Definitions, Services: file.APIServices, Namespaces: file.Namespaces,
		Objects: map[string][]kinds.Object{}, Gaps: map[string][]inspection.Gap{}, Errors: map[string]error{},
	}
	for resource, objects := range file.Kinds {
		kind, ok := kinds.ByName(resource)
		if !ok {
			t.Fatalf("reading the recording: there is no kind %q", resource)
		}
		for _, raw := range objects {
			object, ok := kind.New().(kinds.Object)
			if !ok {
				t.Fatalf("reading the recording: %s has no metadata", resource)
			}
			if err := json.Unmarshal(raw, object); err != nil {
				t.Fatalf("reading the recording: %s: %v", resource, err)
			}
			s.Objects[resource] = append(s.Objects[resource], object)
		}
	}
	return s
}

// About implements inspection.Server.
func (s *Server) About(context.Context) (inspection.About, error) { return s.Facts, s.Errors["about"] }

// List implements inspection.Server.
func (s *Server) List(_ context.Context, kind kinds.Kind, query inspection.Query) (inspection.Listing, error) {
	if err := s.Errors[kind.Resource]; err != nil {
		return inspection.Listing{}, err
	}
	selector, err := fields.ParseSelector(query.FieldSelector)
	if err != nil {
		return inspection.Listing{}, err
	}
	listing := inspection.Listing{Gaps: s.Gaps[kind.Resource]}
	for _, object := range s.Objects[kind.Resource] {
		set := fields.Set{"metadata.name": object.GetName()}
		for path, value := range kind.Fields {
			set[path] = value(object)
		}
		for _, wanted := range selector.Requirements() {
			if _, ok := set[wanted.Field]; !ok {
				return inspection.Listing{}, apierrors.NewBadRequest(fmt.Sprintf("%s has no field %s", kind.Resource, wanted.Field))
			}
		}
		if selector.Matches(set) && (query.Name == "" || query.Name == object.GetName()) {
			listing.Objects = append(listing.Objects, object)
		}
	}
	return listing, nil
}

// Watch implements inspection.Server; there is nothing to watch.
func (s *Server) Watch(context.Context, kinds.Kind, inspection.Query, string) (watch.Interface, error) {
	return nil, errors.New("watching a recording")
}

// Definitions implements inspection.Server.
func (s *Server) Definitions(context.Context) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error] {
	return sequence(s.CRDs, s.Errors["customresourcedefinitions"])
}

// APIServices implements inspection.Server.
func (s *Server) APIServices(context.Context) iter.Seq2[*apiregistrationv1.APIService, error] {
	return sequence(s.Services, s.Errors["apiservices"])
}

// TerminatingNamespaces implements inspection.Server.
func (s *Server) TerminatingNamespaces(context.Context) iter.Seq2[*corev1.Namespace, error] {
	return sequence(s.Namespaces, s.Errors["namespaces"])
}

// Explain implements inspection.Server; a recording knows no routes.
func (s *Server) Explain(context.Context, v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error) {
	return nil, errors.New("explaining a route of a recording")
}

func sequence[T any](objects []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err != nil {
			yield(none, err)
			return
		}
		for _, object := range objects {
			if !yield(object, nil) {
				return
			}
		}
	}
}

// Of returns the objects of a resource as their type, to be changed.
func Of[T kinds.Object](s *Server, resource string) []T {
	var typed []T
	for _, object := range s.Objects[resource] {
		if one, ok := object.(T); ok {
			typed = append(typed, one)
		}
	}
	return typed
}

// CRD returns the definition of a name.
func (s *Server) CRD(t testing.TB, name string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	for _, object := range s.CRDs {
		if object.Name == name {
			return object
		}
	}
	t.Fatalf("the recording has no definition %s", name)
	return nil
}
