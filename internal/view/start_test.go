package view

import (
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
)

// pointers are those to the items of a list.
func pointers[T any](items []T) []*T {
	result := make([]*T, len(items))
	for i := range items {
		result[i] = &items[i]
	}
	return result
}

func TestHooks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"hooks", "hooks-hang"} {
		hooks := pointers(read[v1alpha1.PostStartHookList](t, "start/"+name).Items)
		golden(t, "start/"+name, func(w io.Writer, s text.Screen) error { return Hooks(w, s, hooks, recordedAt) })
	}
}

func TestBoot(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"boots", "boots-hang"} {
		steps := pointers(read[v1alpha1.BootStepList](t, "start/"+name).Items)
		golden(t, "start/"+name, func(w io.Writer, s text.Screen) error { return Boot(w, s, steps, recordedAt) })
	}
}

// A hook that failed says why, whatever the text is; so does one that hangs.
func TestHooksFailed(t *testing.T) {
	t.Parallel()
	hooks := pointers(read[v1alpha1.PostStartHookList](t, "start/hooks-hang").Items)[:4]
	hooks[0].Name, hooks[0].Spec.Layer = "起動後のフックの名前はとても長いです", "カスタム"
	hooks[0].Status.State, hooks[0].Status.Error = v1alpha1.RunFailed, "dial tcp 127.0.0.1:1:\n\x1b[31mconnection refused\x1b[0m, and that after a long time of trying again and again"
	hooks[1].Status = v1alpha1.PostStartHookStatus{State: v1alpha1.RunPending}
	hooks[2].Status.State, hooks[2].Status.FinishedAt = v1alpha1.RunRunning, nil
	hooks[2].Status.Stack = "e\u0301cole.hang hang.go:12\nmain.main main.go:1"
	golden(t, "start/hooks-failed", func(w io.Writer, s text.Screen) error { return Hooks(w, s, hooks, recordedAt) })
}

// A server that is not kapi tells which hooks there are and not when they ran.
func TestHooksUntimed(t *testing.T) {
	t.Parallel()
	hooks := pointers(read[v1alpha1.PostStartHookList](t, "start/hooks").Items)[:5]
	for i, hook := range hooks {
		hook.Status = v1alpha1.PostStartHookStatus{State: v1alpha1.RunDone}
		if i == 3 {
			hook.Status = v1alpha1.PostStartHookStatus{State: v1alpha1.RunFailed, Error: "not finished"}
		}
	}
	golden(t, "start/hooks-untimed", func(w io.Writer, s text.Screen) error { return Hooks(w, s, hooks, recordedAt) })
}

func TestStartEmpty(t *testing.T) {
	t.Parallel()
	golden(t, "start/no-hooks", func(w io.Writer, s text.Screen) error { return Hooks(w, s, nil, recordedAt) })
	golden(t, "start/no-boots", func(w io.Writer, s text.Screen) error { return Boot(w, s, nil, recordedAt) })
	steps := []*v1alpha1.BootStep{{}}
	golden(t, "start/empty-boot", func(w io.Writer, s text.Screen) error { return Boot(w, s, steps, recordedAt) })
}

func TestCriticalPath(t *testing.T) {
	t.Parallel()
	at := func(ms int) *metav1.MicroTime {
		return &metav1.MicroTime{Time: recordedAt.Add(time.Duration(ms) * time.Millisecond)}
	}
	step := func(component string, begun, ready int, dependsOn ...string) *v1alpha1.BootStep {
		return &v1alpha1.BootStep{
			Spec:   v1alpha1.BootStepSpec{Boot: 1, BootedAt: *at(0), Component: component, DependsOn: dependsOn},
			Status: v1alpha1.BootStepStatus{State: v1alpha1.RunDone, StartedAt: at(begun), ReadyAt: at(ready)},
		}
	}
	for want, steps := range map[string][]*v1alpha1.BootStep{
		"a b d":   {step("a", 0, 10), step("b", 10, 50, "a"), step("c", 10, 30, "a"), step("d", 50, 60, "b", "c")},
		"a c d":   {step("a", 0, 10), step("b", 10, 20, "a"), step("c", 10, 30, "a"), step("d", 30, 60, "b", "c")},
		"a b":     {step("a", 0, 10), step("b", 12, 20), step("c", 13, 15)}, // no dependencies: what was before
		"loop it": {step("loop", 0, 10, "it"), step("it", 0, 10, "loop")},
	} {
		if got := strings.Join(startsOf(steps, recordedAt)[0].criticalPath(), " "); got != want {
			t.Errorf("critical path %q, want %q", got, want)
		}
	}
}
