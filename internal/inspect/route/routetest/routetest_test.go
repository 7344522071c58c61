package routetest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func TestGenerateMakesTheSameRequestsAgain(t *testing.T) {
	t.Parallel()
	first := Generate(7, 200, World{})
	if !reflect.DeepEqual(first, Generate(7, 200, World{})) {
		t.Error("the same seed makes other requests")
	}
	if reflect.DeepEqual(first, Generate(8, 200, World{})) {
		t.Error("another seed makes the same requests")
	}
	for _, one := range first {
		writes := slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, one.Method) && !slices.Contains(fixed, one.Target)
		if writes && !strings.Contains(one.Target, "dryRun=All") {
			t.Errorf("%+v would change something", one)
		}
	}
}

func TestDisagreements(t *testing.T) {
	t.Parallel()
	layer := v1alpha1.EndedBy{Kind: v1alpha1.EndedByLayer, Name: "kube-apiserver"}
	said := v1alpha1.RouteExplanationStatus{
		RequestInfo: &v1alpha1.RequestInfo{Verb: "create"}, Layer: "kube-apiserver", Hops: []string{"aggregator", "kube-apiserver"},
		FlowSchema: "global-default", PriorityLevel: "global-default", AdmissionPlugins: []string{"ResourceQuota"}, TerminatedBy: &layer,
	}
	spec := v1alpha1.RequestTraceSpec{RequestInfo: &v1alpha1.RequestInfo{Verb: "create"}}
	was := v1alpha1.RequestTraceStatus{
		Code: 403, AnsweredBy: "kube-apiserver", Hops: []v1alpha1.LayerHop{{Layer: "aggregator"}, {Layer: "kube-apiserver"}},
		FlowSchema: "global-default", PriorityLevel: "global-default", TerminatedBy: v1alpha1.EndedBy{Kind: v1alpha1.EndedByAdmission, Name: "ResourceQuota"},
	}
	if got := Disagreements(said, spec, was); len(got) != 0 {
		t.Error(got)
	}
	was.TerminatedBy.Name, was.Hops, was.FlowSchema = "PodSecurity", was.Hops[:1], "catch-all"
	said.Code = 404
	if got := Disagreements(said, spec, was); len(got) != 4 {
		t.Error(got)
	}
}
