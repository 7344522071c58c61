package families

import (
	"maps"
	"slices"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// flowMetrics are the metrics of flow control that are shown: where a value is added
// to, of the level and, if there is one, of the flow.
// Source: k8s.io/apiserver/pkg/util/flowcontrol/metrics.
var flowMetrics = map[string]struct {
	level func(*v1alpha1.FlowStateStatus) *int64
	flow  func(*v1alpha1.Flow) *int64
}{
	"apiserver_flowcontrol_nominal_limit_seats": {
		level: func(s *v1alpha1.FlowStateStatus) *int64 { return &s.SeatsNominal },
	},
	"apiserver_flowcontrol_current_limit_seats": {
		level: func(s *v1alpha1.FlowStateStatus) *int64 { return &s.SeatsLimit },
	},
	"apiserver_flowcontrol_current_executing_seats": {
		level: func(s *v1alpha1.FlowStateStatus) *int64 { return &s.SeatsInUse },
	},
	"apiserver_flowcontrol_current_executing_requests": {
		level: func(s *v1alpha1.FlowStateStatus) *int64 { return &s.Executing },
		flow:  func(f *v1alpha1.Flow) *int64 { return &f.Executing },
	},
	"apiserver_flowcontrol_current_inqueue_requests": {
		level: func(s *v1alpha1.FlowStateStatus) *int64 { return &s.Queued },
		flow:  func(f *v1alpha1.Flow) *int64 { return &f.Queued },
	},
	"apiserver_flowcontrol_dispatched_requests_total": {
		level: func(s *v1alpha1.FlowStateStatus) *int64 { return &s.Dispatched },
		flow:  func(f *v1alpha1.Flow) *int64 { return &f.Dispatched },
	},
	"apiserver_flowcontrol_rejected_requests_total": {
		level: func(s *v1alpha1.FlowStateStatus) *int64 { return &s.Rejected },
		flow:  func(f *v1alpha1.Flow) *int64 { return &f.Rejected },
	},
}

// FlowMetrics are the names of the families that Flow reads.
func FlowMetrics() []string { return slices.Sorted(maps.Keys(flowMetrics)) }

// Flow reads what flow control counts, by the name of the priority level.
func (f Families) Flow() map[string]*v1alpha1.FlowStateStatus {
	statuses := map[string]*v1alpha1.FlowStateStatus{}
	for family, to := range flowMetrics {
		for _, metric := range f[family] {
			level := Label(metric, "priority_level")
			if statuses[level] == nil {
				statuses[level] = &v1alpha1.FlowStateStatus{}
			}
			value := int64(Value(metric))
			*to.level(statuses[level]) += value
			if schema := Label(metric, "flow_schema"); to.flow != nil && schema != "" {
				*to.flow(flowOf(statuses[level], schema)) += value
			}
		}
	}
	return statuses
}

// flowOf returns the flow of a schema, and adds it if there is none.
func flowOf(status *v1alpha1.FlowStateStatus, schema string) *v1alpha1.Flow {
	i := slices.IndexFunc(status.Flows, func(f v1alpha1.Flow) bool { return f.FlowSchema == schema })
	if i < 0 {
		i = len(status.Flows)
		status.Flows = append(status.Flows, v1alpha1.Flow{FlowSchema: schema})
	}
	return &status.Flows[i]
}
