package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func chainKinds() []Kind {
	type layer = *v1alpha1.ServerLayer
	type filter = *v1alpha1.Filter
	return []Kind{
		{
			Resource: "serverlayers", Singular: "serverlayer", Kind: "ServerLayer", ShortNames: []string{"layer", "layers"},
			New:     func() runtime.Object { return &v1alpha1.ServerLayer{} },
			NewList: func() runtime.Object { return &v1alpha1.ServerLayerList{} },
			Columns: []Column{
				column("Order", "integer", "Place in the chain, outermost first", func(o layer) any { return int64(o.Spec.Order) }),
				column("Delegate", "string", "Layer that unknown requests are passed on to", func(o layer) any { return o.Spec.Delegate }),
				column("Received", "integer", "Requests that have entered the layer", func(o layer) any { return o.Status.RequestsReceived }),
				column("Answered", "integer", "Requests that the layer has answered", func(o layer) any { return o.Status.RequestsAnswered }),
				column("Passed-On", "integer", "Requests passed on to the delegate", func(o layer) any { return o.Status.RequestsPassedOn }),
				column("In-Flight", "integer", "Requests in the layer now", func(o layer) any { return o.Status.RequestsInFlight }),
				since("Last-Error", "Time since the last answer of 500 or more", func(o layer) *metav1.MicroTime {
					if o.Status.LastError == nil {
						return nil
					}
					return &o.Status.LastError.At
				}),
				wide("Abandoned", "integer", "Requests that a filter answered in its place", func(o layer) any { return o.Status.RequestsAbandoned }),
				wide("Proxied", "integer", "Requests answered by aggregated servers", func(o layer) any { return o.Status.RequestsProxied }),
				wide("Answers", "string", "Answers by status code", func(o layer) any { return Codes(o.Status.Answers) }),
				wide("Group-Versions", "integer", "Group versions that the layer serves", func(o layer) any { return int64(len(o.Spec.GroupVersions)) }),
				wide("Paths", "integer", "Paths that the layer lists", func(o layer) any { return int64(len(o.Spec.ListedPaths)) }),
			},
		},
		{
			Resource: "filters", Singular: "filter", Kind: "Filter", ShortNames: []string{"chain"},
			New:     func() runtime.Object { return &v1alpha1.Filter{} },
			NewList: func() runtime.Object { return &v1alpha1.FilterList{} },
			Columns: []Column{
				column("Order", "integer", "Place in the handler chain, outermost first", func(o filter) any { return int64(o.Spec.Order) }),
				column("Enabled", "boolean", "Whether the filter is part of the chain", func(o filter) any { return o.Spec.Enabled }),
				column("Requests", "integer", "Requests that have entered the filter", func(o filter) any { return o.Status.Requests }),
				column("In-Flight", "integer", "Requests in the filter or further in now", func(o filter) any { return o.Status.InFlight }),
				column("Terminated", "string", "Requests that the filter has ended, by status code", func(o filter) any { return Codes(o.Status.Terminated) }),
				column("P50", "string", "Median of its own work on the way in", func(o filter) any { return Took(o.Status.In.P50) }),
				column("P99", "string", "99th percentile of its own work on the way in", func(o filter) any { return Took(o.Status.In.P99) }),
				wide("Max", "string", "Longest own work on the way in", func(o filter) any { return Took(o.Status.In.Max) }),
				wide("Back-P50", "string", "Median of its own work on the way back", func(o filter) any { return Took(o.Status.Back.P50) }),
				wide("Back-P99", "string", "99th percentile of its own work on the way back", func(o filter) any { return Took(o.Status.Back.P99) }),
				wide("Passed-On", "integer", "Requests answered further in", func(o filter) any { return o.Status.PassedOn }),
				wide("Abandoned", "integer", "Requests answered for it by a filter further out", func(o filter) any { return o.Status.Abandoned }),
				wide("Reason", "string", "Why the filter is off", func(o filter) any { return o.Spec.Reason }),
			},
			Fields: map[string]func(Object) string{
				"spec.enabled": field(func(o filter) string { return toString(o.Spec.Enabled) }),
			},
		},
	}
}
