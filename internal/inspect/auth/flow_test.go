package auth

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
	flowcontrolmetrics "k8s.io/apiserver/pkg/util/flowcontrol/metrics"
	fcrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// The metrics are the process's, so there is one such test.
func TestFlowIsWhatPriorityAndFairnessDoes(t *testing.T) {
	flowcontrolmetrics.Register()
	client := fake.NewClientset()
	for _, level := range bootstrap.MandatoryPriorityLevelConfigurations {
		_ = client.Tracker().Add(level)
	}
	_ = client.Tracker().Add(&flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "narrow"},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{Type: "Limited", Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: new(int32(5)), LendablePercent: new(int32(0)),
			LimitResponse: flowcontrolv1.LimitResponse{Type: "Queue", Queuing: &flowcontrolv1.QueuingConfiguration{Queues: 8, HandSize: 2, QueueLengthLimit: 10}},
		}},
	})
	for _, schema := range bootstrap.MandatoryFlowSchemas {
		_ = client.Tracker().Add(schema)
	}
	_ = client.Tracker().Add(&flowcontrolv1.FlowSchema{
		ObjectMeta: metav1.ObjectMeta{Name: "alices"},
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "narrow"}, MatchingPrecedence: 500,
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects:         []flowcontrolv1.Subject{{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "alice"}}},
				NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}},
			}},
		},
	})
	factory := informers.NewSharedInformerFactory(client, 0)
	controller := flowcontrol.New(factory, client.FlowcontrolV1(), 100)
	flow := NewFlow(FlowConfig{
		ServerID: "server-1", FlowSchemas: factory.Flowcontrol().V1().FlowSchemas().Lister(),
		PriorityLevels: factory.Flowcontrol().V1().PriorityLevelConfigurations().Lister(),
		Users: func(level string) []v1alpha1.FlowUser {
			return []v1alpha1.FlowUser{{Name: "user of " + level, Requests: 1}}
		},
	})
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = controller.Run(ctx.Done()) }()
	t.Cleanup(func() { cancel(); <-ended; factory.Shutdown() })

	run := func(name string, inside func()) (schema string) {
		digest := flowcontrol.RequestDigest{
			User:        &user.DefaultInfo{Name: name, Groups: []string{"system:authenticated"}},
			RequestInfo: &request.RequestInfo{Verb: "get", Path: "/version"},
		}
		controller.Handle(t.Context(), digest,
			func(fs *flowcontrolv1.FlowSchema, _ *flowcontrolv1.PriorityLevelConfiguration, _ string) {
				schema = fs.Name
			},
			func() fcrequest.WorkEstimate { return fcrequest.WorkEstimate{InitialSeats: 1} }, func(bool) {}, inside)
		return schema
	}
	deadline := time.Now().Add(time.Minute)
	for run("alice", func() {}) != "alices" { // until the controller has read its configuration
		if time.Now().After(deadline) {
			t.Fatal("flow schema alices is never used")
		}
	}
	before := level(t, flow, "narrow")
	run("alice", func() {
		now := level(t, flow, "narrow")
		if now.Status.Executing != 1 || now.Status.SeatsInUse != 1 || now.Status.Dispatched != before.Status.Dispatched+1 {
			t.Errorf("while one runs: %+v", now.Status)
		}
	})
	after := level(t, flow, "narrow")
	if after.Status.Executing != 0 || after.Status.SeatsNominal == 0 || after.Status.SeatsLimit == 0 || after.Status.Rejected != 0 {
		t.Errorf("after it: %+v", after.Status)
	}
	if after.Spec.Queues != 8 || !slices.Equal(after.Spec.FlowSchemas, []string{"alices"}) || after.Spec.Type != "Limited" {
		t.Errorf("spec %+v", after.Spec)
	}
	if len(after.Status.Flows) != 1 || after.Status.Flows[0].Dispatched != after.Status.Dispatched || after.Status.Users[0].Name != "user of narrow" {
		t.Errorf("flows %+v, users %+v", after.Status.Flows, after.Status.Users)
	}
	if exempt := level(t, flow, "exempt"); exempt.Spec.Type != "Exempt" || exempt.Spec.Queues != 0 {
		t.Errorf("exempt: %+v", exempt.Spec)
	}
}

func level(t *testing.T, flow *Flow, name string) *v1alpha1.FlowState {
	t.Helper()
	objects, err := flow.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object.GetName() == name {
			return object.(*v1alpha1.FlowState)
		}
	}
	t.Fatalf("no priority level %s among %v", name, objects)
	return nil
}

func TestFlowIsEmptyWhenItIsOff(t *testing.T) {
	t.Parallel()
	objects, err := NewFlow(FlowConfig{}).Collect(t.Context())
	if err != nil || len(objects) != 0 {
		t.Error(objects, err)
	}
}
