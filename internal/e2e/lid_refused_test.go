package e2e_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestRefusals has a request refused by each part that refuses: the trace and, if
// it was a filter, its counter name who it was, and with which status.
func TestRefusals(t *testing.T) {
	t.Parallel()
	// Only what hangs is to take so long, on a busy machine too.
	server := kapitest.Faulty(t, nil, "--request-timeout=10s", `--cors-allowed-origins=//example\.com$`)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	client, l := server.Client(t), newLid(t, server.Config(t))
	restrictPods(t, client, "restricted")
	privileged := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","securityContext":{"privileged":true}}]}}`

	for _, test := range []struct {
		name    string
		request raw
		status  int // that the client sees
		code    int32
		by      v1alpha1.EndedBy
	}{
		{"authentication", raw{method: "GET", path: "/api/v1/namespaces", anonymous: true, header: map[string]string{"Authorization": "Bearer of-no-use"}},
			401, 401, v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: "authentication"}},
		{"authorization", raw{method: "GET", path: "/api/v1/secrets", as: "nobody"},
			403, 403, v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: "authorization"}},
		{"impersonation", raw{method: "GET", path: "/api/v1/secrets", anonymous: true, header: map[string]string{"Impersonate-User": "kapi-admin"}},
			403, 403, v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: "constrained-impersonation"}},
		{"admission", raw{method: "POST", path: "/api/v1/namespaces/restricted/pods", body: privileged},
			403, 403, v1alpha1.EndedBy{Kind: v1alpha1.EndedByAdmission, Name: "PodSecurity"}},
		{"body limit", raw{method: "POST", path: "/api/v1/namespaces/default/configmaps", body: `{"data":{"x":"` + strings.Repeat("x", 4<<20) + `"}}`},
			413, 413, v1alpha1.EndedBy{Kind: v1alpha1.EndedByBodyLimit, Name: "kube-apiserver"}},
		{"timeout", raw{method: "GET", path: "/faults/hang"},
			504, 504, v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: "timeout"}},
		{"CORS preflight", raw{method: "OPTIONS", path: "/api", anonymous: true, header: map[string]string{"Origin": "https://example.com", "Access-Control-Request-Method": "GET"}},
			204, 204, v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: "cors"}},
		{"deadline that is none", raw{method: "GET", path: "/api/v1/namespaces?timeout=soon"},
			400, 400, v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: "request-deadline"}},
		// The recovery writes an answer, and the connection is given up all the same.
		{"panic", raw{method: "GET", path: "/faults/panic"},
			0, 500, v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: "panic-recovery"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before int64
			if test.by.Kind == v1alpha1.EndedByFilter {
				before = l.terminated(t, test.by.Name, test.code)
			}
			auditID, status := test.request.send(t, server.Config(t))
			if status != test.status {
				t.Errorf("the client got %d, want %d", status, test.status)
			}
			trace := l.trace(t, auditID)
			if trace.Status.Code != test.code || trace.Status.TerminatedBy != test.by {
				t.Errorf("the trace says %d by %+v, want %d by %+v", trace.Status.Code, trace.Status.TerminatedBy, test.code, test.by)
			}
			if test.by.Kind == v1alpha1.EndedByFilter {
				if after := l.terminated(t, test.by.Name, test.code); after != before+1 {
					t.Errorf("filter %s has ended %d requests with %d, before it %d", test.by.Name, after, test.code, before)
				}
			}
		})
	}
}

// TestCrowded has requests refused since there is no place for them: by priority
// and fairness, and by what replaces it when it is off.
func TestCrowded(t *testing.T) {
	t.Parallel()
	for filter, flags := range map[string][]string{
		"priority-and-fairness": nil,
		"max-in-flight":         {"--enable-priority-and-fairness=false", "--max-requests-inflight=1"},
	} {
		t.Run(filter, func(t *testing.T) {
			t.Parallel()
			server := kapitest.Faulty(t, nil, append(flags, "--request-timeout=30s")...)
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			client, l := server.Client(t), newLid(t, server.Config(t))
			allowEverywhere(t, client, "patient", rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/faults/hang"}})
			if flags == nil {
				oneAtATime(t, client, "patient")
			}
			holding, release := context.WithCancel(t.Context())
			held := make(chan struct{})
			go func() {
				defer close(held)
				for holding.Err() == nil { // the first may come before the rules are in force
					raw{method: "GET", path: "/faults/hang", as: "patient"}.sendWith(holding, t, server.Config(t))
				}
			}()
			var auditID string
			await(t, "a request that finds no place", func(context.Context) bool {
				var status int
				auditID, status = raw{method: "GET", path: "/api/v1/namespaces", as: "patient"}.send(t, server.Config(t))
				return status == http.StatusTooManyRequests
			})
			release()
			<-held
			trace := l.trace(t, auditID)
			want := v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: filter}
			if trace.Status.Code != http.StatusTooManyRequests || trace.Status.TerminatedBy != want {
				t.Errorf("the trace says %d by %+v, want 429 by %+v", trace.Status.Code, trace.Status.TerminatedBy, want)
			}
			if flags == nil && trace.Status.PriorityLevel != "patient" {
				t.Errorf("the trace says priority level %q", trace.Status.PriorityLevel)
			}
			if l.terminated(t, filter, http.StatusTooManyRequests) == 0 {
				t.Error("the filter has counted nothing")
			}
		})
	}
}

// oneAtATime gives a user a priority level without seats: one request runs when
// no other does, and all others are refused.
func oneAtATime(t testing.TB, client kubernetes.Interface, user string) {
	t.Helper()
	none := int32(0)
	_, err := client.FlowcontrolV1().PriorityLevelConfigurations().Create(t.Context(), &flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited,
			Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
				NominalConcurrencyShares: &none, LendablePercent: &none, BorrowingLimitPercent: &none,
				LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.FlowcontrolV1().FlowSchemas().Create(t.Context(), &flowcontrolv1.FlowSchema{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: user},
			MatchingPrecedence:         10,
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects: []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: user}}},
				ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
					Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, ClusterScope: true, Namespaces: []string{"*"},
				}},
				NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// restrictPods makes a namespace whose pods must be harmless.
func restrictPods(t testing.TB, client kubernetes.Interface, namespace string) {
	t.Helper()
	_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}
