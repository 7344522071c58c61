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

// Collect returns the PostStartHooks, outermost layer first and by name within
// one; it is a store.Collect.
func (h *Hooks) Collect(context.Context) ([]store.Object, error) {
	h.look()
	h.lookAtStacks()
	now := time.Now()
	names := uniqueNames{}
	h.mu.Lock()
	hooks := make([]hook, 0, len(h.order))
	for _, k := range h.order {
		hooks = append(hooks, *k)
	}
	h.mu.Unlock()
	objects := make([]store.Object, 0, len(hooks))
	for i := range hooks {
		objects = append(objects, h.object(&hooks[i], names.of(hooks[i].name), now))
	}
	return objects, nil
}

// lookAtStacks finds out whether the server runs its hooks when none of them has
// said so, because all of them hang.
func (h *Hooks) lookAtStacks() {
	h.mu.Lock()
	unknown := h.started.IsZero()
	h.mu.Unlock()
	if !unknown {
		return
	}
	running := h.stacks.all()
	for _, k := range h.polled() {
		if slices.ContainsFunc(running, func(g goroutine) bool { return g.runs(k) }) {
			h.noteStarted(time.Now())
			return
		}
	}
}

// object makes the object of a copy of a hook.
func (h *Hooks) object(k *hook, name string, now time.Time) *inspect.PostStartHook {
	object := &inspect.PostStartHook{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		ServerID:   call(h.cfg.ServerID),
		Spec:       inspect.PostStartHookSpec{Layer: k.layer, RegisteredAt: k.registeredAt},
		Status: inspect.PostStartHookStatus{
			State: k.state, StartedAt: microTime(k.started), FinishedAt: microTime(k.finished),
			Duration: metav1.Duration{Duration: span(k.started, k.finished, now)}, Error: k.err,
		},
	}
	if k.state == inspect.RunRunning && now.Sub(k.started) >= h.cfg.StackAfter {
		object.Status.Stack = h.stacks.of(k)
	}
	object.Status.Conditions = []metav1.Condition{k.condition()}
	return object
}

func (k *hook) condition() metav1.Condition {
	condition := metav1.Condition{Type: inspect.ConditionDone, Status: metav1.ConditionFalse, Reason: string(k.state)}
	switch k.state {
	case inspect.RunDone:
		condition.Status, condition.LastTransitionTime = metav1.ConditionTrue, metav1.NewTime(k.finished)
	case inspect.RunFailed:
		condition.Message, condition.LastTransitionTime = k.err, metav1.NewTime(k.finished)
	case inspect.RunRunning, inspect.RunPending:
		condition.LastTransitionTime = metav1.NewTime(k.known)
	}
	return condition
}

// Trouble says what is wrong with the hooks of a layer: the first that has failed
// or has run for longer than it should; empty when nothing is.
func (h *Hooks) Trouble(layer string) string {
	h.look()
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range h.order {
		if k.layer != layer {
			continue
		}
		if k.state == inspect.RunFailed {
			return fmt.Sprintf("post-start hook %q failed: %s", k.name, k.err)
		}
		if running := now.Sub(k.started); k.state == inspect.RunRunning && running >= h.cfg.StackAfter {
			return fmt.Sprintf("post-start hook %q has been running for %v", k.name, running.Truncate(time.Second))
		}
	}
	return ""
}
