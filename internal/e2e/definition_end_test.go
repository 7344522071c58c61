package e2e_test

import (
	"context"
	"net/http"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// gadgetEnd deletes the definition, which waits for the finalizer of an object.
func gadgetEnd(t *testing.T, server *kapitest.Server, gadgets dynamic.ResourceInterface) {
	definitions := definitionsClient(t, server).ApiextensionsV1().CustomResourceDefinitions()
	o := gadget(t, "held", `{color: red}`)
	o.SetFinalizers([]string{"life.e2e.test/hold"})
	if _, err := gadgets.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := definitions.Delete(t.Context(), "gadgets.life.e2e.test", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "the definition is terminating, and all objects but the held one are gone", func(ctx context.Context) bool {
		crd, err := definitions.Get(ctx, "gadgets.life.e2e.test", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := gadgets.List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 1 && list.Items[0].GetName() == "held" && hasCondition(crd, apiextensionsv1.Terminating)
	})
	if _, err := gadgets.Create(t.Context(), gadget(t, "late", `{color: red}`), metav1.CreateOptions{}); !apierrors.IsForbidden(err) && !apierrors.IsMethodNotSupported(err) {
		t.Errorf("creating while the definition terminates: %v", err)
	}
	if _, err := gadgets.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "the definition is gone", func(ctx context.Context) bool {
		_, err := definitions.Get(ctx, "gadgets.life.e2e.test", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	await(t, "its resource is not served any more", func(context.Context) bool {
		code, _, _ := get(t, server.Config(t), "/apis/life.e2e.test/v1/gadgets")
		return code == http.StatusNotFound
	})
}

func hasCondition(crd *apiextensionsv1.CustomResourceDefinition, condition apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	for _, c := range crd.Status.Conditions {
		if c.Type == condition && c.Status == apiextensionsv1.ConditionTrue {
			return true
		}
	}
	return false
}
