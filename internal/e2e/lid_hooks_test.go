package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/boot"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// serving waits until a server that is not going to be ready answers requests.
func serving(t testing.TB, server *kapitest.Server) lid {
	t.Helper()
	var l lid
	eventually(t, func(ctx context.Context) error {
		if !server.Running() {
			return errors.New("kapi has ended")
		}
		if _, err := os.Stat(server.Kubeconfig()); err != nil {
			return err
		}
		l = newLid(t, server.Config(t))
		_, err := l.resource("poststarthooks").List(ctx, metav1.ListOptions{})
		return err
	})
	return l
}

// listAll reads all objects of a resource.
func listAll[T any](ctx context.Context, l lid, resource string, options metav1.ListOptions) ([]T, error) {
	found, err := l.resource(resource).List(ctx, options)
	if err != nil {
		return nil, err
	}
	objects := make([]T, len(found.Items))
	for i := range found.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Items[i].Object, &objects[i]); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// TestHangingHooks looks into a server that does not become ready, since two of
// its hooks never end: one that kapi has around it, and one that it does not.
func TestHangingHooks(t *testing.T) {
	t.Parallel()
	server := kapitest.Faulty(t, []string{"hang", "foreign-hang"})
	if err := server.Launch(); err != nil {
		t.Fatal(err)
	}
	l := serving(t, server)
	for hook, function := range map[string]string{"fault-hang": "chain.hang ", "fault-foreign-hang": "chain.foreignHang "} {
		eventually(t, func(context.Context) error {
			var object v1alpha1.PostStartHook
			l.get(t, "poststarthooks", hook, &object)
			status := object.Status
			switch {
			case status.State != v1alpha1.RunRunning || status.StartedAt == nil || status.FinishedAt != nil:
				return fmt.Errorf("%s is %s since %v", hook, status.State, status.StartedAt)
			case !strings.Contains(status.Stack, function):
				return fmt.Errorf("%s is not in the stack of %s: %q", function, hook, status.Stack)
			case object.Spec.Layer != "kube-apiserver" || !strings.Contains(object.Spec.RegisteredAt, "chain.addFaults"):
				return fmt.Errorf("%s comes from %+v", hook, object.Spec)
			case len(status.Conditions) != 1 || status.Conditions[0].Type != v1alpha1.ConditionDone || status.Conditions[0].Status != metav1.ConditionFalse:
				return fmt.Errorf("%s has the conditions %+v", hook, status.Conditions)
			}
			return nil
		})
		var check v1alpha1.HealthCheck
		l.get(t, "healthchecks", "poststarthook-"+hook, &check)
		if check.Status.State != v1alpha1.HealthFailed || check.Status.LastError == "" {
			t.Errorf("the health check of %s is %+v", hook, check.Status)
		}
	}
	code, body, _ := get(t, server.Config(t), "/readyz?verbose")
	if code != http.StatusInternalServerError || !strings.Contains(body, "[-]poststarthook/fault-hang ") || !strings.Contains(body, "[-]poststarthook/fault-foreign-hang ") {
		t.Errorf("/readyz says %d: %s", code, body)
	}
	var layer v1alpha1.ServerLayer
	l.get(t, "serverlayers", "kube-apiserver", &layer)
	if len(layer.Status.Conditions) != 1 || layer.Status.Conditions[0].Status != metav1.ConditionFalse || !strings.Contains(layer.Status.Conditions[0].Message, "hang") {
		t.Errorf("the layer with the hooks has the conditions %+v", layer.Status.Conditions)
	}
	// All others are done, and of the layer inside nothing is wrong.
	hooks, err := listAll[v1alpha1.PostStartHook](t.Context(), l, "poststarthooks", metav1.ListOptions{FieldSelector: "status.state!=Done"})
	if err != nil || len(hooks) != 2 {
		t.Errorf("hooks that are not done: %v, %v", hooks, err)
	}
	l.get(t, "serverlayers", "apiextensions", &layer)
	if layer.Status.Conditions[0].Status != metav1.ConditionTrue {
		t.Errorf("the layer without them has the conditions %+v", layer.Status.Conditions)
	}

	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	// The next start tells how far this one came.
	server.Env = nil
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	l = newLid(t, server.Config(t))
	for step, want := range map[string]v1alpha1.RunState{
		"process": v1alpha1.RunDone, "etcd": v1alpha1.RunDone, "server chain": v1alpha1.RunFailed,
		boot.StepHooks: v1alpha1.RunFailed, boot.StepReady: v1alpha1.RunFailed, "manifests": v1alpha1.RunPending,
	} {
		got := stepOf(t, l, 1, step)
		if got.Status.State != want || (want == v1alpha1.RunFailed) != (got.Status.Error != "") {
			t.Errorf("step %q of the killed start is %+v, want %s", step, got.Status, want)
		}
		if got := stepOf(t, l, 2, step); got.Status.State != v1alpha1.RunDone {
			t.Errorf("step %q of this start is %+v", step, got.Status)
		}
	}
}

