package e2e_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/route/routetest"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestRouteExplanations explains generated requests, sends the same, and compares
// each explanation with the trace of what has happened.
func TestRouteExplanations(t *testing.T) {
	t.Parallel()
	listener, ca := listen(t, "127.0.0.1"), newAuthority(t)
	serveTLS(t, listener, ca, remoteGroup("there.route.e2e.test"), "api.lid.svc")
	host, port := fixedAddress(t)
	config := filepath.Join(t.TempDir(), "authentication.yaml")
	writeFile(t, config, someAnonymous)
	server := kapitest.Start(t, "--authentication-config", config,
		"--map-service", "lid/api:443="+listener.Addr().String(), "--map-service", "lid/gone:443="+net.JoinHostPort(host, port))
	registerAPIService(t, server, "there.route.e2e.test", "v1", ca, serviceOf("api"))
	registerAPIService(t, server, "gone.route.e2e.test", "v1", ca, serviceOf("gone"))
	defineThings(t, server, "route.e2e.test")
	awaitAvailable(t, server, "v1.there.route.e2e.test", apiregistrationv1.ConditionTrue, "Passed")
	awaitAvailable(t, server, "v1.gone.route.e2e.test", apiregistrationv1.ConditionFalse, "FailedDiscoveryCheck")

	resource := func(group string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: group, Version: "v1", Resource: "things"}
	}
	there := routetest.World{Custom: resource("route.e2e.test"), Aggregated: resource("there.route.e2e.test")}
	gone := routetest.World{Custom: resource("route.e2e.test"), Aggregated: resource("gone.route.e2e.test")}
	grant(t, server.Client(t), there, gone)

	t.Run("fixed seed", func(t *testing.T) {
		compare(t, server, generate(1, 200, there), append(slices.Clone(allLayers), "authentication", "authorization"))
		compare(t, server, generate(2, 60, gone), nil)
	})
	fresh := uint64(time.Now().UnixNano())
	t.Run(fmt.Sprintf("seed %d", fresh), func(t *testing.T) {
		compare(t, server, generate(fresh, 200, there), nil)
		compare(t, server, generate(fresh, 60, gone), nil)
	})
}

// someAnonymous lets requests without credentials in by a few paths.
const someAnonymous = `
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous: {enabled: true, conditions: [{path: /healthz}, {path: /version}, {path: /api}, {path: /no/such/path}]}
`

// generate makes requests, every third as the administrator: most others end
// where they are not allowed.
func generate(seed uint64, n int, world routetest.World) []routetest.Request {
	requests := routetest.Generate(seed, n, world)
	for i := 0; i < n; i += 3 {
		requests[i].Spec.User, requests[i].Spec.Groups = "route-admin", []string{"system:masters"}
	}
	return requests
}

// grant creates what the users of generated requests are allowed by, and returns
// when it is in force.
func grant(t *testing.T, client kubernetes.Interface, worlds ...routetest.World) {
	t.Helper()
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	rbac := client.RbacV1()
	for _, object := range routetest.Roles(worlds[0]) {
		var err error
		switch o := object.(type) {
		case *rbacv1.ClusterRole:
			_, err = rbac.ClusterRoles().Create(t.Context(), o, metav1.CreateOptions{})
		case *rbacv1.ClusterRoleBinding:
			_, err = rbac.ClusterRoleBindings().Create(t.Context(), o, metav1.CreateOptions{})
		case *rbacv1.RoleBinding:
			_, err = rbac.RoleBindings(o.Namespace).Create(t.Context(), o, metav1.CreateOptions{})
		default:
			t.Fatalf("what to do with %T?", object)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, world := range worlds[1:] {
		allowEverywhere(t, client, "route-reader", rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{world.Aggregated.Group}, Resources: []string{"*"}})
	}
	pods := authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}
	for _, allowed := range []authorizationv1.SubjectAccessReviewSpec{
		{User: "route-reader", ResourceAttributes: &pods},
		{User: "route-reader", ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Group: worlds[1].Aggregated.Group, Resource: "things"}},
		{User: "route-prober", NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: "get", Path: "/metrics"}},
		{User: "route-editor", Groups: []string{"route-editors"}, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Namespace: "team-a", Resource: "pods"}},
		{User: "system:serviceaccount:team-a:robot", ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Namespace: "team-a", Resource: "configmaps"}},
	} {
		awaitAllowed(t, client, allowed)
	}
}

