package object

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask/asktest"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
)

var (
	now     = time.Date(2026, 11, 30, 6, 54, 54, 0, time.UTC)
	pods    = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
)

func open(t testing.TB, client *asktest.Client, at page.Location) page.Page {
	t.Helper()
	p, err := New(page.Env{Client: client}, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func act(p page.Page, id page.ActionID) page.Effect { return p.Act(page.Action{ID: id, Count: 1}) }

func frameWith(views ...data.View) data.Frame {
	frame := data.Frame{Revision: 1, Now: now, State: data.Live, About: inspection.About{Type: inspection.Kapi}}
	for _, view := range views {
		frame = frame.With(view)
	}
	return frame
}

func podColumns() []data.Column {
	return []data.Column{
		{Name: "Name", Type: "string"}, {Name: "Ready", Type: "string"}, {Name: "Status", Type: "string"},
		{Name: "Restarts", Type: "string"}, {Name: "Age", Type: "string"},
		{Name: "IP", Type: "string", Wide: true}, {Name: "Nominated Node", Type: "string", Wide: true},
	}
}

func pod(namespace, name, ready, status string, restarts int) *data.Row {
	row := &data.Row{Cells: []any{name, ready, status, fmt.Sprint(restarts), "3s", "10.0.0.1", nil}}
	row.Namespace, row.Name = namespace, name
	row.CreationTimestamp = metav1.NewTime(now.Add(-time.Duration(len(name)) * time.Hour))
	row.Labels = map[string]string{"app": strings.Split(name, "-")[0]}
	return row
}

func podView(rows ...*data.Row) data.View {
	view := data.View{Key: data.Key{Resource: pods}, State: data.Live, Columns: podColumns(), Revision: 1}
	for _, row := range rows {
		view.Objects = append(view.Objects, kinds.Object(row))
	}
	return view
}

func somePods() []*data.Row {
	return []*data.Row{
		pod("default", "web-7d4b9c-abcde", "1/1", "Running", 0),
		pod("default", "web-7d4b9c-fghij", "0/1", "CrashLoopBackOff", 17),
		pod("batch", "report-28391", "0/1", "Completed", 0),
		pod("kube-system", "coredns-例えば-é", "1/1", "Running", 1),
		pod("kube-system", "evil-\x1b[2J\u202e", "0/1", "Pending", 0),
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	p := open(t, nil, page.At("object", "pods", "version", "v1"))
	if picture := pagestest.Picture(t, p, frameWith(), 80, 24); !strings.Contains(picture, "loading") {
		t.Errorf("before the server has answered\n%s", picture)
	}
	frame := frameWith(podView(somePods()...))
	pagestest.Golden(t, "pods", p, frame)
	for action, want := range map[page.ActionID]string{
		page.Enter:    "object/pods/web-7d4b9c-abcde?namespace=default&version=v1",
		page.Yaml:     "object/pods/web-7d4b9c-abcde?namespace=default&version=v1&view=yaml",
		page.Describe: "object/pods/web-7d4b9c-abcde?namespace=default&version=v1&view=describe",
		page.EtcdKey:  "object/pods/web-7d4b9c-abcde?namespace=default&version=v1&view=etcd",
	} {
		if !p.Offers(action) {
			t.Errorf("%s is not offered", action)
		}
		if got := act(p, action).Open.String(); got != want {
			t.Errorf("%s leads to %s", action, got)
		}
	}
	subject, ok := p.(page.Selecter).Selected()
	if !ok || subject.Path != "/api/v1/namespaces/default/pods/web-7d4b9c-abcde" || subject.Name != "web-7d4b9c-abcde" {
		t.Errorf("selected is %+v", subject)
	}
	pagestest.Fits(t, p, frame)
}

// What the eye should find: trouble has a sign and a word, and can be left alone.
func TestTrouble(t *testing.T) {
	t.Parallel()
	p := open(t, nil, page.At("object", "pods", "version", "v1"))
	p.Update(frameWith(podView(somePods()...)))
	act(p, page.Unhealthy)
	picture := pagestest.Picture(t, p, frameWith(podView(somePods()...)), 100, 24)
	for text, there := range map[string]bool{"! CrashLoopBackOff": true, "! Pending": true, "Completed": false, "coredns": false} {
		if strings.Contains(picture, text) != there {
			t.Errorf("%q is there: %t\n%s", text, !there, picture)
		}
	}
	for _, test := range []struct {
		column, text string
		want         bool
	}{
		{"Status", "Running", false}, {"Status", "ImagePullBackOff", true}, {"Status", "NotReady", true}, {"Status", "Active", false},
		{"Ready", "2/3", true}, {"Ready", "3/3", false}, {"Ready", "False", true}, {"Ready", "x/y", false}, {"Available", "False (MissingEndpoints)", true},
		{"Name", "error/0", false}, {"Phase", "Failed", true},
	} {
		if got := troubled(data.Column{Name: test.column}, test.text, &data.Row{}); got != test.want {
			t.Errorf("%s %q is trouble: %t", test.column, test.text, got)
		}
	}
}

// Filters by label and by column, also one that was there before the columns.
func TestListFilters(t *testing.T) {
	t.Parallel()
	frame := frameWith(podView(somePods()...))
	for filter, want := range map[string]string{"-l app=report": "report-28391", "status:crash": "fghij", "namespace:batch": "report"} {
		p := open(t, nil, page.At("object", "pods", "version", "v1", "filter", filter))
		picture := pagestest.Picture(t, p, frame, 100, 24)
		if !strings.Contains(picture, want) || strings.Contains(picture, "abcde") {
			t.Errorf("filter %q\n%s", filter, picture)
		}
		if got := p.(page.Filterer).Filtered(); got != filter {
			t.Errorf("filter %q is %q", filter, got)
		}
	}
}

// The cursor and the filter stay when a definition gets other columns.
func TestColumnsChange(t *testing.T) {
	t.Parallel()
	p := open(t, nil, page.At("object", "pods", "version", "v1"))
	frame := frameWith(podView(somePods()...))
	pagestest.Picture(t, p, frame, 80, 24)
	act(p, page.Down)
	if err := p.(page.Filterer).Filter("web"); err != nil {
		t.Fatal(err)
	}
	view := podView(somePods()...)
	view.Columns = view.Columns[:3]
	p.Update(frameWith(view))
	subject, _ := p.(page.Selecter).Selected()
	if subject.Name != "web-7d4b9c-fghij" || p.(page.Filterer).Filtered() != "web" {
		t.Errorf("the cursor is on %q, the filter %q", subject.Name, p.(page.Filterer).Filtered())
	}
	pagestest.Fits(t, p, frameWith(view))
	ragged := pod("default", "few", "1/1", "", 0)
	ragged.Cells = ragged.Cells[:1]
	pagestest.Fits(t, p, frameWith(podView(ragged)))
}

func TestListStates(t *testing.T) {
	t.Parallel()
	for state, want := range map[data.State]string{data.Forbidden: "forbidden", data.Failed: "error", data.Absent: "not on this server", data.Live: "no pods"} {
		p := open(t, nil, page.At("object", "pods", "version", "v1"))
		frame := pagestest.In(frameWith(), state, data.Key{Resource: pods})
		if picture := pagestest.Picture(t, p, frame, 80, 24); !strings.Contains(picture, want) {
			t.Errorf("state %d\n%s", state, picture)
		}
		pagestest.Fits(t, p, frame)
	}
}

func widget(version string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{
			"name": "a", "namespace": "default", "uid": "u1", "resourceVersion": version, "creationTimestamp": "2026-11-30T03:54:54Z",
			"managedFields": []any{map[string]any{"manager": "kubectl-client-side-apply"}},
			"labels":        map[string]any{"app": "例え"},
		},
		"spec": map[string]any{"size": size},
	}}
}

var one1 = data.Key{Resource: widgets, Namespace: "default", Name: "a"}

func widgetFrame(object *unstructured.Unstructured) data.Frame {
	view := data.View{Key: one1, State: data.Live, Revision: 1}
	if object != nil {
		view.Objects = []kinds.Object{object}
	}
	registration := &v1alpha1.APIResourceRegistration{Spec: v1alpha1.APIResourceRegistrationSpec{
		Group: "example.com", Version: "v1", Resource: "widgets", EtcdPrefix: "/registry/example.com/widgets", Served: true,
	}}
	return frameWith(view, data.View{Key: registrations, State: data.Live, Objects: []kinds.Object{registration}})
}

func client() *asktest.Client {
	c := &asktest.Client{}
	c.OnDescribe = func(name string) (string, error) {
		return fmt.Sprintf("Name:  %s\nAsked: %d\nEvents:\n  Type\tReason\n  Normal\tMade\n", name, c.Asked), nil
	}
	c.OnStored = func(spec v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
		answer := &v1alpha1.StoredKeyQuery{Spec: spec}
		answer.Status.Keys = []v1alpha1.StoredKey{{Key: spec.Key, Bytes: 300, ModRevision: 40, CreateRevision: 40, Version: 1}}
		answer.Status.Value = &v1alpha1.StoredValue{Encoding: v1alpha1.StoredJSON, Bytes: 300, APIVersion: "example.com/v1alpha1", Kind: "Widget", JSON: `{"kind":"Widget","spec":{"size":3}}`}
		return answer, nil
	}
	return c
}

func widgetPage(t testing.TB, c *asktest.Client, view string) page.Page {
	t.Helper()
	return open(t, c, page.At("object", "widgets.example.com/a", "version", "v1", "namespace", "default", "view", view))
}

func TestYAML(t *testing.T) {
	t.Parallel()
	p := widgetPage(t, client(), "")
	if picture := pagestest.Picture(t, p, frameWith(), 80, 24); !strings.Contains(picture, "loading") {
		t.Errorf("before it is there\n%s", picture)
	}
	asktest.Opened(t, p, widgetFrame(widget("40", 3)))
	pagestest.Golden(t, "yaml", p, widgetFrame(widget("40", 3)))
	picture := pagestest.Picture(t, p, widgetFrame(widget("41", 4)), 80, 24)
	if strings.Contains(picture, "managedFields") || !strings.Contains(picture, "size: 4") {
		t.Errorf("another state of the object\n%s", picture)
	}
	pagestest.Fits(t, p, widgetFrame(widget("41", 4)))
	if object := widget("40", 3); plain(object.Object)["metadata"].(map[string]any)["managedFields"] != nil || object.GetManagedFields() == nil {
		t.Error("managed fields are not left out, or out of the object itself")
	}
}

// Describe asks once for each state of the object, and only while it is looked at.
func TestDescribe(t *testing.T) {
	t.Parallel()
	c := client()
	p := widgetPage(t, c, "")
	asktest.Opened(t, p, widgetFrame(widget("40", 3)))
	if c.Asked != 0 {
		t.Fatal("something is asked for that is not shown")
	}
	asktest.Run(t, p, act(p, page.Describe))
	pagestest.Golden(t, "describe", p, widgetFrame(widget("40", 3)))
	pagestest.Fits(t, p, widgetFrame(widget("40", 3)))
	act(p, page.Describe)
	for range 3 {
		asktest.Opened(t, p, widgetFrame(widget("40", 3)))
	}
	if c.Asked != 1 {
		t.Errorf("asked %d times for the same", c.Asked)
	}
	asktest.Opened(t, p, widgetFrame(widget("41", 3)))
	if picture := pagestest.Picture(t, p, widgetFrame(widget("41", 3)), 80, 24); c.Asked != 2 || !strings.Contains(picture, "Asked: 2") {
		t.Errorf("asked %d times\n%s", c.Asked, picture)
	}
	asktest.Run(t, p, act(p, page.Refresh))
	if c.Asked != 3 {
		t.Errorf("refresh: asked %d times", c.Asked)
	}
	c.OnDescribe = func(string) (string, error) { return "", errors.New("no route to host") }
	asktest.Run(t, p, act(p, page.Refresh))
	if picture := pagestest.Picture(t, p, widgetFrame(widget("41", 3)), 80, 24); !strings.Contains(picture, "now: no route to host") || !strings.Contains(picture, "Asked: 3") {
		t.Errorf("what was there is lost\n%s", picture)
	}
}

func TestEtcd(t *testing.T) {
	t.Parallel()
	p := widgetPage(t, client(), "etcd")
	asktest.Opened(t, p, widgetFrame(widget("40", 3)))
	pagestest.Golden(t, "etcd", p, widgetFrame(widget("40", 3)))
	pagestest.Fits(t, p, widgetFrame(widget("40", 3)))
	refused := client()
	refused.OnStored = func(v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "storedkeyqueries"}, "", errors.New("no"))
	}
	p = widgetPage(t, refused, "etcd")
	asktest.Opened(t, p, widgetFrame(widget("40", 3)))
	if picture := pagestest.Picture(t, p, widgetFrame(widget("40", 3)), 80, 24); !strings.Contains(picture, "kapi:inspect-storage") {
		t.Errorf("where it is forbidden\n%s", picture)
	}
	foreign := widgetFrame(widget("40", 3))
	foreign.About.Type = inspection.Foreign
	foreign = foreign.With(data.View{Key: registrations, State: data.Live})
	p = widgetPage(t, client(), "etcd")
	asktest.Opened(t, p, foreign)
	if picture := pagestest.Picture(t, p, foreign, 80, 24); !strings.Contains(picture, "etcdctl get /registry/example.com/widgets/default/a -w fields") || !strings.Contains(picture, "kapi does") {
		t.Errorf("another server\n%s", picture)
	}
}

