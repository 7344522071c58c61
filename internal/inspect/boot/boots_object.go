package boot

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Collect returns the BootSteps, those of the newest start first and in the order
// of the start within one; it is a store.Collect.
func (b *Boots) Collect(context.Context) ([]store.Object, error) {
	now := time.Now()
	var objects []store.Object
	for _, one := range b.starts() {
		for _, s := range one.steps {
			objects = append(objects, b.object(one, s, now))
		}
	}
	return objects, nil
}

// starts returns copies of all starts, newest first.
func (b *Boots) starts() []start {
	b.mu.Lock()
	defer b.mu.Unlock()
	this := start{boot: b.boot, bootedAt: b.cfg.ProcessStart}
	for _, s := range b.steps {
		copied := *s
		this.steps = append(this.steps, &copied)
	}
	starts := append(slices.Clone(b.history), this) // what is over does not change any more
	slices.Reverse(starts)
	return starts
}

func (b *Boots) object(one start, s *step, now time.Time) *inspect.BootStep {
	to := s.ReadyAt
	if s.State == inspect.RunRunning {
		to = time.Time{}
	}
	return &inspect.BootStep{
		ObjectMeta: metav1.ObjectMeta{
			Name:              fmt.Sprintf("boot%d-%s", one.boot, objectName(s.Component)),
			CreationTimestamp: metav1.NewTime(one.bootedAt.Truncate(time.Second)),
		},
		ServerID: call(b.cfg.ServerID),
		Spec: inspect.BootStepSpec{
			Boot: one.boot, BootedAt: metav1.NewMicroTime(one.bootedAt),
			Order: s.Order, Component: s.Component, DependsOn: slices.Clone(s.DependsOn),
		},
		Status: inspect.BootStepStatus{
			State: s.State, StartedAt: microTime(s.StartedAt), ReadyAt: microTime(s.ReadyAt),
			Duration: metav1.Duration{Duration: span(s.StartedAt, to, now)}, Error: s.Error,
		},
	}
}
