package chain

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-helpers/auth/rbac/reconciliation"
)

// storedRBAC holds the roles and bindings that exist when the hook begins, by
// kind, namespace and name. Four lists stand for more than a hundred reads, most
// of which would say "not found" in a new server and "as it should be" in an old one.
type storedRBAC struct {
	roles    map[string]reconciliation.RuleOwner
	bindings map[string]reconciliation.RoleBinding
}

func storedKey(kind, namespace, name string) string { return kind + "/" + namespace + "/" + name }

func listRBAC(ctx context.Context, client kubernetes.Interface) (*storedRBAC, error) {
	rbac := client.RbacV1()
	clusterRoles, err := rbac.ClusterRoles().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing clusterroles: %w", err)
	}
	clusterRoleBindings, err := rbac.ClusterRoleBindings().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing clusterrolebindings: %w", err)
	}
	roles, err := rbac.Roles(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing roles: %w", err)
	}
	roleBindings, err := rbac.RoleBindings(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing rolebindings: %w", err)
	}
	stored := &storedRBAC{map[string]reconciliation.RuleOwner{}, map[string]reconciliation.RoleBinding{}}
	for i := range clusterRoles.Items {
		role := &clusterRoles.Items[i]
		stored.roles[storedKey("clusterrole", "", role.Name)] = reconciliation.ClusterRoleRuleOwner{ClusterRole: role}
	}
	for i := range roles.Items {
		role := &roles.Items[i]
		stored.roles[storedKey("role", role.Namespace, role.Name)] = reconciliation.RoleRuleOwner{Role: role}
	}
	for i := range clusterRoleBindings.Items {
		binding := &clusterRoleBindings.Items[i]
		stored.bindings[storedKey("clusterrolebinding", "", binding.Name)] = reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: binding}
	}
	for i := range roleBindings.Items {
		binding := &roleBindings.Items[i]
		stored.bindings[storedKey("rolebinding", binding.Namespace, binding.Name)] = reconciliation.RoleBindingAdapter{RoleBinding: binding}
	}
	return stored, nil
}

// reconcileRole is a task that brings a role to what the policy wants. The first
// attempt takes the stored state from the lists, a further one from the server.
func (s *storedRBAC) reconcileRole(kind string, role reconciliation.RuleOwner, client reconciliation.RuleOwnerModifier) task {
	key := storedKey(kind, role.GetNamespace(), role.GetName())
	listed := listedRoles{client, s.roles[key]}
	options := reconciliation.ReconcileRoleOptions{Role: role, Client: listed, Confirm: true}
	return task{key, func(context.Context) error {
		return retryRaced(func() error {
			_, err := options.Run()
			options.Client = client
			return err
		})
	}}
}

// reconcileBinding is reconcileRole for a binding.
func (s *storedRBAC) reconcileBinding(kind string, binding reconciliation.RoleBinding, client reconciliation.RoleBindingModifier) task {
	key := storedKey(kind, binding.GetNamespace(), binding.GetName())
	listed := listedBindings{client, s.bindings[key]}
	options := reconciliation.ReconcileRoleBindingOptions{RoleBinding: binding, Client: listed, Confirm: true}
	return task{key, func(context.Context) error {
		return retryRaced(func() error {
			_, err := options.Run()
			options.Client = client
			return err
		})
	}}
}

// listedRoles answers Get with what was listed.
type listedRoles struct {
	reconciliation.RuleOwnerModifier

	role reconciliation.RuleOwner
}

// Get implements reconciliation.RuleOwnerModifier.
func (l listedRoles) Get(_, name string) (reconciliation.RuleOwner, error) {
	if l.role == nil {
		return nil, apierrors.NewNotFound(rbacv1.Resource("role"), name)
	}
	return l.role, nil
}

// listedBindings answers Get with what was listed.
type listedBindings struct {
	reconciliation.RoleBindingModifier

	binding reconciliation.RoleBinding
}

// Get implements reconciliation.RoleBindingModifier.
func (l listedBindings) Get(_, name string) (reconciliation.RoleBinding, error) {
	if l.binding == nil {
		return nil, apierrors.NewNotFound(rbacv1.Resource("rolebinding"), name)
	}
	return l.binding, nil
}
