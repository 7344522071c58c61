package route

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/route/routetest"
)

// TestLayersAreThoseOfTheDirectors sends generated requests through upstream's
// directors, containers and muxes.
func TestLayersAreThoseOfTheDirectors(t *testing.T) {
	t.Parallel()
	c := newChain()
	layers := slices.Clone(c.layers)
	layers[2].CustomResources = nil // upstream's handler for them is not in this chain
	explainer := newExplainer(t, func(cfg *Config) { cfg.Layers, cfg.APIServices = layers, nil })
	seen := map[string]int{}
	for _, one := range routetest.Generate(2, 3000, routetest.World{}) {
		status, err := explainer.Explain(as(t, "root", "system:masters"), v1alpha1.RouteExplanationSpec{Verb: one.Spec.Verb, Path: one.Spec.Path})
		if err != nil {
			t.Fatal(one, err)
		}
		layer, code := c.ask(t.Context(), one.Method, one.Target)
		if one.Method == http.MethodHead && code == http.StatusOK {
			layer = status.Layer // an answer to HEAD does not say whose it is
		}
		certain := code == http.StatusNotFound || code == http.StatusMethodNotAllowed
		if layer != "" && layer != status.Layer || layer == "" && !certain || certain != (status.Code != 0) || certain && int(status.Code) != code {
			t.Errorf("%s %s: said %s %d, was %q %d", one.Method, one.Target, status.Layer, status.Code, layer, code)
		}
		seen[status.Layer]++
	}
	if len(seen) != 4 {
		t.Errorf("layers seen: %v", seen)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	explainer := newExplainer(t, nil)
	for _, one := range []struct {
		spec   v1alpha1.RouteExplanationSpec
		ends   string // filter or layer
		code   int32
		hops   string
		check  func(v1alpha1.RouteExplanationStatus) bool
		reason string
	}{
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/api/v1/pods", User: "system:anonymous"},
			ends: "authentication", code: 401,
			check: func(s v1alpha1.RouteExplanationStatus) bool {
				return s.Authorization == nil && slices.Equal(s.User.Groups, []string{"system:unauthenticated"})
			},
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/healthz", User: "system:anonymous"},
			ends: "authorization", code: 403,
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "list", Path: "/api/v1/pods?limit=1", User: "route-stranger"},
			ends: "authorization", code: 403,
			check: func(s v1alpha1.RouteExplanationStatus) bool {
				return !s.Authorization.Allowed && slices.Equal(s.User.Groups, []string{"system:authenticated"}) && s.StorageKey == ""
			},
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "watch", Path: "/api/v1/pods", User: "route-reader"},
			ends: "kube-apiserver", hops: "aggregator kube-apiserver",
			check: func(s v1alpha1.RouteExplanationStatus) bool {
				return s.RequestInfo.Verb == "watch" && s.APIService == "v1." && s.AdmissionPlugins == nil && s.Authorization.Authorizer == "rbac" &&
					strings.Contains(s.Authorization.Reason, `ClusterRoleBinding "route-read" of ClusterRole "route-read"`) &&
					s.Filters[3].Note == "long-running: not limited"
			},
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "PATCH", Path: "/api/v1/namespaces/team-a/configmaps/c", User: "system:serviceaccount:team-a:robot"},
			ends: "kube-apiserver", hops: "aggregator kube-apiserver",
			check: func(s v1alpha1.RouteExplanationStatus) bool {
				return slices.Equal(s.AdmissionPlugins, []string{"OnUPDATE"}) && s.StorageKey == "/registry//configmaps/team-a/c" &&
					slices.Contains(s.User.Groups, "system:serviceaccounts:team-a")
			},
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "POST", Path: "/api/v1/namespaces/team-a/pods/p/exec?command=ls", User: "system:serviceaccount:team-a:robot"},
			ends: "kube-apiserver", hops: "aggregator kube-apiserver",
			check: func(s v1alpha1.RouteExplanationStatus) bool {
				return slices.Equal(s.AdmissionPlugins, []string{"OnCONNECT"})
			},
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "get", Path: "/api/v1/namespaces/team-a", User: "route-reader"},
			ends: "kube-apiserver", hops: "aggregator kube-apiserver",
			check: func(s v1alpha1.RouteExplanationStatus) bool { return s.StorageKey == "/registry//namespaces//team-a" },
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "PUT", Path: "/api/v1/pods"},
			ends: "kube-apiserver", code: 405, hops: "aggregator kube-apiserver",
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/apis/apps/v1/nothings"},
			ends: "kube-apiserver", code: 404, hops: "aggregator kube-apiserver",
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "create", Path: "/apis/stable.example.com/v1/namespaces/a/crontabs", User: "route-reader"},
			ends: "apiextensions", hops: "aggregator kube-apiserver apiextensions",
			check: func(s v1alpha1.RouteExplanationStatus) bool {
				return s.APIService == "v1.stable.example.com" && s.Service == "" && slices.Equal(s.AdmissionPlugins, []string{"OnCREATE"})
			},
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "get", Path: "/apis/stable.example.com/v1/namespaces/a/crontabs/c/scale"},
			ends: "apiextensions", code: 404, hops: "aggregator kube-apiserver apiextensions",
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "get", Path: "/apis/stable.example.com/v0/namespaces/a/crontabs/c"},
			ends: "not-found", code: 404, hops: "aggregator kube-apiserver apiextensions not-found",
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/apis/stable.example.com/v1"},
			ends: "apiextensions", hops: "aggregator kube-apiserver apiextensions",
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/apis/stable.example.com"},
			ends: "aggregator", hops: "aggregator",
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "delete", Path: "/apis/wardle.example.com/v1alpha1/flunders/f", User: "route-reader"},
			ends: "aggregator", hops: "aggregator",
			check: func(s v1alpha1.RouteExplanationStatus) bool {
				return s.APIService == "v1alpha1.wardle.example.com" && s.Service == "wardle/api:8443" && s.AdmissionPlugins == nil && s.StorageKey == ""
			},
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/apis/down.example.com/v1alpha1"},
			ends: "aggregator", code: 503, hops: "aggregator",
		},
		{
			spec: v1alpha1.RouteExplanationSpec{Verb: "HEAD", Path: "/no/such/path", User: "route-prober"},
			ends: "not-found", code: 404, hops: "aggregator kube-apiserver apiextensions not-found",
		},
	} {
		status, err := explainer.Explain(as(t, "root", "system:masters"), one.spec)
		if err != nil {
			t.Errorf("%+v: %v", one.spec, err)
			continue
		}
		if status.TerminatedBy == nil || status.TerminatedBy.Name != one.ends || status.Code != one.code || strings.Join(status.Hops, " ") != one.hops ||
			status.Outcome == "" || one.check != nil && !one.check(status) {
			t.Errorf("%+v: %+v, ended by %+v, authorization %+v, user %+v", one.spec, status, status.TerminatedBy, status.Authorization, status.User)
		}
	}
}

