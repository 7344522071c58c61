package dashboard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
)

func open(t testing.TB) *dashboard {
	t.Helper()
	p, err := New(page.Env{}, page.At("dashboard", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p.(*dashboard)
}

// busy is a server with the frame before, and some samples.
func busy(t testing.TB) data.Frame {
	t.Helper()
	frame, before := pagestest.Frame(t, pagestest.Demo), pagestest.Frame(t, pagestest.Earlier)
	frame.Before = &before
	for i := range 90 {
		frame.Series = append(frame.Series, data.Sample{
			At: frame.Now.Add(time.Duration(i-90) * time.Second), Requests: float64((i * i) % 50), Failed: 0.4, P99: time.Duration(i%20) * time.Millisecond,
		})
	}
	return frame
}

func TestPictures(t *testing.T) {
	t.Parallel()
	pagestest.Golden(t, "dashboard", open(t), pagestest.Frame(t, pagestest.Kapi))
	pagestest.Golden(t, "dashboard-busy", open(t), busy(t))
	pagestest.Golden(t, "dashboard-foreign", open(t), pagestest.Frame(t, pagestest.Foreign))
	pagestest.Golden(t, "dashboard-lab", open(t), pagestest.FrameOf(t, joinedtest.Lab(t)))
	pagestest.Compare(t, "dashboard.40x12", pagestest.Picture(t, open(t), pagestest.Frame(t, pagestest.Kapi), 40, 12))
}

func TestFits(t *testing.T) {
	t.Parallel()
	pagestest.Fits(t, open(t), busy(t))
	pagestest.Fits(t, open(t), data.Frame{})
	pagestest.Fits(t, open(t), odd(pagestest.Frame(t, pagestest.Kapi)))
	p := open(t)
	p.expanded = true
	pagestest.Fits(t, p, pagestest.FrameOf(t, joinedtest.Lab(t)))
}

// odd is a frame with names that are hard to draw, and objects that hold nothing.
func odd(frame data.Frame) data.Frame {
	const name = "名前-e\u0301\u202eabc\x1b[31m"
	frame.About.Address, frame.About.KubernetesVersion, frame.About.RecordedFrom = name, name, name
	member := &v1alpha1.EtcdMember{}
	member.Name, member.Status.DBSize, member.Status.Alarms = name, -1, []string{name}
	filter := &v1alpha1.Filter{}
	filter.Name, filter.Spec.Enabled, filter.Status.Terminated = name, true, []v1alpha1.StatusCount{{Count: 1 << 60}}
	filter.Status.In.Count = 1
	storage := &v1alpha1.ResourceStorage{}
	storage.Spec.Resource, storage.Status.Bytes, storage.Status.Objects = name, 1<<62, -1
	trace := &v1alpha1.RequestTrace{}
	trace.Spec.Path, trace.Spec.Verb, trace.Status.Failed = strings.Repeat(name, 9), name, true
	hook := &v1alpha1.PostStartHook{}
	hook.Name, hook.Status.State, hook.Status.Error = name, v1alpha1.RunFailed, name
	flow := &v1alpha1.FlowState{}
	flow.Status.Users = []v1alpha1.FlowUser{{Name: name, Requests: -1}, {}}
	for part, object := range map[string]kinds.Object{
		partEtcd: member, partFilters: filter, partStorages: storage, partTraces: trace, partHooks: hook, partFlows: flow,
		partLayers: &v1alpha1.ServerLayer{}, partBoot: &v1alpha1.BootStep{}, partHealth: &v1alpha1.HealthCheck{},
	} {
		frame = pagestest.Objects(frame, data.Of(part), object)
	}
	return pagestest.Objects(frame, data.Definitions, &apiextensionsv1.CustomResourceDefinition{})
}

func TestStates(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	for state, want := range map[data.State]string{
		data.Loading: "loading", data.Forbidden: "forbidden", data.Failed: "error", data.Absent: "not on this server",
	} {
		all := pagestest.Picture(t, open(t), pagestest.In(frame, state, needs()...), 80, 24)
		if !strings.Contains(all, want) {
			t.Errorf("all in state %d does not say %q:\n%s", state, want, all)
		}
	}
	// What can't be had is said where it would be, and the rest is shown.
	some := pagestest.Picture(t, open(t), pagestest.In(frame, data.Forbidden, data.Of(partTraces), data.Of(partHealth), data.Of(partEtcd)), 100, 40)
	for _, want := range []string{"errors    not shown: ", "health    not shown: ", "etcd      not shown: ", "APIService v1.broken.example.com is unavailable"} {
		if !strings.Contains(some, want) {
			t.Errorf("some are forbidden, and it does not say %q:\n%s", want, some)
		}
	}
}

// Stale data stays, since the head of the screen says how old it is.
func TestStale(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	live := pagestest.Picture(t, open(t), frame, 80, 24)
	for _, key := range needs() {
		view := frame.View(key)
		view.State = data.Stale
		frame = frame.With(view)
	}
	if stale := pagestest.Picture(t, open(t), frame, 80, 24); stale != live {
		t.Errorf("stale looks like\n%s", stale)
	}
}

// While the connection is lost nothing is said to be fine or wrong now: why, the way
// out, and what was known last.
func TestLost(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	up := gather(frame, &cache{}).overview.Uptime
	for _, key := range needs() {
		view := frame.View(key)
		view.State = data.Stale
		frame = frame.With(view)
	}
	frame.State, frame.Err = data.Stale, fault.WithHint(errors.New("connection refused"), "is the server running?")
	frame.Now = frame.Now.Add(4 * time.Minute)
	if now := gather(frame, &cache{}).overview.Uptime; now != up {
		t.Errorf("it is up for %s, and was for %s", now.Duration, up.Duration)
	}
	for _, size := range [][2]int{{80, 24}, {60, 12}, {160, 48}} {
		got := pagestest.Picture(t, open(t), frame, size[0], size[1])
		first, _, _ := strings.Cut(got, "\n")
		if !strings.Contains(first, "stale") || !strings.Contains(first, "connection refused; is the server running?") || !strings.Contains(got, "unknown; 4m ago: ") {
			t.Errorf("at %v:\n%s", size, got)
		}
	}
}

// Requests that show the server are no trouble of its clients.
func TestOwnRequests(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	own := &v1alpha1.RequestTrace{}
	own.Name, own.Spec.Path, own.Status.Failed = "own", "/apis/inspect.kapi.dev/v1alpha1/filters", true
	own.Status.ReceivedAt = metav1.NewMicroTime(frame.Now)
	frame = pagestest.Objects(frame, data.Of(partTraces), own)
	if got := pagestest.Picture(t, open(t), frame, 160, 48); strings.Contains(got, "inspect.kapi.dev/v1alpha1/filters") || strings.Contains(got, "1 request failed") {
		t.Errorf("it counts:\n%s", got)
	}
}

// Enter on the first line leads to the page that explains the worst problem.
func TestEnterExplainsTheWorst(t *testing.T) {
	t.Parallel()
	p := open(t)
	pagestest.Picture(t, p, pagestest.Frame(t, pagestest.Kapi), 80, 24)
	for _, want := range []string{
		"apiservices/v1.broken.example.com", "crds", "apiservices/v1.broken.example.com", "controllers/resourcequota", "controllers/csrsigning",
		"requests?filter=code%3A%3E%3D500", "requests?filter=took%3A%3E1s", "requests",
	} {
		if got := p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String(); got != want {
			t.Errorf("enter leads to %q, want %q", got, want)
		}
		p.Act(page.Action{ID: page.Down, Count: 1})
	}
}

// Each command that a problem names has a page.
func TestProblemsHavePages(t *testing.T) {
	t.Parallel()
	for look, want := range map[string]string{
		"kapi inspect apiservices v1.x":                                         "apiservices/v1.x",
		"kapi inspect apiservices":                                              "apiservices",
		"kapi inspect crds widgets.example.com":                                 "crds/widgets.example.com",
		"kapi inspect hooks rbac":                                               "hooks/rbac",
		"kapi inspect controllers namespace":                                    "controllers/namespace",
		"kapi kubectl describe namespace shop":                                  "object/namespaces/shop?version=v1&view=describe",
		"kapi kubectl get a,b.example.com -n shop":                              "object/a?namespace=shop",
		"kapi kubectl get namespaces --field-selector status.phase=Terminating": "object/namespaces",
		"kapi inspect health etcd":                                              "health/etcd",
		"kapi inspect filters timeout":                                          "chain/timeout",
		"kapi inspect flow system":                                              "flow/system",
		"kapi inspect discovery apps.v1":                                        "discovery/apps.v1",
		"kapi inspect etcd default":                                             "etcd",
		"kapi inspect requests --status '>=500'":                                "requests?filter=code%3A%3E%3D500",
		"kapi inspect requests --slower-than 1s":                                "requests?filter=took%3A%3E1s",
		"kapi inspect something that is not a page":                             "",
		"": "",
	} {
		if got := pageOf(look).String(); got != want {
			t.Errorf("%q leads to %q, want %q", look, got, want)
		}
	}
	for _, frame := range []data.Frame{pagestest.Frame(t, pagestest.Kapi), pagestest.FrameOf(t, joinedtest.Lab(t)), busy(t), pagestest.Frame(t, pagestest.Foreign)} {
		for _, p := range joined.JoinOverview(parts(frame, &cache{})).Problems {
			if pageOf(p.Look).Zero() {
				t.Errorf("no page for %q", p.Look)
			}
		}
	}
}

// The cursor stays on what it was put on, and on the worst problem until then.
func TestCursorFollows(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	healthy := pagestest.Objects(pagestest.Objects(frame, data.APIServices), data.Definitions)
	p := open(t)
	pagestest.Picture(t, p, healthy, 80, 24)
	pagestest.Picture(t, p, frame, 80, 24)
	if got := p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String(); got != "apiservices/v1.broken.example.com" {
		t.Errorf("a problem came up, and enter leads to %q", got)
	}
	for range 20 {
		if p.Act(page.Action{ID: page.Enter, Count: 1}).Open.Page == "etcd" {
			break
		}
		p.Act(page.Action{ID: page.Down, Count: 1})
	}
	pagestest.Picture(t, p, healthy, 80, 24)
	if got := p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String(); got != "etcd" {
		t.Errorf("the problems went away, and enter leads to %q", got)
	}
}

// Where there is no room for all problems, enter on the last line lists them.
func TestAllProblems(t *testing.T) {
	t.Parallel()
	p, frame := open(t), pagestest.Frame(t, pagestest.Kapi)
	few := pagestest.Picture(t, p, frame, 40, 10)
	if !strings.Contains(few, "5 more: enter lists them") {
		t.Fatalf("it does not say that there are more:\n%s", few)
	}
	p.Act(page.Action{ID: page.Down, Count: 2})
	p.Act(page.Action{ID: page.Enter, Count: 1})
	if all := pagestest.Picture(t, p, frame, 40, 10); strings.Count(all, "✗")+strings.Count(all, "!") < 8 {
		t.Errorf("not all are listed:\n%s", all)
	}
}

// On a wide screen the cursor goes from side to side.
func TestSides(t *testing.T) {
	t.Parallel()
	p := open(t)
	pagestest.Picture(t, p, pagestest.Frame(t, pagestest.Kapi), 200, 60)
	for _, step := range []struct {
		id   page.ActionID
		want string
	}{{page.NextPart, "apiservices"}, {page.Up, "crds"}, {page.NextPart, "apiservices/v1.broken.example.com"}, {page.Right, "apiservices"}, {page.Left, "apiservices/v1.broken.example.com"}} {
		p.Act(page.Action{ID: step.id, Count: 1})
		if got := p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String(); got != step.want {
			t.Errorf("after %s enter leads to %q, want %q", step.id, got, step.want)
		}
	}
}

// Whatever an operator asks first is on the screen of 80 columns, or one key away.
func TestOperatorsQuestions(t *testing.T) {
	t.Parallel()
	p := open(t)
	pagestest.Picture(t, p, pagestest.Frame(t, pagestest.Kapi), 80, 24)
	found := map[string]bool{}
	for range 30 {
		found[p.Act(page.Action{ID: page.Enter, Count: 1}).Open.Page] = true
		p.Act(page.Action{ID: page.Down, Count: 1})
	}
	for _, want := range []string{"apiservices", "crds", "requests", "chain", "health", "hooks", "etcd", "flow"} {
		if !found[want] {
			t.Errorf("nothing leads to %s", want)
		}
	}
}

func BenchmarkUpdateAndView(b *testing.B) {
	frame := pagestest.Frame(b, pagestest.Kapi)
	var traces, definitions []kinds.Object
	one := data.Objects[*v1alpha1.RequestTrace](frame, data.Of(partTraces))[0]
	crd := data.Objects[*apiextensionsv1.CustomResourceDefinition](frame, data.Definitions)[0]
	for i := range 10000 {
		t, d := one.DeepCopy(), crd.DeepCopy()
		t.Name, d.Name = fmt.Sprint("trace-", i), fmt.Sprint("crd-", i)
		traces, definitions = append(traces, t), append(definitions, d)
	}
	frame = pagestest.Objects(pagestest.Objects(frame, data.Of(partTraces), traces...), data.Definitions, definitions...)
	paper := pagestest.Paper(b, 160, 48, frame.Now)
	p := open(b)
	b.ReportAllocs()
	for b.Loop() {
		p.Update(frame)
		p.View(paper)
	}
}
