package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestAggregatedRoles: admin, edit and view have rules, and follow the roles that
// are labelled for them.
func TestAggregatedRoles(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	client := server.Client(t)
	roles := client.RbacV1().ClusterRoles()
	// awaitRule waits until a role has a rule for a resource, or has none.
	awaitRule := func(role, group, resource string, want bool) {
		t.Helper()
		eventually(t, func(ctx context.Context) error {
			current, err := roles.Get(ctx, role, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if got := slices.ContainsFunc(current.Rules, func(r rbacv1.PolicyRule) bool {
				return slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource)
			}); got != want {
				return fmt.Errorf("ClusterRole %s, %s in %q: %v, want %v, of %d rules", role, resource, group, got, want, len(current.Rules))
			}
			return nil
		})
	}
	awaitRule("admin", "rbac.authorization.k8s.io", "rolebindings", true)
	awaitRule("edit", "", "secrets", true)
	awaitRule("view", "", "configmaps", true)
	awaitRule("view", "", "secrets", false)
	awaitRule("view", v1alpha1.SchemeGroupVersion.Group, "filters", true)
	awaitRule("view", v1alpha1.SchemeGroupVersion.Group, "controllers", true)
	awaitRule("view", v1alpha1.SchemeGroupVersion.Group, "requesttraces", false)

	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-", Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{"roles.e2e.test"}, Resources: []string{"things"}}},
	}
	role, err := roles.Create(t.Context(), role, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"view", "edit", "admin"} {
		awaitRule(name, "roles.e2e.test", "things", true)
	}
	if err := roles.Delete(t.Context(), role.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"view", "edit", "admin"} {
		awaitRule(name, "roles.e2e.test", "things", false)
	}
}
