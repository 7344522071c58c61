package rest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Explain says what would happen to a request. Its errors are API errors.
type Explain func(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (v1alpha1.RouteExplanationStatus, error)

// LookUp says which keys stand in the store, or what one holds. Its errors are API errors.
type LookUp func(ctx context.Context, spec v1alpha1.StoredKeyQuerySpec) (v1alpha1.StoredKeyQueryStatus, error)

// Review answers objects of one kind that are created, filled in and sent back, and
// kept nowhere. It implements rest.Creater.
type Review[T runtime.Object] struct {
	singular string
	// empty makes an object of the kind.
	empty func() T
	// fill puts the answer into a copy of what was asked.
	fill func(ctx context.Context, answer T) error
}

var (
	_ rest.Creater              = &Review[runtime.Object]{}
	_ rest.Scoper               = &Review[runtime.Object]{}
	_ rest.SingularNameProvider = &Review[runtime.Object]{}
)

// NewExplanations returns the storage of route explanations.
func NewExplanations(serverID string, explain Explain) *Review[*v1alpha1.RouteExplanation] {
	return &Review[*v1alpha1.RouteExplanation]{
		singular: "routeexplanation",
		empty:    func() *v1alpha1.RouteExplanation { return &v1alpha1.RouteExplanation{} },
		fill: func(ctx context.Context, answer *v1alpha1.RouteExplanation) (err error) {
			answer.ServerID = serverID
			answer.Status, err = explain(ctx, answer.Spec)
			return err
		},
	}
}

// NewStoredKeyQueries returns the storage of stored key queries.
func NewStoredKeyQueries(serverID string, lookUp LookUp) *Review[*v1alpha1.StoredKeyQuery] {
	return &Review[*v1alpha1.StoredKeyQuery]{
		singular: "storedkeyquery",
		empty:    func() *v1alpha1.StoredKeyQuery { return &v1alpha1.StoredKeyQuery{} },
		fill: func(ctx context.Context, answer *v1alpha1.StoredKeyQuery) (err error) {
			answer.ServerID = serverID
			answer.Status, err = lookUp(ctx, answer.Spec)
			return err
		},
	}
}

// New implements rest.Storage.
func (r *Review[T]) New() runtime.Object { return r.empty() }

// Destroy implements rest.Storage.
func (r *Review[T]) Destroy() {}

// NamespaceScoped implements rest.Scoper.
func (r *Review[T]) NamespaceScoped() bool { return false }

// GetSingularName implements rest.SingularNameProvider.
func (r *Review[T]) GetSingularName() string { return r.singular }

// Create implements rest.Creater.
func (r *Review[T]) Create(ctx context.Context, object runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	if validate != nil {
		if err := validate(ctx, object.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	answer, ok := object.DeepCopyObject().(T)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T is no %s", object, r.singular))
	}
	if err := r.fill(ctx, answer); err != nil {
		return nil, err
	}
	return answer, nil
}