// awaitAllowed returns when authorization has seen what allows something.
func awaitAllowed(t *testing.T, client kubernetes.Interface, spec authorizationv1.SubjectAccessReviewSpec) {
	t.Helper()
	await(t, spec.User+" is allowed something", func(ctx context.Context) bool {
		review, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed
	})
}

// compare explains and sends each request, a few at the same time. Among those who
// end them must be all that are named.
func compare(t *testing.T, server *kapitest.Server, requests []routetest.Request, named []string) {
	t.Helper()
	l, config := newLid(t, server.Config(t)), server.Config(t)
	// Over HTTP/2 the answer to HEAD is over with its headers, and a handler that
	// still writes has lost its connection.
	config.NextProtos = []string{"http/1.1"}
	var (
		workers sync.WaitGroup
		lock    sync.Mutex
		next    = make(chan routetest.Request)
		enders  = map[string]int{}
	)
	for range 6 {
		workers.Go(func() {
			for one := range next {
				by, differences := l.differences(t, config, one)
				for _, difference := range differences {
					t.Errorf("%+v: %s", one, difference)
				}
				lock.Lock()
				enders[by]++
				lock.Unlock()
			}
		})
	}
	for _, one := range requests {
		next <- one
	}
	close(next)
	workers.Wait()
	for _, name := range named {
		if enders[name] == 0 {
			t.Errorf("no request was ended by %s: %v", name, enders)
		}
	}
}

// differences are those between what is said of a request and what happens to it;
// by is who has ended it.
func (l lid) differences(t *testing.T, config *rest.Config, one routetest.Request) (by string, all []string) {
	t.Helper()
	explained, err := l.explain(t.Context(), one.Spec)
	if err != nil {
		return "", []string{err.Error()}
	}
	request := raw{method: one.Method, path: one.Target, as: one.Spec.User, anonymous: one.Anonymous()}
	if request.anonymous {
		request.as = ""
	}
	if len(one.Spec.Groups) > 0 {
		request.header = map[string]string{"Impersonate-Group": one.Spec.Groups[0]}
	}
	auditID, status := request.send(t, config)
	trace, err := l.findTrace(t.Context(), auditID)
	if err != nil {
		return "", []string{err.Error()}
	}
	all = routetest.Disagreements(explained.Status, trace.Spec, trace.Status)
	if explained.Status.Code != 0 && int(explained.Status.Code) != status {
		all = append(all, fmt.Sprintf("the client got %d, said was %d", status, explained.Status.Code))
	}
	if asked, was := explained.Status.User, trace.Spec.User; was == nil != (asked == nil) || was != nil && was.Name != asked.Name {
		// Who came in by no credentials and was not let in is nobody.
		if !one.Anonymous() || status != http.StatusUnauthorized {
			all = append(all, fmt.Sprintf("user: said %+v, was %+v", asked, was))
		}
	}
	return trace.Status.TerminatedBy.Name, all
}

// findTrace is trace for a goroutine that must not end the test.
func (l lid) findTrace(ctx context.Context, auditID string) (*v1alpha1.RequestTrace, error) {
	trace := &v1alpha1.RequestTrace{}
	return trace, poll(ctx, func(ctx context.Context) error {
		list, err := l.resource("requesttraces").List(ctx, metav1.ListOptions{FieldSelector: "spec.auditID=" + auditID, LabelSelector: "kapi.dev/inspect!=none"})
		if err != nil {
			return err
		}
		if len(list.Items) != 1 {
			return fmt.Errorf("%d traces of request %s", len(list.Items), auditID)
		}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[0].Object, trace)
	})
}

// explain asks for the explanation of a request.
func (l lid) explain(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error) {
	asked := &v1alpha1.RouteExplanation{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "RouteExplanation"}, Spec: spec,
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(asked)
	if err != nil {
		return nil, err
	}
	answer, err := l.resource("routeexplanations").Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	explained := &v1alpha1.RouteExplanation{}
	return explained, runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, explained)
}
