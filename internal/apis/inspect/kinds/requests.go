package kinds

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func requestKinds() []Kind {
	return []Kind{traces(), flows()}
}

func traces() Kind {
	type object = *v1alpha1.RequestTrace
	user := func(o object) string {
		if o.Spec.User == nil {
			return ""
		}
		return o.Spec.User.Name
	}
	info := func(value func(*v1alpha1.RequestInfo) string) func(Object) string {
		return field(func(o object) string {
			if o.Spec.RequestInfo == nil {
				return ""
			}
			return value(o.Spec.RequestInfo)
		})
	}
	return Kind{
		Resource: "requesttraces", Singular: "requesttrace", Kind: "RequestTrace", ShortNames: []string{"trace", "traces"}, Busy: true,
		New:     func() runtime.Object { return &v1alpha1.RequestTrace{} },
		NewList: func() runtime.Object { return &v1alpha1.RequestTraceList{} },
		Columns: []Column{
			column("Verb", "string", "Kubernetes verb", func(o object) any { return o.Spec.Verb }),
			column("Path", "string", "Path of the URL", func(o object) any { return o.Spec.Path }),
			column("User", "string", "Who asked", func(o object) any { return user(o) }),
			column("Code", "integer", "HTTP status code", func(o object) any { return int64(o.Status.Code) }),
			column("Ended-By", "string", "Filter, plugin or layer that ended it", func(o object) any { return o.Status.TerminatedBy.Name }),
			column("Duration", "string", "Time until the chain was done with it", func(o object) any { return Took(o.Status.Duration) }),
			since("Age", "Time since it was received", func(o object) *metav1.MicroTime { return &o.Status.ReceivedAt }),
			wide("Priority-Level", "string", "Priority level of priority and fairness", func(o object) any { return o.Status.PriorityLevel }),
			wide("Flow-Schema", "string", "Flow schema that took it", func(o object) any { return o.Status.FlowSchema }),
			wide("Bytes", "string", "Size of the answer", func(o object) any { return Size(o.Status.BytesWritten) }),
			wide("User-Agent", "string", "What the client calls itself", func(o object) any { return short(o.Spec.UserAgent, 40) }),
			wide("Audit-ID", "string", "Its ID in audit logs", func(o object) any { return o.Spec.AuditID }),
		},
		Fields: map[string]func(Object) string{
			"spec.auditID":              field(func(o object) string { return o.Spec.AuditID }),
			"spec.verb":                 field(func(o object) string { return o.Spec.Verb }),
			"spec.method":               field(func(o object) string { return o.Spec.Method }),
			"spec.path":                 field(func(o object) string { return o.Spec.Path }),
			"spec.user.name":            field(user),
			"spec.requestInfo.apiGroup": info(func(i *v1alpha1.RequestInfo) string { return i.APIGroup }),
			"spec.requestInfo.resource": info(func(i *v1alpha1.RequestInfo) string { return i.Resource }),
			"status.code":               field(func(o object) string { return strconv.Itoa(int(o.Status.Code)) }),
			"status.answeredBy":         field(func(o object) string { return o.Status.AnsweredBy }),
			"status.terminatedBy.kind":  field(func(o object) string { return string(o.Status.TerminatedBy.Kind) }),
			"status.terminatedBy.name":  field(func(o object) string { return o.Status.TerminatedBy.Name }),
			"status.priorityLevel":      field(func(o object) string { return o.Status.PriorityLevel }),
			"status.slow":               field(func(o object) string { return toString(o.Status.Slow) }),
			"status.panicked":           field(func(o object) string { return toString(o.Status.Panicked) }),
			"status.failed":             field(func(o object) string { return toString(o.Status.Failed) }),
		},
	}
}

func flows() Kind {
	type object = *v1alpha1.FlowState
	return Kind{
		Resource: "flowstates", Singular: "flowstate", Kind: "FlowState", ShortNames: []string{"flow", "flows"},
		New:     func() runtime.Object { return &v1alpha1.FlowState{} },
		NewList: func() runtime.Object { return &v1alpha1.FlowStateList{} },
		Columns: []Column{
			column("Type", "string", "Limited or Exempt", func(o object) any { return o.Spec.Type }),
			column("Seats", "integer", "Seats that running requests take", func(o object) any { return o.Status.SeatsInUse }),
			column("Limit", "string", "Seats that it may take now", func(o object) any { return limit(o, o.Status.SeatsLimit) }),
			column("Queued", "integer", "Requests that wait", func(o object) any { return o.Status.Queued }),
			column("Dispatched", "integer", "Requests that were let run", func(o object) any { return o.Status.Dispatched }),
			column("Rejected", "integer", "Requests that were refused", func(o object) any { return o.Status.Rejected }),
			wide("Nominal", "string", "Its configured share of all seats", func(o object) any { return limit(o, o.Status.SeatsNominal) }),
			wide("Executing", "integer", "Requests that run", func(o object) any { return o.Status.Executing }),
			wide("Queues", "integer", "Queues that it has", func(o object) any { return int64(o.Spec.Queues) }),
			wide("Flow-Schemas", "string", "Flow schemas that lead to it", func(o object) any { return list(o.Spec.FlowSchemas) }),
		},
		Fields: map[string]func(Object) string{
			"spec.type": field(func(o object) string { return o.Spec.Type }),
		},
	}
}

func limit(o *v1alpha1.FlowState, seats int64) string {
	if o.Spec.Type == "Exempt" {
		return "none"
	}
	return strconv.FormatInt(seats, 10)
}
