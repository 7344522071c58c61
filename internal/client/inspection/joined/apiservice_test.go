package joined

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func TestAPIServiceStates(t *testing.T) {
	reached := failedAt("", "")
	reached.Status.Probes[0].OK = true
	deleted := apiService("api", "True", "Passed", "")
	at := metav1.NewTime(noon)
	deleted.DeletionTimestamp = &at
	for name, c := range map[string]struct {
		object   *apiregistrationv1.APIService
		probe    *v1alpha1.APIServiceProbe
		word     string
		severity Severity
		why      string
	}{
		"local":       {apiService("", "True", "Local", ""), nil, "Available", OK, ""},
		"available":   {apiService("api", "True", "Passed", ""), reached, "Available", OK, ""},
		"failing":     {apiService("api", "True", "Passed", ""), failedAt("dial", "refused"), "Available", Warning, "the last probe failed at dial: refused"},
		"unavailable": {apiService("api", "False", "FailedDiscoveryCheck", "EOF"), failedAt("tls", "tls: EOF"), "Unavailable", Bad, "tls: EOF"},
		"unprobed":    {apiService("api", "False", "ServiceNotFound", "service/api is not present"), nil, "Unavailable", Bad, "service/api is not present"},
		"new":         {apiService("api", "", "", ""), nil, "Unknown", Warning, "no controller has looked at it yet"},
		"deleted":     {deleted, nil, "Terminating", Warning, "it is being deleted"},
	} {
		parts := APIServiceParts{APIService: c.object}
		if c.probe != nil {
			parts.Probes = []*v1alpha1.APIServiceProbe{c.probe}
		}
		got := JoinAPIService(parts)
		if got.State.Word != c.word || got.State.Severity != c.severity || got.State.Why != c.why {
			t.Errorf("%s: %+v, want %s %s %q", name, got.State, c.word, c.severity, c.why)
		}
		if line := NewAPIServiceIndex(parts.Probes, nil).Line(c.object); line.State != got.State {
			t.Errorf("%s: the line says %+v, the whole %+v", name, line.State, got.State)
		}
	}
}

func TestAPIServiceHints(t *testing.T) {
	for _, c := range []struct {
		step     v1alpha1.ProbeStepName
		err, say string
	}{
		{"service", "service default/api does not exist", "Create Service default/api, or on a kapi map it: kapi serve --map-service default/api:443=HOST:PORT."},
		{"service", "service default/api has no port 443", "Add port 443"},
		{"endpoint", `no endpoints available for service "api"`, "-n default get endpointslices -l kubernetes.io/service-name=api"},
		{"dial", "dial tcp 10.0.0.7:443: connect: connection refused", "Nothing listens at 10.0.0.7:443"},
		{"dial", "no answer in time: i/o timeout", "Check that 10.0.0.7:443 can be reached"},
		{"tls", "x509: certificate signed by unknown authority", "spec.caBundle"},
		{"tls", "caBundle of the APIService has no certificate", "PEM"},
		{"tls", "x509: certificate has expired or is not yet valid", "Renew"},
		{"tls", "x509: certificate is valid for other, not api.default.svc", "api.default.svc"},
		{"tls", "EOF", "TLS 1.2"},
		{"status", "the server answered GET /apis/example.com/v1: 403 Forbidden", "extension-apiserver-authentication"},
		{"status", "the server answered GET /apis/example.com/v1: 404 Not Found", "does not serve this group version"},
		{"status", "the server answered GET /apis/example.com/v1: 500 Internal Server Error", "Read the log"},
	} {
		a := JoinAPIService(APIServiceParts{
			APIService: apiService("api", "False", "", ""), Probes: []*v1alpha1.APIServiceProbe{failedAt(c.step, c.err)},
		})
		if !strings.Contains(a.Hint, c.say) || a.FailingStep != c.step {
			t.Errorf("%s, %q: at %s %q, want %q in it", c.step, c.err, a.FailingStep, a.Hint, c.say)
		}
	}
}

// A server that does not probe step by step still has the condition's reason.
func TestAPIServiceHintsOfReasons(t *testing.T) {
	for _, c := range []struct{ reason, message, say string }{
		{"ServiceNotFound", "service/api is not present", "Create Service"},
		{"ServicePortError", "service/api is not listening on port 443", "Add port"},
		{"EndpointsNotFound", "cannot find endpointslices", "Start what Service"},
		{"MissingEndpoints", "endpoints have no addresses", "Start what Service"},
		{"FailedDiscoveryCheck", "dial tcp: connect: connection refused", "Nothing listens at its address"},
		{"FailedDiscoveryCheck", "x509: certificate signed by unknown authority", "spec.caBundle"},
		{"FailedDiscoveryCheck", "bad status from https://10.0.0.7/apis: 500", "Read the log"},
		{"SomethingNew", "", ""},
	} {
		a := JoinAPIService(APIServiceParts{APIService: apiService("api", "False", c.reason, c.message)})
		if !strings.Contains(a.Hint, c.say) || (c.say == "") != (a.Hint == "") {
			t.Errorf("%s, %q: %q, want %q in it", c.reason, c.message, a.Hint, c.say)
		}
	}
}

func TestAPIServiceSteps(t *testing.T) {
	probe := failedAt("dial", "refused")
	good := probe.Status.Probes[0]
	good.OK, good.At = true, metav1.NewMicroTime(noon.Add(-time.Minute))
	probe.Status.Probes = append(probe.Status.Probes, good)
	a := JoinAPIService(APIServiceParts{APIService: apiService("api", "False", "", ""), Probes: []*v1alpha1.APIServiceProbe{probe}})
	var drawn []string
	for _, step := range a.Steps {
		drawn = append(drawn, string(step.Name)+map[bool]string{true: "", false: "?"}[step.Tried])
	}
	if got := strings.Join(drawn, " "); got != "service endpoint dial tls? status?" {
		t.Errorf("steps %s", got)
	}
	if a.Succeeded != 1 || len(a.Probes) != 2 || a.Probes[0].FailingStep != "dial" || a.Probes[1].FailingStep != "" {
		t.Errorf("%d succeeded of %+v", a.Succeeded, a.Probes)
	}
}