func TestNotStored(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spec v1alpha1.APIResourceRegistrationSpec
		want string
	}{
		"aggregated": {v1alpha1.APIResourceRegistrationSpec{APIService: "v1.example.com"}, "aggregated server of APIService v1.example.com"},
		"in memory":  {v1alpha1.APIResourceRegistrationSpec{}, "answered from memory"},
	} {
		test.spec.Group, test.spec.Version, test.spec.Resource = "example.com", "v1", "widgets"
		frame := widgetFrame(widget("40", 3)).With(data.View{Key: registrations, State: data.Live, Objects: []kinds.Object{&v1alpha1.APIResourceRegistration{Spec: test.spec}}})
		c := client()
		p := widgetPage(t, c, "etcd")
		asktest.Opened(t, p, frame)
		if picture := pagestest.Picture(t, p, frame, 80, 24); !strings.Contains(picture, test.want) || c.Asked != 0 {
			t.Errorf("%s\n%s", name, picture)
		}
	}
}

// What one reads stays when it is deleted, and says so.
func TestDeleted(t *testing.T) {
	t.Parallel()
	p := widgetPage(t, client(), "")
	p.Update(widgetFrame(widget("40", 3)))
	gone := widgetFrame(nil)
	p.Update(gone)
	gone.Now = now.Add(3 * time.Minute)
	pagestest.Golden(t, "deleted", p, gone)
	again := widget("50", 9)
	again.SetUID("u2")
	if picture := pagestest.Picture(t, p, widgetFrame(again), 80, 24); !strings.Contains(picture, "another object of this name") || !strings.Contains(picture, "size: 9") {
		t.Errorf("made anew\n%s", picture)
	}
	going := widget("51", 9)
	going.SetDeletionTimestamp(&metav1.Time{Time: now.Add(-time.Hour)})
	going.SetFinalizers([]string{"example.com/wait"})
	if picture := pagestest.Picture(t, p, widgetFrame(going), 80, 24); !strings.Contains(picture, "is being deleted since 60m, waits for finalizers [example.com/wait]") {
		t.Errorf("while it is deleted\n%s", picture)
	}
	stale := widgetFrame(nil).With(data.View{Key: one1, State: data.Stale})
	p = widgetPage(t, client(), "")
	p.Update(widgetFrame(widget("40", 3)))
	if picture := pagestest.Picture(t, p, stale, 80, 24); strings.Contains(picture, "deleted") {
		t.Errorf("a lost connection is no deletion\n%s", picture)
	}
	never := widgetPage(t, client(), "")
	if picture := pagestest.Picture(t, never, widgetFrame(nil), 80, 24); !strings.Contains(picture, `there is no widgets.example.com "a" in namespace default`) {
		t.Errorf("never there\n%s", picture)
	}
}

