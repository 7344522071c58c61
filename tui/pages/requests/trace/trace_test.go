package trace

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func ended(kind v1alpha1.EndedByKind, name string, code int32) *v1alpha1.RequestTrace {
	t := &v1alpha1.RequestTrace{}
	t.Spec.Verb, t.Spec.Path = "list", "/api/v1/namespaces/default/pods"
	t.Spec.User = &v1alpha1.RequestUser{Name: "jane"}
	t.Spec.RequestInfo = &v1alpha1.RequestInfo{IsResourceRequest: true, Verb: "list", Resource: "pods", Namespace: "default", APIVersion: "v1"}
	t.Status.TerminatedBy, t.Status.Code = v1alpha1.EndedBy{Kind: kind, Name: name}, code
	t.Status.Duration = metav1.Duration{Duration: 1200 * time.Microsecond}
	t.Status.Failed = code == 0 || code >= 500
	return t
}

// Each way in which a request ends has a sentence, and a page that says more.
func TestWhy(t *testing.T) {
	t.Parallel()
	limited := ended(v1alpha1.EndedByFilter, "priority-and-fairness", 429)
	limited.Status.PriorityLevel = "workload-low"
	proxied := ended(v1alpha1.EndedByLayer, "aggregator", 503)
	proxied.Status.ProxiedTo = &v1alpha1.ProxiedTo{APIService: "v1.metrics.example"}
	panicked := ended(v1alpha1.EndedByFilter, "panic-recovery", 500)
	panicked.Status.Panicked = true
	for _, test := range []struct {
		trace              *v1alpha1.RequestTrace
		verdict, why, next string
	}{
		{ended(v1alpha1.EndedByFilter, "authorization", 403), "ended by filter authorization with 403 Forbidden after 1.2ms", "jane may not list pods in namespace default", "route?path=%2Fapi%2Fv1%2Fnamespaces%2Fdefault%2Fpods&user=jane"},
		{ended(v1alpha1.EndedByFilter, "authentication", 401), "with 401 Unauthorized", "no authenticator knows", "route?"},
		{limited, "with 429 Too Many Requests", "priority level workload-low had no seat", "flow/workload-low"},
		{ended(v1alpha1.EndedByFilter, "timeout", 504), "with 504 Gateway Timeout", "had not answered", "requests?filter=by%3Atimeout"},
		{panicked, "ended by filter panic-recovery", "a handler panicked", "logs?filter=panic"},
		{ended(v1alpha1.EndedByAdmission, "LimitRanger", 403), "ended by admission plugin LimitRanger", "refused the change", "auth"},
		{ended(v1alpha1.EndedByConnection, "", 0), "without an answer", "gave up the connection", ""},
		{ended(v1alpha1.EndedByBodyLimit, "", 413), "the limit of a request's body", "larger than the server takes", ""},
		{proxied, "ended by layer aggregator", "no address was found for APIService v1.metrics.example", "apiservices/v1.metrics.example"},
		{ended(v1alpha1.EndedByLayer, "not-found", 404), "answered by layer not-found", "no layer knows the path", "route?"},
		{ended(v1alpha1.EndedByLayer, "kube-apiserver", 200), "answered by layer kube-apiserver with 200 OK", "", ""},
	} {
		verdict, why := Verdict(test.trace), Why(test.trace)
		if !strings.Contains(verdict, test.verdict) || !strings.Contains(why, test.why) || test.why == "" && why != "" {
			t.Errorf("%q: %q, want %q: %q", verdict, why, test.verdict, test.why)
		}
		var places []string
		for _, step := range Next(test.trace) {
			places = append(places, step.Open.String())
		}
		if got := strings.Join(places, " "); !strings.Contains(got, test.next) || test.next == "" && got != "" {
			t.Errorf("%q leads to %q, want %q", verdict, got, test.next)
		}
	}
}
