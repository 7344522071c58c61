package inspect

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
)

func TestParseGoal(t *testing.T) {
	for text, want := range map[string]goal{
		"condition=Established":           {"Established", "True"},
		"condition=Available=False":       {"Available", "False"},
		"condition=Healthy=Unknown":       {"Healthy", "Unknown"},
		"condition=例.example.com/Ready=真": {"例.example.com/Ready", "真"},
	} {
		if got, err := parseGoal(text); err != nil || got != want {
			t.Errorf("%q is %v, error %v", text, got, err)
		}
	}
	for _, text := range []string{"Established", "condition", "condition=", "condition==True", "condition=A=", "delete", "jsonpath={.a}=b", "create", "Condition=A", " condition=A"} {
		_, err := parseGoal(text)
		result{err: err}.fails(t, fault.CodeUsage, text, "--for=condition=TYPE")
	}
}

// conditioned is an object with one condition.
func conditioned(name, kind, status string) runtime.Object {
	object, _ := layer(name, status).(*v1alpha1.ServerLayer)
	if kind != "" {
		object.Status.Conditions = []metav1.Condition{{Type: kind, Status: metav1.ConditionStatus(status), Reason: "Because", Message: "it says so"}}
	}
	return object
}

func TestReached(t *testing.T) {
	for name, test := range map[string]struct {
		object runtime.Object
		goal   goal
		ok     bool
		state  string
	}{
		"there":              {conditioned("a", "Healthy", "True"), goal{"Healthy", "True"}, true, "Healthy=True (Because): it says so"},
		"in another case":    {conditioned("a", "Healthy", "True"), goal{"healthy", "true"}, true, "Healthy=True (Because): it says so"},
		"not there":          {conditioned("a", "Healthy", "False"), goal{"Healthy", "True"}, false, "Healthy=False (Because): it says so"},
		"another status":     {conditioned("a", "Healthy", "Unknown"), goal{"Healthy", "Unknown"}, true, "Healthy=Unknown (Because): it says so"},
		"another condition":  {conditioned("a", "Done", "True"), goal{"Healthy", "True"}, false, "no condition Healthy yet, only Done"},
		"no conditions":      {conditioned("a", "", ""), goal{"Healthy", "True"}, false, "no conditions yet"},
		"gone, name only":    {&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, goal{"Healthy", "True"}, false, "no conditions yet"},
		"a kind without any": {&v1alpha1.Filter{}, goal{"Healthy", "True"}, false, "no conditions yet"},
	} {
		if ok, state := test.goal.reached(test.object); ok != test.ok || state != test.state {
			t.Errorf("%s: %t, %q", name, ok, state)
		}
	}
}

// awaited runs await over a script, and returns the names that got there.
func awaited(t *testing.T, timeout time.Duration, names []string, steps ...step) (met []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var notices strings.Builder
		s := &script{t: t, steps: steps, done: cancel}
		err = await(ctx, s.feed(false, &notices), goal{"Healthy", "True"}, names, timeout, func(object runtime.Object) error {
			met = append(met, key(object))
			return nil
		})
	})
	return met, err
}