func TestExplainRefusesWhatIsNoRequest(t *testing.T) {
	t.Parallel()
	explainer := newExplainer(t, nil)
	for value, spec := range map[string]v1alpha1.RouteExplanationSpec{
		"FROBNICATE":            {Verb: "FROBNICATE", Path: "/api"},
		"":                      {Path: "/api"},
		"https://elsewhere/api": {Verb: "GET", Path: "https://elsewhere/api"},
		"//elsewhere/api":       {Verb: "GET", Path: "//elsewhere/api"},
		"api/v1":                {Verb: "GET", Path: "api/v1"},
		"/api/../apis":          {Verb: "GET", Path: "/api/../apis"},
		"/api/%zz":              {Verb: "GET", Path: "/api/%zz"},
		"spec.path":             {Verb: "GET", Path: "/" + strings.Repeat("a", 5000)},
		"spec.user":             {Verb: "GET", Path: "/api", Groups: []string{"system:masters"}},
		"spec.groups":           {Verb: "GET", Path: "/api", User: "alice", Groups: make([]string, 100)},
		"/api/v1/watch":         {Verb: "GET", Path: "/api/v1/watch"},
	} {
		_, err := explainer.Explain(as(t, "root", "system:masters"), spec)
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), value) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}

func TestExplainTellsOfOthersOnlyWhatReviewsWouldTell(t *testing.T) {
	t.Parallel()
	grant := func(user, role string, rule rbacv1.PolicyRule) []runtime.Object {
		return []runtime.Object{
			&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role}, Rules: []rbacv1.PolicyRule{rule}},
			&rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: role}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
				Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}},
			},
		}
	}
	decider, observed := access(t, slices.Concat(
		grant("reviewer", "review", rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}}),
		grant("double", "double", rbacv1.PolicyRule{Verbs: []string{"impersonate"}, APIGroups: []string{""}, Resources: []string{"users"}, ResourceNames: []string{"alice"}}),
		grant("puppeteer", "puppets", rbacv1.PolicyRule{Verbs: []string{"impersonate"}, APIGroups: []string{""}, Resources: []string{"serviceaccounts"}}),
	)...)
	explainer := newExplainer(t, func(c *Config) { c.Authorizer, c.Authorization = decider, observed.Explain })
	for _, one := range []struct {
		asker, user string
		groups      []string
		allowed     bool
	}{
		{"nobody", "", nil, true},
		{"nobody", "nobody", nil, true},
		{"nobody", "nobody", []string{"system:masters"}, false},
		{"nobody", "alice", nil, false},
		{"nobody", "system:anonymous", nil, false},
		{"reviewer", "alice", []string{"system:masters"}, true},
		{"double", "alice", nil, true},
		{"double", "alice", []string{"devs"}, false},
		{"double", "bob", nil, false},
		{"puppeteer", "system:serviceaccount:a:b", nil, true},
		{"puppeteer", "alice", nil, false},
	} {
		status, err := explainer.Explain(as(t, one.asker), v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/api/v1/pods", User: one.user, Groups: one.groups})
		if one.allowed && err != nil || !one.allowed && !apierrors.IsForbidden(err) {
			t.Errorf("%+v: %v", one, err)
		}
		if !one.allowed && status.User != nil {
			t.Errorf("%+v: told %+v", one, status)
		}
	}
}

func TestExplainWhenAuthorizersFail(t *testing.T) {
	t.Parallel()
	explainer := newExplainer(t, func(c *Config) {
		c.Authorization = func(context.Context, authorizer.Attributes) v1alpha1.ExplainedAuthorization {
			return v1alpha1.ExplainedAuthorization{Error: "the webhook does not answer"}
		}
	})
	status, err := explainer.Explain(as(t, "alice"), v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/api"})
	if err != nil || status.Code != http.StatusInternalServerError || status.TerminatedBy.Name != "authorization" {
		t.Errorf("%+v %v", status, err)
	}
}
