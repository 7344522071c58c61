package e2e_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestAnonymous asks without credentials: health and the version are for
// everyone, nothing else is.
func TestAnonymous(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	nobody, admin := anonymous(t, server), server.Config(t)
	for _, path := range []string{"/livez", "/readyz", "/healthz", "/version"} {
		if code, body, _ := get(t, nobody, path); code != http.StatusOK {
			t.Errorf("anonymous %s: %d %s", path, code, body)
		}
	}
	closed := []string{
		"/", "/api", "/apis", "/api/v1", "/api/v1/namespaces", "/apis/apps/v1", "/metrics", "/openapi/v2", "/openapi/v3",
		"/livez/ping", "/readyz/etcd", "/configz", "/flagz", "/statusz", "/logs", "/debug/pprof/", "/.well-known/openid-configuration", "/openid/v1/jwks", "/nosuchpath",
	}
	for _, path := range closed {
		if code, body, _ := get(t, nobody, path); code != http.StatusForbidden && code != http.StatusUnauthorized {
			t.Errorf("anonymous %s: %d %.200s", path, code, body)
		}
	}
	for _, path := range []string{"/api", "/apis", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz/etcd"} {
		if code, body, _ := get(t, admin, path); code != http.StatusOK {
			t.Errorf("administrator %s: %d %.200s", path, code, body)
		}
	}
	// Profiles are off for the administrator, too.
	if code, _, _ := get(t, admin, "/debug/pprof/"); code != http.StatusNotFound {
		t.Errorf("/debug/pprof/: %d", code)
	}
	if code, _, _ := get(t, withToken(t, server, "wrong"), "/version"); code != http.StatusUnauthorized {
		t.Errorf("/version with a wrong token: %d", code)
	}
}

// TestVersion is what clients parse before anything else.
func TestVersion(t *testing.T) {
	t.Parallel()
	info, err := kapitest.Shared(t).Client(t).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if info.GitVersion != "v1.37.2" || info.Major != "1" || info.Minor != "37" || strings.Contains(info.GitCommit+info.BuildDate, "$") {
		t.Errorf("version: %+v", info)
	}
}

// TestKubernetesService reads what clients and test suites expect in every cluster.
func TestKubernetesService(t *testing.T) {
	t.Parallel()
	client := kapitest.Shared(t).Client(t)
	// A controller makes it as soon as the server is ready.
	var service *corev1.Service
	eventually(t, func(ctx context.Context) (err error) {
		service, err = client.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
		return err
	})
	if service.Spec.ClusterIP != "10.0.0.1" || len(service.Spec.Ports) != 1 || service.Spec.Ports[0].Port != 443 || service.Spec.Ports[0].Name != "https" {
		t.Errorf("default/kubernetes: %+v", service.Spec)
	}
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		ns, err := client.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || ns.Status.Phase != corev1.NamespaceActive {
			t.Errorf("namespace %s: %v %+v", name, err, ns.Status)
		}
	}
	classes, err := client.SchedulingV1().PriorityClasses().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(classes.Items) != 2 {
		t.Errorf("priority classes: %v %v", err, classes)
	}
	roles, err := client.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/bootstrapping=rbac-defaults"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cluster-admin", "admin", "edit", "view", "system:auth-delegator", "system:discovery"} {
		if !slices.ContainsFunc(roles.Items, func(r rbacv1.ClusterRole) bool { return r.Name == want }) {
			t.Errorf("cluster role %s is missing", want)
		}
	}
	if _, err := client.RbacV1().Roles("kube-system").Get(t.Context(), "extension-apiserver-authentication-reader", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}