func TestTabs(t *testing.T) {
	t.Parallel()
	p := widgetPage(t, client(), "")
	p.Update(widgetFrame(widget("40", 3)))
	for _, step := range []struct {
		do   page.ActionID
		want string
	}{{page.NextPart, "[Describe]"}, {page.NextPart, "[Etcd]"}, {page.NextPart, "[YAML]"}, {page.PreviousPart, "[Etcd]"}, {page.Yaml, "[YAML]"}, {page.EtcdKey, "[Etcd]"}} {
		asktest.Run(t, p, act(p, step.do))
		if picture := pagestest.Picture(t, p, widgetFrame(widget("40", 3)), 80, 24); !strings.Contains(picture, step.want) {
			t.Errorf("after %s\n%s", step.do, picture)
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, at := range []page.Location{page.At("object", ""), page.At("object", "pods", "view", "nonsense")} {
		if _, err := New(page.Env{}, at); fault.Code(err) != fault.CodeUsage || fault.Hint(err) == "" {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	var rows []*data.Row
	for i := range 10000 {
		rows = append(rows, pod("default", fmt.Sprintf("web-%d", i), "1/1", "Running", 0))
	}
	frame := frameWith(podView(rows...))
	p := open(b, nil, page.At("object", "pods", "version", "v1"))
	paper := pagestest.Paper(b, 120, 40, now)
	for b.Loop() {
		p.Update(frame)
		p.View(paper)
	}
}
