package rest

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// TestReview: what was asked is sent back with the answer, and is itself left as it was.
func TestReview(t *testing.T) {
	t.Parallel()
	missing := apierrors.NewNotFound(v1alpha1.Resource("storedkeyqueries"), "a")
	review := NewStoredKeyQueries("server", func(_ context.Context, spec v1alpha1.StoredKeyQuerySpec) (v1alpha1.StoredKeyQueryStatus, error) {
		if spec.Key == "missing" {
			return v1alpha1.StoredKeyQueryStatus{}, missing
		}
		return v1alpha1.StoredKeyQueryStatus{Prefix: spec.Prefix}, nil
	})
	asked := &v1alpha1.StoredKeyQuery{ServerID: "forged", Spec: v1alpha1.StoredKeyQuerySpec{Prefix: "/registry/"}}
	answer, err := review.Create(t.Context(), asked, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.(*v1alpha1.StoredKeyQuery); got.ServerID != "server" || got.Spec != asked.Spec || got.Status.Prefix != "/registry/" {
		t.Errorf("the answer is %+v", got)
	}
	if asked.ServerID != "forged" || asked.Status.Prefix != "" {
		t.Errorf("what was asked has become %+v", asked)
	}
	if _, err := review.Create(t.Context(), &v1alpha1.StoredKeyQuery{Spec: v1alpha1.StoredKeyQuerySpec{Key: "missing"}}, nil, nil); !apierrors.IsNotFound(err) {
		t.Errorf("an error of the answer: %v", err)
	}
	if _, err := review.Create(t.Context(), &v1alpha1.RouteExplanation{}, nil, nil); !apierrors.IsBadRequest(err) {
		t.Errorf("another kind: %v", err)
	}
	refuse := func(context.Context, runtime.Object) error {
		return apierrors.NewForbidden(v1alpha1.Resource("x"), "", nil)
	}
	if _, err := review.Create(t.Context(), asked, refuse, nil); !apierrors.IsForbidden(err) {
		t.Errorf("refused by admission: %v", err)
	}
}
