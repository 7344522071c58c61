package configured

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	kubeoptions "k8s.io/kubernetes/pkg/kubeapiserver/options"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/auth"
)

// newAccessWebhook allows everything to one user and denies everything to another.
func newAccessWebhook(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		_ = json.NewDecoder(r.Body).Decode(&review)
		spec, _ := review["spec"].(map[string]any)
		review["status"] = map[string]any{
			"allowed": spec["user"] == "webhook-allows", "denied": spec["user"] == "webhook-denies", "reason": "the webhook says so",
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "access.kubeconfig")
	writeFile(t, path, []byte("apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c}}]\n"+
		"clusters: [{name: c, cluster: {server: '"+server.URL+"'}}]\n"))
	return path
}

const authorizationHead = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n"

func webhookEntry(kubeconfig string) string {
	return "- type: Webhook\n  name: in-front\n  webhook:\n    timeout: 3s\n    subjectAccessReviewVersion: v1\n" +
		"    matchConditionSubjectAccessReviewVersion: v1\n    failurePolicy: NoOpinion\n    authorizedTTL: 1ms\n    unauthorizedTTL: 1ms\n" +
		"    connectionInfo: {type: KubeConfigFile, kubeConfigFile: " + kubeconfig + "}\n"
}

// authorization is a server's authorizer, made as upstream does, and what observes it.
type authorization struct {
	file     string
	plain    authorizer.Authorizer
	wrapped  authorizer.Authorizer
	observed *auth.Authorizers
}

func newAuthorization(t *testing.T, text string) authorization {
	t.Helper()
	client := fake.NewClientset(
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "pod-reader"}, Rules: []rbacv1.PolicyRule{
			{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"pods"}},
		}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "alice-reads"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "pod-reader"},
			Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "alice"}},
		},
	)
	a := authorization{file: filepath.Join(t.TempDir(), "authorization.yaml")}
	writeFile(t, a.file, []byte(text))
	options := kubeoptions.NewBuiltInAuthorizationOptions()
	options.AuthorizationConfigurationFile = a.file
	factory := informers.NewSharedInformerFactory(client, 0)
	cfg, err := options.ToAuthorizationConfig(factory)
	if err != nil {
		t.Fatal(err)
	}
	if a.plain, _, err = cfg.New(t.Context(), "server-1"); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	configured, err := NewAuthorization(options, allGiven)
	if err != nil {
		t.Fatal(err)
	}
	a.observed = auth.NewAuthorizers(configured.Config("server-1"))
	a.wrapped = a.observed.Wrap(a.plain)
	return a
}

func (a authorization) objects(t *testing.T) (names []string, by map[string]*v1alpha1.Authorizer) {
	t.Helper()
	objects, err := a.observed.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	by = map[string]*v1alpha1.Authorizer{}
	for _, object := range objects {
		names = append(names, object.GetName())
		by[object.GetName()] = object.(*v1alpha1.Authorizer)
	}
	return names, by
}

func get(name string, groups ...string) authorizer.AttributesRecord {
	return authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: name, Groups: groups}, Verb: "get", APIVersion: "v1", Resource: "pods",
		Namespace: "default", Name: "web", ResourceRequest: true,
	}
}

