package auth

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	flowcontrollisters "k8s.io/client-go/listers/flowcontrol/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// FlowConfig is what Flow needs.
type FlowConfig struct {
	// ServerID stands in the objects.
	ServerID string
	// FlowSchemas and PriorityLevels are the server's own listers; nil when
	// priority and fairness is off.
	FlowSchemas    flowcontrollisters.FlowSchemaLister
	PriorityLevels flowcontrollisters.PriorityLevelConfigurationLister
	// Gatherer has upstream's metrics; nil means those of the process.
	Gatherer metrics.Gatherer
	// Users, if set, returns who used a priority level most, of late.
	Users func(priorityLevel string) []v1alpha1.FlowUser
}

// Flow shows priority and fairness as it is now: its configuration joined with
// the numbers that upstream counts.
type Flow struct {
	cfg FlowConfig
}

// NewFlow returns a Flow.
func NewFlow(cfg FlowConfig) *Flow {
	if cfg.Gatherer == nil {
		cfg.Gatherer = legacyregistry.DefaultGatherer
	}
	return &Flow{cfg}
}

// Collect returns the priority levels by name: none when priority and fairness is off.
func (f *Flow) Collect(context.Context) ([]store.Object, error) {
	if f.cfg.FlowSchemas == nil || f.cfg.PriorityLevels == nil {
		return nil, nil
	}
	levels, err := f.cfg.PriorityLevels.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing priority levels: %w", err)
	}
	schemas, err := f.cfg.FlowSchemas.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing flow schemas: %w", err)
	}
	counted, err := f.gather()
	if err != nil {
		return nil, err
	}
	byName := func(a, b *flowcontrolv1.PriorityLevelConfiguration) int { return strings.Compare(a.Name, b.Name) }
	objects := make([]store.Object, 0, len(levels))
	for _, level := range slices.SortedFunc(slices.Values(levels), byName) {
		objects = append(objects, f.object(level, schemas, counted))
	}
	return objects, nil
}

func (f *Flow) object(level *flowcontrolv1.PriorityLevelConfiguration, schemas []*flowcontrolv1.FlowSchema, counted map[string]*v1alpha1.FlowStateStatus) *v1alpha1.FlowState {
	object := &v1alpha1.FlowState{
		ObjectMeta: metav1.ObjectMeta{Name: objectName(level.Name), CreationTimestamp: level.CreationTimestamp},
		ServerID:   f.cfg.ServerID,
		Spec:       v1alpha1.FlowStateSpec{Type: string(level.Spec.Type)},
	}
	if limited := level.Spec.Limited; limited != nil && limited.LimitResponse.Queuing != nil {
		object.Spec.Queues = limited.LimitResponse.Queuing.Queues
	}
	for _, schema := range inOrder(schemas) {
		if schema.Spec.PriorityLevelConfiguration.Name == level.Name {
			object.Spec.FlowSchemas = append(object.Spec.FlowSchemas, schema.Name)
		}
	}
	if status := counted[level.Name]; status != nil {
		object.Status = *status
	}
	if level.Spec.Type == flowcontrolv1.PriorityLevelEnablementExempt {
		// What it may lend is counted as seats, and bounds nothing.
		object.Status.SeatsNominal, object.Status.SeatsLimit = 0, 0
	}
	byName := func(a, b v1alpha1.Flow) int { return strings.Compare(a.FlowSchema, b.FlowSchema) }
	slices.SortFunc(object.Status.Flows, byName)
	if f.cfg.Users != nil {
		object.Status.Users = f.cfg.Users(level.Name)
	}
	return object
}

// inOrder returns flow schemas in the order in which requests are matched.
func inOrder(schemas []*flowcontrolv1.FlowSchema) []*flowcontrolv1.FlowSchema {
	return slices.SortedFunc(slices.Values(schemas), func(a, b *flowcontrolv1.FlowSchema) int {
		return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), strings.Compare(a.Name, b.Name))
	})
}

// gather reads the metrics into statuses by priority level.
func (f *Flow) gather() (map[string]*v1alpha1.FlowStateStatus, error) {
	gathered, err := f.cfg.Gatherer.Gather()
	if len(gathered) == 0 && err != nil {
		return nil, fmt.Errorf("gathering metrics: %w", err) // else some other family is broken
	}
	return families.Of(gathered).Flow(), nil
}
