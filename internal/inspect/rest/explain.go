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

// Explanations answers route explanations: they are created, filled in and sent
// back, and kept nowhere. It implements rest.Creater.
type Explanations struct {
	serverID string
	explain  Explain
}

var (
	_ rest.Creater              = &Explanations{}
	_ rest.Scoper               = &Explanations{}
	_ rest.SingularNameProvider = &Explanations{}
)

// NewExplanations returns the storage of route explanations.
func NewExplanations(serverID string, explain Explain) *Explanations {
	return &Explanations{serverID: serverID, explain: explain}
}

// New implements rest.Storage.
func (e *Explanations) New() runtime.Object { return &v1alpha1.RouteExplanation{} }

// Destroy implements rest.Storage.
func (e *Explanations) Destroy() {}

// NamespaceScoped implements rest.Scoper.
func (e *Explanations) NamespaceScoped() bool { return false }

// GetSingularName implements rest.SingularNameProvider.
func (e *Explanations) GetSingularName() string { return "routeexplanation" }

// Create implements rest.Creater.
func (e *Explanations) Create(ctx context.Context, object runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	asked, ok := object.(*v1alpha1.RouteExplanation)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T is no RouteExplanation", object))
	}
	if validate != nil {
		if err := validate(ctx, object.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	answer := asked.DeepCopy()
	answer.ServerID = e.serverID
	var err error
	if answer.Status, err = e.explain(ctx, asked.Spec); err != nil {
		return nil, err
	}
	return answer, nil
}
