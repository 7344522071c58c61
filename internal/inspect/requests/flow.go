package requests

import (
	"cmp"
	"context"
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
	fairqueuing "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	flowcontrolrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// FlowControl returns next with the flow schema and priority level of each request
// noted in its trace, also of those that are refused. It is to replace the FlowControl
// of the generic configuration before the handler chain is built; nil stays nil. The
// filter tells clients the UIDs of both only, and their names nobody.
func (o *Observer) FlowControl(next utilflowcontrol.Interface) utilflowcontrol.Interface {
	if next == nil {
		return nil
	}
	return &flowControl{Interface: next, observer: o}
}

type flowControl struct {
	utilflowcontrol.Interface
	observer *Observer
}

// Handle implements utilflowcontrol.Interface.
func (f *flowControl) Handle(ctx context.Context, digest utilflowcontrol.RequestDigest,
	note func(*flowcontrolv1.FlowSchema, *flowcontrolv1.PriorityLevelConfiguration, string),
	workEstimator func() flowcontrolrequest.WorkEstimate, queueNote fairqueuing.QueueNoteFn, execute func(),
) {
	observed := note
	if t := f.observer.trace(ctx); t != nil {
		observed = func(schema *flowcontrolv1.FlowSchema, level *flowcontrolv1.PriorityLevelConfiguration, distinguisher string) {
			t.note(func() { t.flowSchema, t.priorityLevel = schema.Name, level.Name })
			note(schema, level, distinguisher)
		}
	}
	f.Interface.Handle(ctx, digest, observed, workEstimator, queueNote, execute)
}

// maxFlowUsers is how many users of a priority level are named.
const maxFlowUsers = 10

// FlowUsers returns the users with the most requests in a priority level among the
// traces that are kept, the one with the most first.
func (o *Observer) FlowUsers(priorityLevel string) []v1alpha1.FlowUser {
	if priorityLevel == "" {
		return nil
	}
	counts := map[string]int64{}
	for _, entry := range o.traces.Entries() {
		if t, ok := entry.(*trace); ok && t.priorityLevel == priorityLevel && t.user.name != "" {
			counts[t.user.name]++
		}
	}
	users := make([]v1alpha1.FlowUser, 0, len(counts))
	for name, requests := range counts {
		users = append(users, v1alpha1.FlowUser{Name: name, Requests: requests})
	}
	slices.SortFunc(users, func(a, b v1alpha1.FlowUser) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	return users[:min(len(users), maxFlowUsers)]
}
