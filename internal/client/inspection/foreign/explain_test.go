package foreign_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/foreign"
	"github.com/kapi-dev/kapi/internal/fault"
)

// reviewing serves discovery from the record, answers reviews, and has one
// definition and one APIService. mallory is allowed nothing.
func reviewing(t *testing.T, instead map[string]answer) *foreign.Server {
	t.Helper()
	objects := map[string]string{
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com": `{"metadata":{"name":"widgets.example.com"}}`,
		"/apis/apiregistration.k8s.io/v1/apiservices/v1.metrics.example.com": `{"metadata":{"name":"v1.metrics.example.com"},` +
			`"spec":{"group":"metrics.example.com","version":"v1","service":{"namespace":"m","name":"n"}},"status":{"conditions":[{"type":"Available","status":"True"}]}}`,
	}
	return serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if given, ok := instead[r.URL.Path]; ok {
			w.WriteHeader(given.code)
			fmt.Fprint(w, given.body)
			return
		}
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/selfsubjectreviews"):
			fmt.Fprint(w, `{"status":{"userInfo":{"username":"carol","groups":["system:authenticated"]}}}`)
		case strings.HasSuffix(path, "subjectaccessreviews"):
			var review authorizationv1.SubjectAccessReview
			if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
				t.Error(err)
			}
			if (review.Spec.ResourceAttributes == nil) == (review.Spec.NonResourceAttributes == nil) {
				t.Errorf("a review of %+v", review.Spec)
			}
			fmt.Fprintf(w, `{"status":{"allowed":%v,"reason":"because"}}`, review.Spec.User != "mallory")
		case objects[path] != "":
			fmt.Fprint(w, objects[path])
		case path == "/api" || path == "/apis":
			data, err := os.ReadFile(filepath.Join("testdata", recorded()[path]))
			if err != nil {
				t.Error(err)
			}
			_, _ = w.Write(data)
		default:
			http.NotFound(w, r)
		}
	})
}

func TestExplain(t *testing.T) {
	const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com"
	for _, tc := range []struct {
		verb, path, user string
		code             int32
		layer, outcome   string
	}{
		{"GET", "/api/v1/pods", "", 0, "", "a layer for built-in resources"},
		{"GET", "/api/v1/pods", "mallory", 403, "", "The authorization filter would answer 403."},
		{"GET", "/logs", "mallory", 403, "", "The authorization filter would answer 403."},
		{"GET", "/logs", "", 0, "", "whether the server has anything at /logs is not known"},
		{"GET", "/apis/example.com/v1/widgets", "", 0, "apiextensions", "The apiextensions layer would answer."},
		{"GET", "/apis/apiregistration.k8s.io/v1/apiservices", "", 0, "aggregator", "The aggregator layer would answer."},
		{"GET", "/apis/example.com/v1/gadgets", "", 404, "", "No layer serves gadgets in example.com/v1: the answer would be 404."},
		{"GET", "/apis/apps/v1/namespaces/a/deployments/b/rollout", "", 404, "", "No layer serves deployments/rollout in apps/v1"},
		{"PUT", "/apis/apps/v1/namespaces/a/deployments/b/scale", "", 0, "", "a layer for built-in resources"},
		{"GET", "/apis/metrics.example.com/v1/nodes", "", 0, "aggregator", "would send it on to service m/n:443, for APIService v1.metrics.example.com."},
	} {
		t.Run(tc.verb+" "+tc.path+" "+tc.user, func(t *testing.T) {
			server := reviewing(t, map[string]answer{definition: forbidden(definition)})
			spec := v1alpha1.RouteExplanationSpec{Verb: tc.verb, Path: tc.path, User: tc.user}
			got, err := server.Explain(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			s := got.Status
			if s.Code != tc.code || s.Layer != tc.layer || !strings.Contains(s.Outcome, tc.outcome) {
				t.Errorf("got %d, layer %q, %q", s.Code, s.Layer, s.Outcome)
			}
			if s.Authorization.Allowed == (tc.user == "mallory") || s.Authorization.Reason != "because" {
				t.Errorf("authorization %+v", s.Authorization)
			}
		})
	}
}

// What is forbidden stands in the outcome, with what would allow it.
func TestExplainWithoutRights(t *testing.T) {
	const service = "/apis/apiregistration.k8s.io/v1/apiservices/v1.none.example.com"
	server := reviewing(t, map[string]answer{service: forbidden(service)})
	got, err := server.Explain(t.Context(), v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/apis/none.example.com/v1/things"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "forbidden to you: needs get on apiservices.apiregistration.k8s.io"; got.Status.Code != 0 || !strings.Contains(got.Status.Outcome, want) {
		t.Errorf("got %d, %q", got.Status.Code, got.Status.Outcome)
	}
	reviews := "/apis/authorization.k8s.io/v1/subjectaccessreviews"
	server = reviewing(t, map[string]answer{reviews: forbidden(reviews)})
	if _, err = server.Explain(t.Context(), v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/", User: "bob"}); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want Forbidden", err)
	}
	if hint := fault.Hint(err); !strings.Contains(hint, "system:auth-delegator") {
		t.Errorf("the way out is %q", hint)
	}
}

func TestExplainUser(t *testing.T) {
	for user, want := range map[string]string{
		"":                              "carol system:authenticated",
		"bob":                           "bob system:authenticated",
		"system:anonymous":              "system:anonymous system:unauthenticated",
		"system:serviceaccount:ns:name": "system:serviceaccount:ns:name system:serviceaccounts system:serviceaccounts:ns system:authenticated",
	} {
		got, err := reviewing(t, nil).Explain(t.Context(), v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/", User: user})
		if err != nil {
			t.Fatal(err)
		}
		if u := got.Status.User; u.Name+" "+strings.Join(u.Groups, " ") != want {
			t.Errorf("%q is %+v, want %q", user, u, want)
		}
	}
	_, err := reviewing(t, nil).Explain(t.Context(), v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/", Groups: []string{"a"}})
	if fault.Code(err) != fault.CodeUsage {
		t.Errorf("groups without a user: %v", err)
	}
}
