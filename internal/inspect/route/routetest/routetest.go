// Package routetest makes requests on which an explanation and what really happens
// can be compared, and compares the two. It is for tests: of package route, and of
// a whole server.
//
// The requests are made from a seed: the same seed makes the same ones. They change
// nothing (writes have dryRun=All, names are of nothing that exists), and end soon
// (watches have timeoutSeconds=1). It imports the types only.
package routetest

import (
	"math/rand/v2"
	"net/http"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// World is what is there beside the built-in resources. A zero field is left out.
type World struct {
	// Custom is a resource of a CRD, with a status subresource.
	Custom schema.GroupVersionResource
	// CustomNamespaced says that its objects are in namespaces.
	CustomNamespaced bool
	// Aggregated is a resource of an aggregated server.
	Aggregated schema.GroupVersionResource
}

// Request is one request.
type Request struct {
	// Spec is what the explanation is asked for.
	Spec v1alpha1.RouteExplanationSpec
	// Method and Target are the real request: its HTTP method, and path with query.
	Method, Target string
}

// Anonymous says that the request must be sent without credentials. All others
// can be sent by impersonation.
func (r Request) Anonymous() bool { return r.Spec.User == anonymous }

const (
	anonymous = "system:anonymous"
	namespace = "team-a"
)

// subject is somebody who asks.
type subject struct {
	name   string
	groups []string
}

var subjects = []subject{
	{"route-admin", []string{"system:masters"}},
	{"route-reader", nil},
	{"route-editor", []string{"route-editors"}},
	{"route-prober", nil},
	{"route-stranger", nil},
	{"system:serviceaccount:" + namespace + ":robot", nil},
	{"system:node:node-1", []string{"system:nodes"}},
	{anonymous, nil},
}

// Roles are the objects that give the users something to be allowed. The namespace
// team-a must be there before them.
func Roles(world World) []runtime.Object {
	read := rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{"", "apps"}, Resources: []string{"pods", "pods/log", "deployments", "namespaces"}}
	custom := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{world.Custom.Group, world.Aggregated.Group}, Resources: []string{"*"}}
	edit := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"", "apps", "coordination.k8s.io"}, Resources: []string{"*"}}
	probe := rbacv1.PolicyRule{Verbs: []string{"get", "head"}, NonResourceURLs: []string{"/metrics", "/healthz", "/healthz/*", "/no/*"}}
	robot := rbacv1.PolicyRule{Verbs: []string{"get", "create", "patch"}, APIGroups: []string{""}, Resources: []string{"configmaps", "pods/exec", "pods/status"}}
	role := func(name string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
		return &rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	}
	return []runtime.Object{
		role("route-read", read, custom), role("route-edit", edit), role("route-probe", probe), role("route-robot", robot),
		everywhere("route-read", rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: "route-reader"}),
		everywhere("route-probe", rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: "route-prober"}),
		inNamespace("route-edit", rbacv1.Subject{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "route-editors"}),
		inNamespace("route-robot", rbacv1.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: "robot"}),
	}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

func everywhere(role string, who rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta: typeMeta("ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: role},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: []rbacv1.Subject{who},
	}
}

func inNamespace(role string, who rbacv1.Subject) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		TypeMeta: typeMeta("RoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: role, Namespace: namespace},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: []rbacv1.Subject{who},
	}
}

// fixed are paths that are no collections of objects.
var fixed = []string{
	"/", "/api", "/api/", "/api/v1", "/api/v2", "/apis", "/apis/", "/apis/apps", "/apis/apps/v1", "/apis/apps/v9", "/apis/nobody.example",
	"/apis/nobody.example/v1", "/apis/apiregistration.k8s.io", "/apis/apiregistration.k8s.io/v1", "/apis/inspect.kapi.dev/v1alpha1",
	"/healthz", "/healthz/ping", "/livez", "/readyz", "/metrics", "/version", "/version/", "/openapi/v2", "/openapi/v3",
	"/no/such/path", "/favicon.ico", "/apis/apps/v1/", "/.well-known/openid-configuration", "/openid/v1/jwks",
}

