package controllers_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestIdentities: each controller is seen as the user that upstream gives it, and
// says by its user agent which one it is.
func TestIdentities(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t)
	client := server.Client(t)
	namespace := newHome(t, client)
	deleteNamespace(t, client, namespace)
	awaitNoNamespace(t, client, namespace)
	traces := dynamicClient(t, server).Resource(v1alpha1.SchemeGroupVersion.WithResource("requesttraces"))
	eventually(t, func(ctx context.Context) error {
		list, err := traces.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		users := map[string]string{} // by user agent
		for _, item := range list.Items {
			trace := into[v1alpha1.RequestTrace](t, &item)
			if user := trace.Spec.User; user != nil {
				users[trace.Spec.UserAgent] = user.Name
			}
		}
		for _, name := range []string{"namespace", catalog.ServiceAccount, "root-ca-cert-publisher", "clusterrole-aggregation"} {
			controller, _ := catalog.Find(name)
			if got := users["kapi/controllers/"+name]; got != controller.User() {
				return fmt.Errorf("controller %s is seen as %q, want %q, of %v", name, got, controller.User(), users)
			}
		}
		return nil
	})
}
