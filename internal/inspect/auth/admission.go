package auth

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// ConfiguredPlugin is one admission plugin that the server knows.
type ConfiguredPlugin struct {
	// Name is the plugin's ("NamespaceLifecycle").
	Name string
	// Enabled says whether it runs.
	Enabled bool
	// Mutating and Validating say what it does, for a plugin that does not run; of
	// one that runs it is seen.
	Mutating, Validating bool
	// Configured says what turned it on, or off, and the file that configures it.
	Configured v1alpha1.Configured
}

// AdmissionConfig is what Admission needs.
type AdmissionConfig struct {
	// ServerID stands in the objects.
	ServerID string
	// Plugins are all plugins, in the order in which they are asked.
	Plugins []ConfiguredPlugin
	// Rejected, if set, is called when a plugin refuses a change, with the context of the request.
	Rejected func(ctx context.Context, plugin string)
}

// Admission counts what admission plugins decide. It is an admission.Decorator,
// and must be the first of AdmissionOptions.Decorators: it has to see the plugin
// itself, as others hide what it implements.
type Admission struct {
	cfg AdmissionConfig

	lock    sync.Mutex
	plugins map[string]*plugin
}

var _ admission.Decorator = (*Admission)(nil)

// plugin is what is known of a plugin that runs. Each layer that has admission
// makes plugins of its own; those of one name are counted together.
type plugin struct {
	name                 string
	handler              admission.Interface // one of them; all handle the same
	mutating, validating bool
	rejected             func(ctx context.Context, plugin string)

	counter       counter
	lastRejection atomic.Pointer[metav1.MicroTime]
}

// NewAdmission returns an Admission that has seen nothing.
func NewAdmission(cfg AdmissionConfig) *Admission {
	return &Admission{cfg: cfg, plugins: map[string]*plugin{}}
}

// Decorate implements admission.Decorator. What it returns implements what
// handler implements: mutation, validation, or both.
func (a *Admission) Decorate(handler admission.Interface, name string) admission.Interface {
	mutating, isMutating := handler.(admission.MutationInterface)
	validating, isValidating := handler.(admission.ValidationInterface)
	a.lock.Lock()
	defer a.lock.Unlock()
	p := a.plugins[name]
	if p == nil {
		p = &plugin{name: name, rejected: a.cfg.Rejected}
		a.plugins[name] = p
	}
	p.handler, p.mutating, p.validating = handler, isMutating, isValidating
	switch {
	case isMutating && isValidating:
		return observedBoth{handler, observedMutation{mutating, p}, observedValidation{validating, p}}
	case isMutating:
		return observedMutation{mutating, p}
	case isValidating:
		return observedValidation{validating, p}
	default:
		return handler
	}
}

// Handling returns the names of the enabled plugins that look at an operation, in order.
func (a *Admission) Handling(operation admission.Operation) []string {
	a.lock.Lock()
	defer a.lock.Unlock()
	var names []string
	for _, one := range a.cfg.Plugins {
		if p := a.plugins[one.Name]; p != nil && p.handler.Handles(operation) && (p.mutating || p.validating) {
			names = append(names, one.Name)
		}
	}
	return names
}

// Collect returns all plugins, in order, also those that are off.
func (a *Admission) Collect(context.Context) ([]store.Object, error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	objects := make([]store.Object, 0, len(a.cfg.Plugins))
	for i, one := range a.cfg.Plugins {
		object := &v1alpha1.AdmissionPlugin{
			ObjectMeta: metav1.ObjectMeta{Name: objectName(one.Name)},
			ServerID:   a.cfg.ServerID,
			Spec: v1alpha1.AdmissionPluginSpec{
				Order: int32(i), Enabled: one.Enabled, Mutating: one.Mutating, Validating: one.Validating,
				Configured: one.Configured,
			},
		}
		if p := a.plugins[one.Name]; p != nil {
			object.Spec.Mutating, object.Spec.Validating = p.mutating, p.validating
			object.Status = v1alpha1.AdmissionPluginStatus{
				Admitted: p.counter.yes.Load(), Rejected: p.counter.no.Load(),
				LastRejection: p.lastRejection.Load().DeepCopy(), Latency: latencyOf(&p.counter.latency),
			}
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func (p *plugin) record(ctx context.Context, start time.Time, err error) error {
	p.counter.since(start)
	if err == nil {
		p.counter.yes.Add(1)
		return nil
	}
	p.counter.no.Add(1)
	now := metav1.NowMicro()
	p.lastRejection.Store(&now)
	if p.rejected != nil {
		p.rejected(ctx, p.name)
	}
	return err
}

type observedMutation struct {
	admission.MutationInterface

	plugin *plugin
}

// Admit implements admission.MutationInterface.
func (o observedMutation) Admit(ctx context.Context, a admission.Attributes, i admission.ObjectInterfaces) error {
	start := time.Now()
	return o.plugin.record(ctx, start, o.MutationInterface.Admit(ctx, a, i))
}

type observedValidation struct {
	admission.ValidationInterface

	plugin *plugin
}

// Validate implements admission.ValidationInterface.
func (o observedValidation) Validate(ctx context.Context, a admission.Attributes, i admission.ObjectInterfaces) error {
	start := time.Now()
	return o.plugin.record(ctx, start, o.ValidationInterface.Validate(ctx, a, i))
}

type observedBoth struct {
	admission.Interface

	mutation   observedMutation
	validation observedValidation
}

// Admit implements admission.MutationInterface.
func (o observedBoth) Admit(ctx context.Context, a admission.Attributes, i admission.ObjectInterfaces) error {
	return o.mutation.Admit(ctx, a, i)
}

// Validate implements admission.ValidationInterface.
func (o observedBoth) Validate(ctx context.Context, a admission.Attributes, i admission.ObjectInterfaces) error {
	return o.validation.Validate(ctx, a, i)
}
