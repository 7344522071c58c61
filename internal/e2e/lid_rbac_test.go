package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestInspectRoles has each resource of the group read by users with each of its
// roles, and with none.
func TestInspectRoles(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	bind(t, server, "lid-inspect", "kapi:inspect")
	bind(t, server, "lid-requests", "kapi:inspect-requests")
	bind(t, server, "lid-storage", "kapi:inspect-storage")
	const root = "/apis/inspect.kapi.dev/v1alpha1/"
	awaitOK(t, server, "lid-inspect", root+"filters")
	awaitOK(t, server, "lid-requests", root+"requesttraces")
	const (
		anExplanation = `{"apiVersion":"inspect.kapi.dev/v1alpha1","kind":"RouteExplanation","spec":{"verb":"get","path":"/api"}}`
		aQuery        = `{"apiVersion":"inspect.kapi.dev/v1alpha1","kind":"StoredKeyQuery","spec":{"limit":1}}`
	)
	await(t, "lid-storage may ask", func(ctx context.Context) bool {
		_, status := (raw{method: "POST", path: root + "storedkeyqueries", body: aQuery, as: "lid-storage"}).sendWith(ctx, t, server.Config(t))
		return status == http.StatusCreated
	})
	resources := inspectResources(t, server)
	for user, may := range map[string]struct{ others, requests, storage bool }{
		"lid-nobody": {}, "lid-inspect": {others: true}, "lid-requests": {requests: true}, "lid-storage": {storage: true},
	} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			for _, resource := range resources {
				allowed, reads := may.others, []raw{
					{method: "GET", path: root + resource},
					{method: "GET", path: root + resource + "?watch=1&timeoutSeconds=1"},
					{method: "GET", path: root + resource + "/none"},
				}
				switch resource {
				case "requesttraces":
					allowed = may.requests
				case "routeexplanations":
					allowed, reads = may.requests, []raw{{method: "POST", path: root + resource, body: anExplanation}}
				case "storedkeyqueries":
					allowed, reads = may.storage, []raw{{method: "POST", path: root + resource, body: aQuery}}
				case "filters":
				default:
					if allowed { // each takes its time, and one watch is like another
						reads = slices.Delete(reads, 1, 2)
					}
				}
				for _, one := range reads {
					one.as = user
					if _, status := one.send(t, server.Config(t)); (status == http.StatusForbidden) == allowed {
						t.Errorf("%s %s: %d, is to be allowed: %v", one.method, one.path, status, allowed)
					}
				}
			}
			// Nobody changes anything.
			change := raw{method: "DELETE", path: root + "filters/audit", as: user}
			if _, status := change.send(t, server.Config(t)); status != http.StatusForbidden {
				t.Errorf("deleting a filter: %d", status)
			}
		})
	}
	t.Run("changes by the administrator", func(t *testing.T) {
		t.Parallel()
		for _, one := range []raw{
			{method: "DELETE", path: root + "filters/audit"}, {method: "DELETE", path: root + "filters"},
			{method: "PUT", path: root + "filters/audit", body: "{}"}, {method: "PATCH", path: root + "filters/audit", body: "{}"},
			{method: "POST", path: root + "filters", body: "{}"}, {method: "GET", path: root + "routeexplanations"},
			{method: "GET", path: root + "storedkeyqueries"},
		} {
			if _, status := one.send(t, server.Config(t)); status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d, want 405", one.method, one.path, status)
			}
		}
	})
}

// TestInspectRolesAggregate: what may show names of secrets, or what is stored, is
// part of no other role.
func TestInspectRolesAggregate(t *testing.T) {
	t.Parallel()
	roles := kapitest.Shared(t).Client(t).RbacV1().ClusterRoles()
	for name, toView := range map[string]string{"kapi:inspect": "true", "kapi:inspect-requests": "", "kapi:inspect-storage": ""} {
		role, err := roles.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for label, value := range role.Labels {
			if strings.Contains(label, "aggregate-to-") && (label != "rbac.authorization.k8s.io/aggregate-to-view" || value != toView) {
				t.Errorf("%s has label %s=%s", name, label, value)
			}
		}
		if got := role.Labels["rbac.authorization.k8s.io/aggregate-to-view"]; got != toView {
			t.Errorf("%s: aggregate-to-view is %q, want %q", name, got, toView)
		}
	}
}

// awaitOK returns when a user may get a path.
func awaitOK(t *testing.T, server *kapitest.Server, user, path string) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		if _, status := (raw{method: "GET", path: path, as: user}).sendWith(ctx, t, server.Config(t)); status != http.StatusOK {
			return fmt.Errorf("%s gets %d for %s", user, status, path)
		}
		return nil
	})
}

// inspectResources are the resources of the group that discovery lists.
func inspectResources(t *testing.T, server *kapitest.Server) []string {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(server.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.ServerResourcesForGroupVersion(v1alpha1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	var resources []string
	for _, resource := range list.APIResources {
		resources = append(resources, resource.Name)
	}
	for _, one := range []string{"requesttraces", "routeexplanations", "storedkeyqueries", "filters", "apiserviceprobes"} {
		if !slices.Contains(resources, one) {
			t.Errorf("%s is not among the resources %q", one, resources)
		}
	}
	return resources
}
