package e2e_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestRouteExplanationRefused asks for what is no request, and as somebody who may
// not know what others may do.
func TestRouteExplanationRefused(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	admin := newLid(t, server.Config(t))
	for _, test := range []struct {
		spec  v1alpha1.RouteExplanationSpec
		value string // that the error names
	}{
		{v1alpha1.RouteExplanationSpec{Verb: "fetch", Path: "/api"}, `spec.verb "fetch"`},
		{v1alpha1.RouteExplanationSpec{Path: "/api"}, `spec.verb ""`},
		{v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "api/v1"}, `spec.path "api/v1"`},
		{v1alpha1.RouteExplanationSpec{Verb: "GET"}, `spec.path ""`},
		{v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "https://elsewhere.example/api"}, `spec.path "https://elsewhere.example/api"`},
		{v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "//elsewhere.example/api"}, `spec.path "//elsewhere.example/api"`},
		{v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/api/../apis"}, `did you mean "/apis"`},
		{v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/api/%zz"}, `spec.path "/api/%zz"`},
		{v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/api", Groups: []string{"g"}}, "spec.groups"},
	} {
		if _, err := admin.explain(t.Context(), test.spec); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), test.value) {
			t.Errorf("%+v: %v, want a bad request that names %s", test.spec, err, test.value)
		}
	}

	user := "route-curious-" + uuid.NewString()
	bind(t, server, user, "kapi:inspect-requests")
	curious := newLid(t, impersonating(server.Config(t), user))
	eventually(t, func(ctx context.Context) error {
		own, err := curious.explain(ctx, v1alpha1.RouteExplanationSpec{Verb: "list", Path: "/api/v1/secrets"})
		if err == nil && (own.Status.User == nil || own.Status.User.Name != user || own.Status.Code != http.StatusForbidden) {
			t.Errorf("the explanation of the own request: %+v", own.Status)
		}
		return err
	})
	another := v1alpha1.RouteExplanationSpec{Verb: "list", Path: "/api/v1/secrets", User: "route-other"}
	if _, err := curious.explain(t.Context(), another); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "route-other") {
		t.Errorf("the explanation of another's request: %v", err)
	}
	allowEverywhere(t, server.Client(t), user, rbacv1.PolicyRule{
		Verbs: []string{"impersonate"}, APIGroups: []string{""}, Resources: []string{"users"}, ResourceNames: []string{"route-other"},
	})
	eventually(t, func(ctx context.Context) error {
		_, err := curious.explain(ctx, another)
		return err
	})
	another.Groups = []string{"system:masters"}
	if _, err := curious.explain(t.Context(), another); !apierrors.IsForbidden(err) {
		t.Errorf("with a group that may not be taken: %v", err)
	}
}

// TestRouteExplanationByKubectl has kubectl create one, from a file without a name.
func TestRouteExplanationByKubectl(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	out, stderr, err := server.Try(t, `
apiVersion: inspect.kapi.dev/v1alpha1
kind: RouteExplanation
spec:
  verb: create
  path: /apis/apps/v1/namespaces/default/deployments
`, "kubectl", "create", "-f", "-", "-o", "yaml")
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	answer := decode[v1alpha1.RouteExplanation](t, out)
	s := answer.Status
	if s.Layer != "kube-apiserver" || s.StorageKey != "/registry/deployments/default/" || s.Authorization == nil || !s.Authorization.Allowed ||
		s.FlowSchema != "exempt" || len(s.AdmissionPlugins) < 5 || answer.ServerID == "" || s.RequestInfo == nil || s.RequestInfo.Verb != "create" {
		t.Errorf("the answer:\n%s", out)
	}
}

// impersonating is config for another user.
func impersonating(config *rest.Config, user string, groups ...string) *rest.Config {
	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

// bind gives a user a cluster role that is there. It is in force a moment later.
func bind(t testing.TB, server *kapitest.Server, user, role string) {
	t.Helper()
	_, err := server.Client(t).RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}
