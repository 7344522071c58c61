package routetest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Disagreements compares an explanation with the trace of the same request, and
// says in words where they differ.
func Disagreements(explained v1alpha1.RouteExplanationStatus, spec v1alpha1.RequestTraceSpec, traced v1alpha1.RequestTraceStatus) []string {
	var all []string
	differ := func(what string, said, was any) {
		if !reflect.DeepEqual(said, was) {
			all = append(all, fmt.Sprintf("%s: said %v, was %v", what, said, was))
		}
	}
	if explained.RequestInfo != nil && spec.RequestInfo != nil {
		differ("requestInfo", *explained.RequestInfo, *spec.RequestInfo)
	}
	differ("answeredBy", explained.Layer, traced.AnsweredBy)
	hops := make([]string, 0, len(traced.Hops))
	for _, hop := range traced.Hops {
		hops = append(hops, hop.Layer)
	}
	if explained.Layer != "" {
		differ("hops", explained.Hops, hops)
	}
	differ("flowSchema", explained.FlowSchema, traced.FlowSchema)
	differ("priorityLevel", explained.PriorityLevel, traced.PriorityLevel)
	if explained.Code != 0 {
		differ("code", explained.Code, traced.Code)
	}
	if explained.TerminatedBy == nil {
		return append(all, "it is not said what ends the request")
	}
	switch {
	case traced.TerminatedBy.Kind == v1alpha1.EndedByAdmission && explained.TerminatedBy.Kind == v1alpha1.EndedByLayer:
		if !slices.Contains(explained.AdmissionPlugins, traced.TerminatedBy.Name) {
			all = append(all, fmt.Sprintf("admission plugin %s refused the change, but was not said to look at it", traced.TerminatedBy.Name))
		}
	default:
		differ("terminatedBy", *explained.TerminatedBy, traced.TerminatedBy)
	}
	return all
}
