package hooks

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/hooks/start"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
)

func open(t *testing.T, location string) page.Page {
	t.Helper()
	at, err := page.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(page.Env{}, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// hanging is a server whose start hangs in a hook, after some starts that did not.
func hanging(t *testing.T) data.Frame {
	t.Helper()
	var hooks v1alpha1.PostStartHookList
	var steps v1alpha1.BootStepList
	for file, list := range map[string]any{"hooks-hang": &hooks, "boots-hang": &steps} {
		text, err := os.ReadFile("../../../internal/view/testdata/start/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, list); err != nil {
			t.Fatal(err)
		}
	}
	var hookObjects, stepObjects []kinds.Object
	now := time.Time{}
	for i := range hooks.Items {
		hookObjects = append(hookObjects, &hooks.Items[i])
		if at := hooks.Items[i].Status.StartedAt; at != nil && at.Add(hooks.Items[i].Status.Duration.Duration).After(now) {
			now = at.Add(hooks.Items[i].Status.Duration.Duration)
		}
	}
	for i := range steps.Items {
		stepObjects = append(stepObjects, &steps.Items[i])
	}
	frame := data.Frame{Revision: 1, State: data.Live, Now: now}
	return pagestest.Objects(pagestest.Objects(frame, start.HookFeed, hookObjects...), start.StepFeed, stepObjects...)
}

// hung is the hook of hanging that does not end.
func hung(t *testing.T) string {
	t.Helper()
	troubled := start.Troubled(start.Hooks(hanging(t)))
	if len(troubled) == 0 {
		t.Fatal("no hook hangs in the recording")
	}
	return troubled[0].Name
}

func TestPictures(t *testing.T) {
	t.Parallel()
	pagestest.Golden(t, "hooks", open(t, "hooks"), pagestest.Frame(t, pagestest.Demo))
	pagestest.Golden(t, "hooks-hang", open(t, "hooks"), hanging(t))
	pagestest.Golden(t, "hooks-foreign", open(t, "hooks"), pagestest.Frame(t, pagestest.Foreign))
	pagestest.Golden(t, "hook", open(t, "hooks/rbac-bootstrap-roles"), pagestest.Frame(t, pagestest.Demo))
	pagestest.Golden(t, "hook-hang", open(t, "hooks/"+hung(t)), hanging(t))
	pagestest.Golden(t, "component", open(t, "hooks/component/server chain"), hanging(t))
}

func TestFits(t *testing.T) {
	t.Parallel()
	hook, step := &v1alpha1.PostStartHook{}, &v1alpha1.BootStep{}
	hook.Name = "フック-e\u0301\u202eabc\x1b[31m"
	hook.Status = v1alpha1.PostStartHookStatus{State: v1alpha1.RunFailed, Error: strings.Repeat("失敗した\x07 ", 50), Stack: "a.b\x1b c.go:1\n\n \n名前"}
	step.Spec.Component, step.Spec.DependsOn = hook.Name, []string{hook.Name, ""}
	step.Status.Error = hook.Status.Error
	odd := pagestest.Objects(pagestest.Objects(data.Frame{}, start.HookFeed, hook, &v1alpha1.PostStartHook{}), start.StepFeed, step, &v1alpha1.BootStep{})
	for _, location := range []string{"hooks", "hooks/" + hook.Name, "hooks/component/" + hook.Name, "hooks/nothing", "hooks/component/nothing", "hooks/component/server chain"} {
		pagestest.Fits(t, open(t, location), odd)
		pagestest.Fits(t, open(t, location), hanging(t))
		pagestest.Fits(t, open(t, location), data.Frame{})
	}
}

// Enter leads at once to the hook that made the start slow, or to the one that hangs.
func TestWhichHook(t *testing.T) {
	t.Parallel()
	p := open(t, "hooks")
	pagestest.Picture(t, p, pagestest.Frame(t, pagestest.Demo), 80, 24)
	if got, want := p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String(), "hooks/priority-and-fairness-config-producer"; got != want {
		t.Errorf("enter leads to %q, want %q", got, want)
	}
	p = open(t, "hooks")
	pagestest.Picture(t, p, hanging(t), 80, 24)
	if got, want := p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String(), "hooks/"+hung(t); got != want {
		t.Errorf("enter leads to %q, want %q", got, want)
	}
	got := pagestest.Picture(t, open(t, "hooks/"+hung(t)), hanging(t), 120, 40)
	if !strings.Contains(got, "Where it is now") || !strings.Contains(got, ".go:") {
		t.Errorf("it does not say where it is:\n%s", got)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	for state, want := range map[data.State]string{
		data.Loading: "loading", data.Forbidden: "forbidden", data.Failed: "error", data.Absent: "not on this server",
	} {
		for _, location := range []string{"hooks", "hooks/rbac-bootstrap-roles", "hooks/component/etcd"} {
			got := pagestest.Picture(t, open(t, location), pagestest.In(frame, state, start.HookFeed, start.StepFeed), 80, 24)
			if !strings.Contains(got, want) {
				t.Errorf("%s in state %d does not say %q:\n%s", location, state, want, got)
			}
		}
	}
	// The hooks are shown where only the starts can't be had, and the other way round.
	if got := pagestest.Picture(t, open(t, "hooks"), pagestest.In(frame, data.Absent, start.StepFeed), 80, 24); !strings.Contains(got, "8 of 8 hooks done") {
		t.Errorf("without starts:\n%s", got)
	}
	if got := pagestest.Picture(t, open(t, "hooks"), pagestest.In(frame, data.Forbidden, start.HookFeed), 80, 24); !strings.Contains(got, "server chain") {
		t.Errorf("without hooks:\n%s", got)
	}
}