func TestAwait(t *testing.T) {
	well, ill := func(name string) runtime.Object { return conditioned(name, "Healthy", "True") }, func(name string) runtime.Object { return conditioned(name, "Healthy", "False") }
	events := func(objects ...runtime.Object) step {
		var all []watch.Event
		for _, object := range objects {
			all = append(all, watch.Event{Type: watch.Modified, Object: object})
		}
		return step{events: all, last: true}
	}
	list := func(objects ...runtime.Object) step { return step{list: objects, version: "1"} }
	for name, test := range map[string]struct {
		timeout time.Duration
		names   []string
		steps   []step
		met     string
		words   string
	}{
		"all are there":       {time.Second, nil, []step{list(well("a"), well("b"))}, "a b", ""},
		"one comes":           {time.Second, nil, []step{list(well("a"), ill("b")), events(well("b"))}, "a b", ""},
		"later ones are none": {time.Second, nil, []step{list(ill("a")), events(ill("new"), well("a"))}, "a", ""},
		"once is enough":      {time.Second, []string{"a", "b"}, []step{list(well("a"), ill("b")), events(ill("a"), well("b"))}, "a b", ""},
		"only the named":      {time.Second, []string{"a"}, []step{list(well("a"), ill("b"))}, "a", ""},
		"not made yet":        {time.Second, []string{"a"}, []step{list(ill("b")), events(ill("a"), well("a"))}, "a", ""},
		"after a restart":     {time.Minute, []string{"a"}, []step{list(ill("a")), {err: connectionRefused()}, {err: connectionRefused()}, list(well("a"))}, "a", ""},
		"deleted, made again": {time.Second, []string{"a"}, []step{list(ill("a")), {events: []watch.Event{{Type: watch.Deleted, Object: ill("a")}, {Type: watch.Added, Object: well("a")}}}}, "a", ""},
		"one look, and well":  {0, nil, []step{list(well("a"))}, "a", ""},
		"a week":              {-1, nil, []step{list(ill("a")), events(well("a"))}, "a", ""},

		"too late":           {2 * time.Second, nil, []step{list(well("a"), ill("c"), ill("b")), events()}, "a", "waited 2s for Healthy=True in vain: b: Healthy=False (Because): it says so; c: Healthy=False (Because): it says so"},
		"never made":         {2 * time.Second, []string{"花"}, []step{list(ill("b")), events()}, "", "waited 2s for Healthy=True in vain: 花: it does not exist"},
		"deleted meanwhile":  {2 * time.Second, []string{"a"}, []step{list(ill("a")), {last: true, events: []watch.Event{{Type: watch.Deleted, Object: ill("a")}}}}, "", "in vain: a: it was deleted"},
		"one look":           {0, []string{"a"}, []step{list(ill("a"))}, "", "for Healthy=True in vain: a: Healthy=False"},
		"nothing to wait":    {time.Second, nil, []step{list()}, "", "there is nothing to wait for"},
		"server does not go": {time.Second, nil, []step{{err: connectionRefused()}}, "", "connection refused"},
		"forbidden":          {time.Second, nil, []step{list(ill("a")), {err: forbidden("inspect.kapi.dev", "serverlayers")}}, "", "forbidden"},
		"lost in between":    {time.Second, nil, []step{list(ill("a")), {err: connectionRefused()}, {err: connectionRefused()}, {err: connectionRefused()}, {err: connectionRefused()}, {err: connectionRefused()}, {err: connectionRefused()}}, "", "waited 1s for Healthy=True in vain: a: Healthy=False"},
	} {
		t.Run(name, func(t *testing.T) {
			met, err := awaited(t, test.timeout, test.names, test.steps...)
			if strings.Join(met, " ") != test.met {
				t.Errorf("%q got there, want %q", met, test.met)
			}
			switch {
			case test.words == "" && err != nil:
				t.Errorf("it ends with %v", err)
			case test.words != "" && (err == nil || !strings.Contains(err.Error(), test.words)):
				t.Errorf("it ends with %v, want %q", err, test.words)
			}
		})
	}
}

// TestAwaitPrints: what was waited for is printed as kubectl wait does, or as -o says.
func TestAwaitPrints(t *testing.T) {
	f := newFakeKapi(t)
	for words, want := range map[string]string{
		"layers inspect aggregator --for=condition=Healthy":                "serverlayer/aggregator condition met: Healthy=True\nserverlayer/inspect condition met: Healthy=True\n",
		"controllers namespace job --for=condition=Healthy -o name":        "controller.inspect.kapi.dev/namespace\ncontroller.inspect.kapi.dev/job\n",
		"etcd --for=condition=healthy -o name":                             "etcdmember.inspect.kapi.dev/kapi\n",
		"crds widgets.example.com --for condition=Established --timeout 0": "customresourcedefinitions/widgets.example.com condition met: Established=True\n",
		"apiservices v1.apps --for condition=Available -o name":            "apiservice.apiregistration.k8s.io/v1.apps\n",
		"crds gadgets.example.com --for=condition=Established=False":       "customresourcedefinitions/gadgets.example.com condition met: Established=False\n",
	} {
		if got := run(t, f.args(strings.Fields(words)...)...).ok(t); got != want {
			t.Errorf("%s prints %q", words, got)
		}
	}
	for words, want := range map[string]string{
		"crds --for=condition=Established --timeout=0":              "gadgets.example.com: Established=False (NotAccepted)",
		"crds none.example.com --for=condition=Served --timeout=0s": "none.example.com: it does not exist",
		"controllers --for=condition=Healthy --timeout=0":           "csrsigning: Healthy=False (FailedToStart)",
	} {
		run(t, f.args(strings.Fields(words)...)...).fails(t, fault.CodeFailure, want, "")
	}
	run(t, f.args("layers", "--for=condition=Healthy", "--timeout=1ns")...).fails(t, fault.CodeFailure, "does not answer in time", "raise --request-timeout")
	run(t, f.args("filters", "--for=condition=Healthy")...).fails(t, fault.CodeUsage, "filters have no conditions", "wait for one of")
	run(t, f.args("crds", "--for=deleted")...).fails(t, fault.CodeUsage, `--for="deleted"`, "--for=condition=TYPE")
}

// TestAwaitStops: an error of what is called for an object ends it.
func TestAwaitStops(t *testing.T) {
	full := errors.New("disk full")
	var notices strings.Builder
	s := &script{t: t, steps: []step{{list: []runtime.Object{conditioned("a", "Healthy", "True")}, version: "1"}}, done: func() {}}
	err := await(t.Context(), s.feed(false, &notices), goal{"Healthy", "True"}, nil, time.Minute, func(runtime.Object) error { return full })
	if !errors.Is(err, full) {
		t.Errorf("it ends with %v", err)
	}
}
