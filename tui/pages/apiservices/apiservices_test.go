package apiservices

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
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
	p, err := New(page.Env{Command: "kapi"}, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func lab(t *testing.T) data.Frame {
	t.Helper()
	return pagestest.FrameOf(t, joinedtest.Lab(t))
}

func TestPictures(t *testing.T) {
	frame := lab(t)
	pagestest.Golden(t, "list", open(t, "apiservices"), frame)
	for _, name := range []string{"headless", "missing", "refused", "status", "tls", "ok"} {
		pagestest.Golden(t, name, open(t, "apiservices/v1."+name+".lab.example"), frame)
	}
	foreign := pagestest.Frame(t, pagestest.Foreign)
	pagestest.Golden(t, "foreign", open(t, "apiservices"), foreign)
	pagestest.Golden(t, "foreign-detail", open(t, "apiservices/v1.weather.example.com"), foreign)
}

func TestFits(t *testing.T) {
	for _, at := range []string{"apiservices", "apiservices?filter=state:unavail", "apiservices/v1.tls.lab.example", "apiservices/v1.", "apiservices/none"} {
		pagestest.Fits(t, open(t, at), lab(t))
		pagestest.Reasons(t, open(t, at), lab(t))
	}
}

func TestStrangeNames(t *testing.T) {
	frame := lab(t)
	var services, probes []kinds.Object
	for _, name := range pagestest.Strange {
		service := &apiregistrationv1.APIService{}
		service.Name, service.Spec.Group, service.Spec.Version = name, name, name
		service.Spec.Service = &apiregistrationv1.ServiceReference{Namespace: name, Name: name}
		probe := &v1alpha1.APIServiceProbe{}
		probe.Name, probe.Status.FailingStep, probe.Status.Error = name, v1alpha1.ProbeStepName(name), name
		probe.Status.Probes = []v1alpha1.Probe{{Steps: []v1alpha1.ProbeStep{{Name: v1alpha1.ProbeService, Error: name, Detail: name}}}}
		services, probes = append(services, service), append(probes, probe)
	}
	frame = pagestest.Objects(frame, data.APIServices, services...)
	frame = pagestest.Objects(frame, data.Of("apiserviceprobes"), probes...)
	pagestest.Fits(t, open(t, "apiservices"), frame)
	for _, name := range pagestest.Strange {
		p, err := New(page.Env{}, page.At("apiservices", name))
		if err != nil {
			t.Fatal(err)
		}
		pagestest.Fits(t, p, frame)
	}
}

// The worst is on top, and enter on it shows why: that is the shortest way to it.
func TestWorstFirst(t *testing.T) {
	p := open(t, "apiservices")
	p.Update(lab(t))
	pagestest.Leads(t, p, page.Enter, "apiservices/v1.headless.lab.example")
	pagestest.Leads(t, p, page.Requests, "requests?filter=%2Fapis%2Fheadless.lab.example%2Fv1")
	subject, ok := p.(page.Selecter).Selected()
	if !ok || subject.Name != "v1.headless.lab.example" || subject.Resource.Resource != "apiservices" {
		t.Errorf("selected is %+v", subject)
	}
}

// The cursor stays on its APIService when that comes to be fine and moves down.
func TestCursorStays(t *testing.T) {
	p, frame := open(t, "apiservices"), lab(t)
	p.Update(frame)
	p.View(pagestest.Paper(t, 80, 24, frame.Now))
	p.Act(page.Action{ID: page.Down, Count: 1})
	before, _ := p.(page.Selecter).Selected()
	var objects []kinds.Object
	for _, service := range data.Objects[*apiregistrationv1.APIService](frame, data.APIServices) {
		if service.Name == before.Name {
			service = service.DeepCopy()
			service.Status.Conditions[0].Status = apiregistrationv1.ConditionTrue
		}
		objects = append(objects, service)
	}
	p.Update(pagestest.Objects(frame, data.APIServices, objects...))
	if after, _ := p.(page.Selecter).Selected(); after.Name != before.Name {
		t.Errorf("the cursor was on %s and is on %s", before.Name, after.Name)
	}
}

func TestLinks(t *testing.T) {
	links := pagestest.Links(t, open(t, "apiservices/v1.ok.lab.example"), lab(t))
	for _, want := range []string{
		"object/services/okay?namespace=lab&version=v1",
		"object/endpointslices.discovery.k8s.io?filter=-l+kubernetes.io%2Fservice-name%3Dokay&namespace=lab&version=v1",
		"requests?filter=%2Fapis%2Fok.lab.example%2Fv1",
		"discovery/ok.lab.example.v1",
		"object/widgets.ok.lab.example?version=v1",
	} {
		if !slices.Contains(links, want) {
			t.Errorf("no line leads to %s; there are\n%s", want, strings.Join(links, "\n"))
		}
	}
}

// Who was answered 503 is named, the newest first, with the request itself behind it.
func TestClients(t *testing.T) {
	frame := lab(t)
	var traces []kinds.Object
	for i, code := range []int32{503, 200, 503} {
		trace := &v1alpha1.RequestTrace{}
		trace.Name = string(rune('a' + i))
		trace.Spec = v1alpha1.RequestTraceSpec{
			AuditID: "audit-" + trace.Name, Verb: "list", Path: "/apis/missing.lab.example/v1/things",
			User:        &v1alpha1.RequestUser{Name: "user-" + trace.Name},
			RequestInfo: &v1alpha1.RequestInfo{APIGroup: "missing.lab.example", APIVersion: "v1"},
		}
		trace.Status.Code = code
		trace.Status.ReceivedAt = metav1.NewMicroTime(frame.Now.Add(time.Duration(i-10) * time.Second))
		traces = append(traces, trace)
	}
	nobody := &v1alpha1.RequestTrace{}
	nobody.Status.Code = 503
	frame = pagestest.Objects(frame, data.Of("requesttraces"), append(traces, nobody)...)
	p := open(t, "apiservices/v1.missing.lab.example")
	got := pagestest.Picture(t, p, frame, 80, 60)
	newest, oldest := strings.Index(got, "8s ago"), strings.Index(got, "10s ago")
	if newest < 0 || oldest < newest || !strings.Contains(got, "user-c") || strings.Contains(got, "user-b") {
		t.Errorf("clients are not shown as they should be:\n%s", got)
	}
	if links := pagestest.Links(t, p, frame); !slices.Contains(links, "requests/audit-c") {
		t.Errorf("no line leads to the request: %v", links)
	}
}

// One that is gone says so, and is no subject.
func TestGone(t *testing.T) {
	p := open(t, "apiservices/v1.gone")
	if got := pagestest.Picture(t, p, lab(t), 80, 24); !strings.Contains(got, "there is no APIService v1.gone") {
		t.Errorf("it is not said that it is gone:\n%s", got)
	}
	if _, ok := p.(page.Selecter).Selected(); ok {
		t.Error("it is selected")
	}
}
