package inspect

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// ClusterRoles returns the roles of the group.
func ClusterRoles() []rbacv1.ClusterRole {
	var readable []string
	for _, kind := range kinds.All() {
		if kind.Resource != traces {
			readable = append(readable, kind.Resource)
		}
	}
	read := []string{"get", "list", "watch"}
	groups := []string{v1alpha1.GroupName}
	labels := map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"}
	toView := map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults", "rbac.authorization.k8s.io/aggregate-to-view": "true"}
	return []rbacv1.ClusterRole{
		{
			ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RoleInspect, Labels: toView},
			Rules: []rbacv1.PolicyRule{
				{Verbs: read, APIGroups: groups, Resources: readable},
				// What is shown of them is joined with the objects themselves.
				{Verbs: read, APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}},
				{Verbs: read, APIGroups: []string{"apiregistration.k8s.io"}, Resources: []string{"apiservices"}},
				{Verbs: read, APIGroups: []string{""}, Resources: []string{"namespaces"}},
			},
		},
		{
			ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RoleRequests, Labels: labels},
			Rules: []rbacv1.PolicyRule{
				{Verbs: read, APIGroups: groups, Resources: []string{traces}},
				{Verbs: []string{"create"}, APIGroups: groups, Resources: []string{explanations}},
			},
		},
		{
			ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RoleStorage, Labels: labels},
			Rules:      []rbacv1.PolicyRule{{Verbs: []string{"create"}, APIGroups: groups, Resources: []string{storedKeys}}},
		},
	}
}