// stepOf returns a step of a start.
func stepOf(t testing.TB, l lid, start int64, component string) v1alpha1.BootStep {
	t.Helper()
	selector := fmt.Sprintf("spec.boot=%d,spec.component=%s", start, component)
	steps, err := listAll[v1alpha1.BootStep](t.Context(), l, "bootsteps", metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 1 {
		t.Fatalf("%d steps are %s", len(steps), selector)
	}
	return steps[0]
}

// TestFailingHooks has the process end because of a hook: its last words say
// which one and why, and so does the next start. After a panic the runtime adds
// where that was, in the one goroutine.
func TestFailingHooks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault, reason    string
		code, goroutines int
	}{
		{"fail", "a fault of the test", 1, 0},
		{"foreign-fail", "a fault of the test", 1, 0},
		{"panic", "panic: a hook that panics", 2, 1},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			fault, reason := test.fault, test.reason
			server := kapitest.Faulty(t, []string{fault})
			if err := server.Launch(); err != nil {
				t.Fatal(err)
			}
			code, log := server.Wait(), server.Log()
			if n := strings.Count(log, "\ngoroutine "); code != test.code || n != test.goroutines {
				t.Errorf("the exit code is %d, and %d goroutines are printed:\n%s", code, n, log)
			}
			words, _, _ := strings.Cut(log, "\npanic: ")
			lines := strings.Split(strings.TrimSpace(words), "\n")
			last := lines[len(lines)-1]
			for _, want := range []string{"error: post-start hook", `"fault-` + fault + `"`, "of layer kube-apiserver", reason} {
				if !strings.Contains(last, want) {
					t.Errorf("the last words have no %s:\n%s", want, log)
				}
			}

			server.Env = nil
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			l := newLid(t, server.Config(t))
			hooks := stepOf(t, l, 1, boot.StepHooks)
			if hooks.Status.State != v1alpha1.RunFailed || hooks.Status.StartedAt == nil || hooks.Status.ReadyAt == nil ||
				!strings.Contains(hooks.Status.Error, "fault-"+fault) || !strings.Contains(hooks.Status.Error, reason) {
				t.Errorf("the start before has the step %+v", hooks.Status)
			}
			if ready := stepOf(t, l, 1, boot.StepReady); ready.Status.State != v1alpha1.RunFailed {
				t.Errorf("the start before was ready: %+v", ready.Status)
			}
			if ready := stepOf(t, l, 2, boot.StepReady); ready.Status.State != v1alpha1.RunDone {
				t.Errorf("this start is not ready: %+v", ready.Status)
			}
		})
	}
}

// TestStartsKept starts a server more often than starts are kept.
func TestStartsKept(t *testing.T) {
	t.Parallel()
	const starts, kept = 11, 10
	server := kapitest.New(t)
	for n := range starts {
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		if n+1 < starts {
			if err := server.Stop(); err != nil {
				t.Fatal(err)
			}
		}
	}
	steps, err := listAll[v1alpha1.BootStep](t.Context(), newLid(t, server.Config(t)), "bootsteps", metav1.ListOptions{FieldSelector: "spec.component=ready"})
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int64
	for _, step := range steps {
		numbers = append(numbers, step.Spec.Boot)
		if step.Status.State != v1alpha1.RunDone {
			t.Errorf("start %d is %+v", step.Spec.Boot, step.Status)
		}
	}
	slices.Sort(numbers)
	if len(numbers) != kept || numbers[0] != starts-kept+1 || numbers[kept-1] != starts {
		t.Errorf("starts %v are kept", numbers)
	}
}
