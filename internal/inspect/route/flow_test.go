package route

import (
	"context"
	"slices"
	"testing"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/util/flowcontrol"
	fcrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kapi-dev/kapi/internal/inspect/route/routetest"
)

// ours are flow schemas with what the bootstrap ones do not have.
func ours() []*flowcontrolv1.FlowSchema {
	schema := func(name string, precedence int32, rule flowcontrolv1.PolicyRulesWithSubjects) *flowcontrolv1.FlowSchema {
		return &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "catch-all"},
			MatchingPrecedence:         precedence, Rules: []flowcontrolv1.PolicyRulesWithSubjects{rule},
		}}
	}
	everybody := []flowcontrolv1.Subject{{Kind: "Group", Group: &flowcontrolv1.GroupSubject{Name: "*"}}}
	robots := []flowcontrolv1.Subject{{Kind: "ServiceAccount", ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: "team-a", Name: "*"}}}
	return []*flowcontrolv1.FlowSchema{
		schema("b-robots", 600, flowcontrolv1.PolicyRulesWithSubjects{Subjects: robots, ResourceRules: []flowcontrolv1.ResourcePolicyRule{
			{Verbs: []string{"get", "list", "patch"}, APIGroups: []string{"", "apps"}, Resources: []string{"pods/exec", "pods"}, Namespaces: []string{"team-a"}},
		}}),
		schema("a-status", 600, flowcontrolv1.PolicyRulesWithSubjects{Subjects: everybody, ResourceRules: []flowcontrolv1.ResourcePolicyRule{
			{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"pods/status", "deployments/scale"}, ClusterScope: true, Namespaces: []string{"*"}},
		}}),
		schema("paths", 50, flowcontrolv1.PolicyRulesWithSubjects{Subjects: everybody, NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{
			{Verbs: []string{"get"}, NonResourceURLs: []string{"/healthz/*", "/openapi", "/version"}},
		}}),
	}
}

func TestClassifyIsWhatPriorityAndFairnessDoes(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	for _, level := range slices.Concat(bootstrap.MandatoryPriorityLevelConfigurations, bootstrap.SuggestedPriorityLevelConfigurations) {
		_ = client.Tracker().Add(level)
	}
	for _, schema := range slices.Concat(ours(), bootstrap.MandatoryFlowSchemas, bootstrap.SuggestedFlowSchemas) {
		if err := client.Tracker().Add(schema); err != nil {
			t.Fatal(err)
		}
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	controller := flowcontrol.New(factory, client.FlowcontrolV1(), 1000)
	explainer := New(Config{RequestInfo: resolver(), FlowSchemas: factory.Flowcontrol().V1().FlowSchemas().Lister()})
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = controller.Run(ctx.Done()) }()
	t.Cleanup(func() { cancel(); <-ended; factory.Shutdown() })

	classified := func(digest flowcontrol.RequestDigest) (name string) {
		controller.Handle(t.Context(), digest,
			func(fs *flowcontrolv1.FlowSchema, _ *flowcontrolv1.PriorityLevelConfiguration, _ string) {
				name = fs.Name
			},
			func() fcrequest.WorkEstimate { return fcrequest.WorkEstimate{InitialSeats: 1} }, func(bool) {}, func() {})
		return name
	}
	waitForConfiguration(t, classified)
	used := map[string]int{}
	for _, one := range routetest.Generate(1, 4000, world) {
		_, info, err := explainer.newRequest(t.Context(), one.Spec)
		if err != nil {
			t.Fatal(one, err)
		}
		digest := flowcontrol.RequestDigest{RequestInfo: info, User: named(one.Spec)}
		got, err := explainer.classify(digest.User, info)
		if err != nil {
			t.Fatal(err)
		}
		if want := classified(digest); got == nil || got.Name != want {
			t.Errorf("%+v: %v, priority and fairness says %s", one, got, want)
		}
		if got != nil {
			used[got.Name]++
		}
	}
	for _, name := range []string{"a-status", "b-robots", "paths", "exempt", "system-nodes", "probes", "global-default", "service-accounts"} {
		if used[name] == 0 {
			t.Errorf("no request came to flow schema %s: %v", name, used)
		}
	}
}

// waitForConfiguration returns when the controller has read the flow schemas: before
// that all requests are in catch-all.
func waitForConfiguration(t *testing.T, classified func(flowcontrol.RequestDigest) string) {
	t.Helper()
	digest := flowcontrol.RequestDigest{
		RequestInfo: &request.RequestInfo{Verb: "get", Path: "/version"}, User: &user.DefaultInfo{Name: "alice"},
	}
	for deadline := time.Now().Add(time.Minute); classified(digest) != "paths"; {
		if time.Now().After(deadline) {
			t.Fatal("flow schema paths is never used")
		}
	}
}
