package chain

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-helpers/auth/rbac/reconciliation"
	schedulingv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"

	"github.com/kapi-dev/kapi/internal/inspect"
)

// rbacTasks reconcile the default roles and bindings, and kapi's own. The first stage moves
// what an older version has stored under other names: it must be done before
// the roles themselves are created.
// Source: k8s.io/kubernetes/pkg/registry/rbac/rest/storage_rbac.go.
func rbacTasks(ctx context.Context, client kubernetes.Interface) ([][]task, error) {
	stored, err := listRBAC(ctx, client)
	if err != nil {
		return nil, err
	}
	rbac := client.RbacV1()
	var move, roles, bindings []task
	for from, to := range bootstrappolicy.ClusterRolesToAggregate() {
		move = append(move, task{"clusterrole " + to, func(ctx context.Context) error { return copyRole(ctx, client, from, to) }})
	}
	for from, template := range bootstrappolicy.ClusterRoleBindingsToSplit() {
		move = append(move, task{"clusterrolebinding " + template.Name, func(ctx context.Context) error {
			return copyBinding(ctx, client, from, template)
		}})
	}
	for _, role := range slices.Concat(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles(), inspect.ClusterRoles()) {
		roles = append(roles, stored.reconcileRole("clusterrole", reconciliation.ClusterRoleRuleOwner{ClusterRole: &role},
			reconciliation.ClusterRoleModifier{Client: rbac.ClusterRoles()}))
	}
	for _, binding := range slices.Concat(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()) {
		bindings = append(bindings, stored.reconcileBinding("clusterrolebinding",
			reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: &binding},
			reconciliation.ClusterRoleBindingClientAdapter{Client: rbac.ClusterRoleBindings()}))
	}
	for _, list := range bootstrappolicy.NamespaceRoles() {
		for _, role := range list {
			roles = append(roles, stored.reconcileRole("role", reconciliation.RoleRuleOwner{Role: &role},
				reconciliation.RoleModifier{Client: rbac, NamespaceClient: client.CoreV1().Namespaces()}))
		}
	}
	for _, list := range bootstrappolicy.NamespaceRoleBindings() {
		for _, binding := range list {
			bindings = append(bindings, stored.reconcileBinding("rolebinding", reconciliation.RoleBindingAdapter{RoleBinding: &binding},
				reconciliation.RoleBindingClientAdapter{Client: rbac, NamespaceClient: client.CoreV1().Namespaces()}))
		}
	}
	return [][]task{move, slices.Concat(roles, bindings)}, nil
}

// retryRaced tries again when somebody else changes the object at the same time.
func retryRaced(run func() error) error { return retry.OnError(retry.DefaultBackoff, raced, run) }

// raced tells errors of two writers at once, and of a server that can't take
// writes yet. Reconciliation creates namespaces on the way: two roles of one
// namespace may both try.
func raced(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsServiceUnavailable(err)
}

// copyRole keeps the rules that an operator has given to a role before it
// became an aggregated one.
func copyRole(ctx context.Context, client kubernetes.Interface, from, to string) error {
	roles := client.RbacV1().ClusterRoles()
	if _, err := roles.Get(ctx, to, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return err
	}
	role, err := roles.Get(ctx, from, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || role.AggregationRule != nil {
		return err
	}
	role.ObjectMeta = metav1.ObjectMeta{Name: to, Labels: role.Labels, Annotations: role.Annotations}
	_, err = roles.Create(ctx, role, metav1.CreateOptions{})
	return ignoreExists(err)
}

// copyBinding gives the subjects of an older, wider binding to the new one.
func copyBinding(ctx context.Context, client kubernetes.Interface, from string, template rbacv1.ClusterRoleBinding) error {
	bindings := client.RbacV1().ClusterRoleBindings()
	old, err := bindings.Get(ctx, from, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := bindings.Get(ctx, template.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return err
	}
	binding := template.DeepCopy()
	binding.Subjects, binding.Labels, binding.Annotations = old.Subjects, old.Labels, old.Annotations
	_, err = bindings.Create(ctx, binding, metav1.CreateOptions{})
	return ignoreExists(err)
}

// priorityClassTasks create the two system priority classes.
// Source: k8s.io/kubernetes/pkg/registry/scheduling/rest/storage_scheduling.go.
func priorityClassTasks(_ context.Context, client kubernetes.Interface) ([][]task, error) {
	var tasks []task
	classes := client.SchedulingV1().PriorityClasses()
	for _, class := range schedulingv1.SystemPriorityClasses() {
		tasks = append(tasks, task{"priorityclass " + class.Name, func(ctx context.Context) error {
			if _, err := classes.Get(ctx, class.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return err
			}
			_, err := classes.Create(ctx, class, metav1.CreateOptions{})
			return ignoreExists(err)
		}})
	}
	return [][]task{tasks}, nil
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