func TestEveryAuthorizerIsFoundInTheUnion(t *testing.T) {
	t.Parallel()
	a := newAuthorization(t, authorizationHead+webhookEntry(newAccessWebhook(t))+"- {type: Node, name: node}\n- {type: RBAC, name: rbac}\n")
	requests := []struct {
		attributes authorizer.AttributesRecord
		by         string
		reason     string
		allowed    bool
	}{
		{get("root", "system:masters"), "system-privileged-group", "system:masters", true},
		{get("webhook-allows"), "in-front", "the webhook says so", true},
		{get("webhook-denies"), "in-front", "the webhook says so", false},
		{get("alice"), "rbac", `ClusterRoleBinding "alice-reads" of ClusterRole "pod-reader"`, true},
		{get("mallory"), "", "", false},
	}
	for _, one := range requests {
		explained := a.observed.Explain(t.Context(), one.attributes)
		if explained.Allowed != one.allowed || explained.Authorizer != one.by || !strings.Contains(explained.Reason, one.reason) || explained.Error != "" {
			t.Errorf("%s: explained %+v, want %+v", one.attributes.User.GetName(), explained, one)
		}
	}
	if _, by := a.objects(t); by["rbac"].Status.Latency.Count != 0 {
		t.Error("explanations are counted as requests")
	}
	for _, one := range requests {
		decision, reason, err := a.wrapped.Authorize(t.Context(), one.attributes)
		expected, expectedReason, expectedErr := a.plain.Authorize(t.Context(), one.attributes)
		if decision != expected || reason != expectedReason || err != nil || expectedErr != nil {
			t.Errorf("observed %v %q %v, upstream %v %q %v", decision, reason, err, expected, expectedReason, expectedErr)
		}
	}
	names, by := a.objects(t)
	if got := strings.Join(names, " "); got != "system-privileged-group in-front node rbac" {
		t.Errorf("order %s", got)
	}
	for name, want := range map[string][4]int64{
		"system-privileged-group": {1, 0, 4, 0}, "in-front": {1, 1, 2, 0}, "node": {0, 0, 2, 0}, "rbac": {1, 0, 1, 0},
	} {
		s := by[name].Status
		if got := [4]int64{s.Allowed, s.Denied, s.NoOpinion, s.Errors}; got != want {
			t.Errorf("%s: allowed, denied, no opinion, errors %v, want %v", name, got, want)
		}
		if sum := s.Allowed + s.Denied + s.NoOpinion + s.Errors; sum != s.Latency.Count {
			t.Errorf("%s: %d decisions, but %d latencies", name, sum, s.Latency.Count)
		}
	}
	if by["in-front"].Spec.Type != "Webhook" || by["in-front"].Spec.ConfiguredBy != a.file || by["system-privileged-group"].Spec.Type != "PrivilegedGroups" {
		t.Errorf("specs %+v %+v", by["in-front"].Spec, by["system-privileged-group"].Spec)
	}
}

func TestAuthorizersFollowAReload(t *testing.T) {
	t.Parallel()
	a := newAuthorization(t, authorizationHead+"- {type: RBAC, name: rbac}\n")
	if _, _, err := a.wrapped.Authorize(t.Context(), get("alice")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, a.file, []byte(authorizationHead+webhookEntry(newAccessWebhook(t))+"- {type: RBAC, name: rbac}\n"))
	waitFor(t, "the webhook", func() bool {
		decision, _, _ := a.wrapped.Authorize(t.Context(), get("webhook-allows"))
		return decision == authorizer.DecisionAllow
	})
	names, by := a.objects(t)
	if got := strings.Join(names, " "); got != "system-privileged-group in-front rbac" {
		t.Errorf("order %s", got)
	}
	if by["rbac"].Status.Allowed != 1 || by["in-front"].Status.Allowed != 1 {
		t.Errorf("counts do not survive a reload: rbac %+v, webhook %+v", by["rbac"].Status, by["in-front"].Status)
	}
}

func TestAuthorizersOfFlags(t *testing.T) {
	t.Parallel()
	options := kubeoptions.NewBuiltInAuthorizationOptions()
	options.Modes, options.PolicyFile = []string{"Node", "ABAC"}, "/policy.jsonl"
	configured, err := NewAuthorization(options, allGiven)
	if err != nil {
		t.Fatal(err)
	}
	all, err := configured.Authorizers()
	if err != nil {
		t.Fatal(err)
	}
	want := auth.ConfiguredAuthorizer{Name: "abac", Type: "ABAC", Configured: v1alpha1.Configured{ConfiguredBy: "--authorization-mode", Source: "/policy.jsonl"}}
	if len(all) != 2 || all[1] != want {
		t.Errorf("%+v, want %+v as the second", all, want)
	}
}
