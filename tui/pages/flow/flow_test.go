package flow

import (
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
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

// crowded is a server on which one level refuses, one queues, and one is nearly full.
func crowded(t *testing.T) data.Frame {
	t.Helper()
	frame, before := pagestest.Frame(t, pagestest.Demo), pagestest.Frame(t, pagestest.Earlier)
	frame.Before = &before
	var objects []kinds.Object
	for _, old := range data.Objects[*v1alpha1.FlowState](frame, Feed) {
		f := old.DeepCopy()
		switch f.Name {
		case "workload-low":
			f.Status = v1alpha1.FlowStateStatus{
				SeatsInUse: 56, SeatsLimit: 56, SeatsNominal: 49, Executing: 50, Queued: 212, Dispatched: 80213, Rejected: 4711,
				Flows: []v1alpha1.Flow{{FlowSchema: "service-accounts", Executing: 50, Queued: 212, Dispatched: 80213, Rejected: 4711}},
				Users: []v1alpha1.FlowUser{{Name: "system:serviceaccount:shop:監視", Requests: 1900}, {Name: "jane", Requests: 12}},
			}
		case "system":
			f.Status.SeatsInUse, f.Status.Executing, f.Status.Queued = 40, 40, 3
		case "node-high":
			f.Status.SeatsInUse, f.Status.Executing = 160, 160
		}
		objects = append(objects, f)
	}
	return pagestest.Objects(frame, Feed, objects...)
}

func TestPictures(t *testing.T) {
	t.Parallel()
	pagestest.Golden(t, "flow", open(t, "flow"), pagestest.Frame(t, pagestest.Demo))
	pagestest.Golden(t, "flow-crowded", open(t, "flow"), crowded(t))
	pagestest.Golden(t, "flow-foreign", open(t, "flow"), pagestest.Frame(t, pagestest.Foreign))
	pagestest.Golden(t, "level", open(t, "flow/workload-low"), crowded(t))
}

func TestFits(t *testing.T) {
	t.Parallel()
	odd := &v1alpha1.FlowState{}
	odd.Name = "級-e\u0301\u202eabc\x1b[31m"
	odd.Status = v1alpha1.FlowStateStatus{
		SeatsInUse: -3, SeatsLimit: 1, Queued: 1 << 60, Users: []v1alpha1.FlowUser{{}, {Name: odd.Name, Requests: -1}}, Flows: []v1alpha1.Flow{{}},
	}
	for _, location := range []string{"flow", "flow/" + odd.Name, "flow/nothing"} {
		pagestest.Fits(t, open(t, location), pagestest.Objects(data.Frame{}, Feed, odd, &v1alpha1.FlowState{}))
		pagestest.Fits(t, open(t, location), crowded(t))
		pagestest.Fits(t, open(t, location), data.Frame{})
	}
}

// The level with the most trouble is first, so that enter shows who fills it.
func TestWorstFirst(t *testing.T) {
	t.Parallel()
	var names []string
	for _, l := range rows(crowded(t))[:3] {
		word, _ := l.state()
		names = append(names, l.Name+" "+word)
	}
	if got, want := strings.Join(names, ", "), "workload-low refusing, node-high nearly full, system queueing"; got != want {
		t.Errorf("first are %s, want %s", got, want)
	}
	p := open(t, "flow")
	p.Update(crowded(t))
	if got := p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String(); got != "flow/workload-low" {
		t.Errorf("enter leads to %q", got)
	}
	detail := open(t, "flow/workload-low")
	found := pagestest.Links(t, detail, crowded(t))
	for _, want := range []string{
		"requests?filter=user%3Ajane+flow%3Aworkload-low",
		"object/flowschemas.flowcontrol.apiserver.k8s.io/service-accounts?version=v1",
		"object/prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/workload-low?version=v1",
	} {
		if !slices.Contains(found, want) {
			t.Errorf("the level does not lead to %s, but to %v", want, found)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	for state, want := range map[data.State]string{
		data.Loading: "loading", data.Forbidden: "forbidden", data.Failed: "error", data.Absent: "not on this server",
	} {
		for _, location := range []string{"flow", "flow/exempt"} {
			got := pagestest.Picture(t, open(t, location), pagestest.In(frame, state, Feed), 80, 24)
			if !strings.Contains(got, want) {
				t.Errorf("%s in state %d does not say %q:\n%s", location, state, want, got)
			}
		}
	}
}
