package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

const (
	levelsResource = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
	dumpPath       = "/debug/api_priority_and_fairness/dump_priority_levels"
)

// flowStates finds the priority levels: their configuration is in the API, what
// they hold is in the metrics, or else, with less, in a dump.
func (s *Server) flowStates(ctx context.Context, _ inspection.Query) (*finding, error) {
	f := &finding{}
	levels, noLevels := s.client.FlowcontrolV1().PriorityLevelConfigurations().List(ctx, metav1.ListOptions{})
	schemas, noSchemas := s.client.FlowcontrolV1().FlowSchemas().List(ctx, metav1.ListOptions{})
	states, noMetrics := s.measuredLevels(ctx)
	if noMetrics != nil {
		f.gap(why(noMetrics, metricsPath), "Seats", "Limit", "Nominal")
		var noDump error
		if states, noDump = s.dumpedLevels(ctx); noDump != nil {
			if noLevels != nil {
				return nil, errors.Join(noMetrics, noLevels)
			}
			f.gap(why(noMetrics, metricsPath), "Queued", "Dispatched", "Rejected", "Executing")
		}
	}
	if noLevels != nil {
		f.gap(whyNot(noLevels, "list", levelsResource), "Type", "Queues")
	} else {
		configureLevels(states, levels.Items)
	}
	if noSchemas != nil {
		f.gap(whyNot(noSchemas, "list", "flowschemas.flowcontrol.apiserver.k8s.io"), "Flow-Schemas")
	} else {
		leadTo(states, schemas.Items)
	}
	for _, name := range sortedKeys(states) {
		state := states[name]
		if state.Spec.Type == string(flowcontrolv1.PriorityLevelEnablementExempt) {
			// What it may lend is counted as seats, and bounds nothing.
			state.Status.SeatsNominal, state.Status.SeatsLimit = 0, 0
		}
		slices.SortFunc(state.Status.Flows, func(a, b v1alpha1.Flow) int { return strings.Compare(a.FlowSchema, b.FlowSchema) })
		f.add(state)
	}
	if len(f.objects) == 0 {
		f.gap("this server has no priority and fairness", "")
	}
	f.emptyFor("no flow schema leads to a level", "Flow-Schemas")
	return f, nil
}

func stateOf(states map[string]*v1alpha1.FlowState, name string) *v1alpha1.FlowState {
	if states[name] == nil {
		states[name] = &v1alpha1.FlowState{ObjectMeta: named(name)}
	}
	return states[name]
}

func (s *Server) measuredLevels(ctx context.Context) (map[string]*v1alpha1.FlowState, error) {
	states := map[string]*v1alpha1.FlowState{}
	metrics, err := s.metrics(ctx, families.FlowMetrics()...)
	if err != nil {
		return states, err
	}
	for level, status := range metrics.Flow() {
		stateOf(states, level).Status = *status
	}
	return states, nil
}

// dumpedLevels reads the dump of priority levels, a table with commas.
func (s *Server) dumpedLevels(ctx context.Context) (map[string]*v1alpha1.FlowState, error) {
	states := map[string]*v1alpha1.FlowState{}
	body, err := s.get(ctx, dumpPath, "*/*")
	if err != nil {
		return states, err
	}
	return parseLevels(body), nil
}

func parseLevels(body []byte) map[string]*v1alpha1.FlowState {
	states := map[string]*v1alpha1.FlowState{}
	lines := bufio.NewScanner(bytes.NewReader(body))
	var heading []string
	for lines.Scan() {
		cells := strings.Split(lines.Text(), ",")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if heading == nil {
			heading = cells
			continue
		}
		if len(cells) < len(heading) || cells[0] == "" || cells[0] == "<none>" {
			continue
		}
		number := func(name string) int64 {
			i := slices.Index(heading, name)
			if i < 0 {
				return 0
			}
			n, _ := strconv.ParseInt(cells[i], 10, 64) // what is no number counts as nothing
			return n
		}
		status := &stateOf(states, cells[0]).Status
		status.Executing, status.Queued = number("ExecutingRequests"), number("WaitingRequests")
		status.Dispatched, status.Rejected = number("DispatchedRequests"), number("RejectedRequests")+number("TimedoutRequests")
	}
	return states
}

func configureLevels(states map[string]*v1alpha1.FlowState, levels []flowcontrolv1.PriorityLevelConfiguration) {
	for i := range levels {
		level := &levels[i]
		state := stateOf(states, level.Name)
		state.CreationTimestamp = level.CreationTimestamp
		state.Spec.Type = string(level.Spec.Type)
		if limited := level.Spec.Limited; limited != nil && limited.LimitResponse.Queuing != nil {
			state.Spec.Queues = limited.LimitResponse.Queuing.Queues
		}
	}
}

// leadTo notes the flow schemas of each level, in the order in which they match.
func leadTo(states map[string]*v1alpha1.FlowState, schemas []flowcontrolv1.FlowSchema) {
	slices.SortFunc(schemas, func(a, b flowcontrolv1.FlowSchema) int {
		return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), strings.Compare(a.Name, b.Name))
	})
	for i := range schemas {
		if state := states[schemas[i].Spec.PriorityLevelConfiguration.Name]; state != nil {
			state.Spec.FlowSchemas = append(state.Spec.FlowSchemas, schemas[i].Name)
		}
	}
}
