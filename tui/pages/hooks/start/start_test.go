package start

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
)

var began = time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)

func at(ms int) *metav1.MicroTime {
	return &metav1.MicroTime{Time: began.Add(time.Duration(ms) * time.Millisecond)}
}

func step(component string, begun, ready int, dependsOn ...string) kinds.Object {
	return &v1alpha1.BootStep{
		Spec:   v1alpha1.BootStepSpec{Boot: 1, BootedAt: *at(0), Component: component, DependsOn: dependsOn},
		Status: v1alpha1.BootStepStatus{State: v1alpha1.RunDone, StartedAt: at(begun), ReadyAt: at(ready)},
	}
}

func frame(key data.Key, objects ...kinds.Object) data.Frame {
	return data.Frame{Now: began.Add(time.Minute)}.With(data.View{Key: key, State: data.Live, Objects: objects})
}

func TestCriticalPath(t *testing.T) {
	t.Parallel()
	for want, steps := range map[string][]kinds.Object{
		"a b d":   {step("a", 0, 10), step("b", 10, 50, "a"), step("c", 10, 30, "a"), step("d", 50, 60, "b", "c")},
		"a c d":   {step("a", 0, 10), step("b", 10, 20, "a"), step("c", 10, 30, "a"), step("d", 30, 60, "b", "c")},
		"a b":     {step("a", 0, 10), step("b", 12, 20), step("c", 13, 15)}, // no dependencies: what was before
		"loop it": {step("loop", 0, 10, "it"), step("it", 0, 10, "loop")},
	} {
		if got := strings.Join(Starts(frame(StepFeed, steps...))[0].CriticalPath(), " "); got != want {
			t.Errorf("critical path %q, want %q", got, want)
		}
	}
}

func TestHooksOrder(t *testing.T) {
	t.Parallel()
	hook := func(name string, state v1alpha1.RunState, begun *metav1.MicroTime, took time.Duration) kinds.Object {
		h := &v1alpha1.PostStartHook{}
		h.Name, h.Status.State, h.Status.StartedAt, h.Status.Duration.Duration = name, state, begun, took
		if state == v1alpha1.RunDone && begun != nil {
			h.Status.FinishedAt = &metav1.MicroTime{Time: begun.Add(took)}
		}
		return h
	}
	f := frame(HookFeed,
		hook("pending", v1alpha1.RunPending, nil, 0),
		hook("quick", v1alpha1.RunDone, at(0), time.Millisecond),
		hook("slow", v1alpha1.RunDone, at(5), time.Second),
		hook("hangs", v1alpha1.RunRunning, at(0), 10*time.Second),
		hook("failed", v1alpha1.RunFailed, at(0), time.Millisecond),
	)
	f.Now = began.Add(12 * time.Second)
	runs := Hooks(f)
	var names []string
	for _, r := range runs {
		names = append(names, r.Name)
	}
	if got, want := strings.Join(names, " "), "failed hangs slow quick pending"; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
	if len(Troubled(runs)) != 2 || Troubled(runs)[0].Name != "failed" {
		t.Errorf("troubled are %v", Troubled(runs))
	}
	if got := runs[1].Took(); got != 12*time.Second {
		t.Errorf("what runs has run for %s until now", got)
	}
	if last, _ := Last(runs); last.Name != "hangs" {
		t.Errorf("the last is %s", last.Name)
	}
	if _, ok := Slowest(nil); ok {
		t.Error("nothing is the slowest of none")
	}
}