// collections are paths of collections: built-in, ours, unknown.
var collections = []string{
	"/api/v1/namespaces", "/api/v1/nodes", "/api/v1/pods", "/api/v1/nothings", "/apis/apps/v1/deployments", "/apis/apps/v1/nothings",
	"/apis/apps/v9/deployments", "/apis/nobody.example/v1/things", "/apis/inspect.kapi.dev/v1alpha1/filters",
	"/apis/inspect.kapi.dev/v1alpha1/storedkeyqueries",
	"/apis/apiregistration.k8s.io/v1/apiservices", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	"/apis/rbac.authorization.k8s.io/v1/clusterroles", "/api/v1/namespaces/" + namespace + "/pods",
	"/api/v1/namespaces/" + namespace + "/configmaps", "/apis/apps/v1/namespaces/" + namespace + "/deployments",
	"/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases", "/api/v1/namespaces/elsewhere/secrets",
	"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
}

var subresources = []string{"status", "scale", "exec", "log", "nothing"}

// Generate makes n requests.
func Generate(seed uint64, n int, world World) []Request {
	random := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // requests that can be made again, not secrets
	all := collections
	for _, r := range []struct {
		schema.GroupVersionResource

		namespaced bool
	}{{world.Custom, world.CustomNamespaced}, {world.Aggregated, false}} {
		if r.Resource == "" {
			continue
		}
		root := "/apis/" + r.Group + "/" + r.Version
		all = append(all[:len(all):len(all)], root+"/"+r.Resource, root+"/namespaces/"+namespace+"/"+r.Resource, root+"/nothings")
	}
	requests := make([]Request, 0, n)
	for range n {
		requests = append(requests, generate(random, all, world))
	}
	return requests
}

func generate(random *rand.Rand, collections []string, world World) Request {
	who := pick(random, subjects)
	request := Request{Spec: v1alpha1.RouteExplanationSpec{User: who.name, Groups: who.groups}}
	if random.IntN(3) == 0 {
		paths := fixed
		if world.Custom.Group != "" {
			paths = append(paths[:len(paths):len(paths)], "/apis/"+world.Custom.Group, "/apis/"+world.Custom.Group+"/"+world.Custom.Version)
		}
		request.Target = pick(random, paths)
		request.Method = pick(random, []string{http.MethodGet, http.MethodGet, http.MethodGet, http.MethodHead, http.MethodPost})
		request.Spec.Verb, request.Spec.Path = request.Method, request.Target
		return request
	}
	request.Target = pick(random, collections)
	if random.IntN(2) == 0 {
		request.Target += "/of-nobody"
		if random.IntN(2) == 0 {
			request.Target += "/" + pick(random, subresources)
		}
	}
	verb := pick(random, verbs)
	request.Method = verb.method
	request.Target += verb.query
	request.Spec.Verb, request.Spec.Path = verb.verb, strings.Replace(request.Target, "watch=1&", "", 1)
	return request
}

// verbs are verbs, methods, and the query that makes each harmless.
var verbs = []struct{ verb, method, query string }{
	{"get", http.MethodGet, ""},
	{"GET", http.MethodGet, "?limit=1"},
	{"list", http.MethodGet, "?limit=1"},
	{"watch", http.MethodGet, "?watch=1&timeoutSeconds=1"},
	{"create", http.MethodPost, "?dryRun=All"},
	{"update", http.MethodPut, "?dryRun=All"},
	{"patch", http.MethodPatch, "?dryRun=All"},
	{"delete", http.MethodDelete, "?dryRun=All"},
	{"deletecollection", http.MethodDelete, "?dryRun=All"},
	{"HEAD", http.MethodHead, ""},
	{"OPTIONS", http.MethodOptions, ""},
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }
