package groups

import (
	"strings"
	"testing"

	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
)

func open(t testing.TB, location string) page.Page {
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

func lab(t testing.TB) data.Frame {
	t.Helper()
	return pagestest.FrameOf(t, joinedtest.Lab(t))
}

func do(p page.Page, ids ...page.ActionID) {
	for _, id := range ids {
		p.Act(page.Action{ID: id, Count: 1})
	}
}

func TestPictures(t *testing.T) {
	pagestest.Golden(t, "folded", open(t, "groups"), lab(t))
	p := open(t, "groups?filter=apps")
	p.Update(lab(t))
	do(p, page.UnfoldAll)
	pagestest.Golden(t, "apps", p, lab(t))
	p = open(t, "groups/admissionregistration.k8s.io")
	kapi := pagestest.Frame(t, pagestest.Kapi)
	p.Update(kapi)
	do(p, page.UnfoldAll, page.Down, page.Down)
	pagestest.Golden(t, "off", p, kapi)
	pagestest.Golden(t, "foreign", open(t, "groups"), pagestest.Frame(t, pagestest.Foreign))
}

func TestFits(t *testing.T) {
	for _, at := range []string{"groups", "groups?filter=lab", "groups/none"} {
		pagestest.Fits(t, open(t, at), lab(t))
		pagestest.Reasons(t, open(t, at), lab(t))
	}
}

func TestStrangeNames(t *testing.T) {
	frame := lab(t)
	var registrations, services []kinds.Object
	for _, name := range pagestest.Strange {
		r := &v1alpha1.APIResourceRegistration{}
		r.Name = name
		r.Spec = v1alpha1.APIResourceRegistrationSpec{Group: name, Version: name, Resource: name, Kind: name, Layer: name, DeprecatedIn: name, Served: true}
		s := &apiregistrationv1.APIService{}
		s.Name, s.Spec.Group, s.Spec.Version = name, name, name
		registrations, services = append(registrations, r), append(services, s)
	}
	frame = pagestest.Objects(frame, data.Of("apiresourceregistrations"), registrations...)
	frame = pagestest.Objects(frame, data.APIServices, services...)
	pagestest.Fits(t, open(t, "groups"), frame)
}

// A group whose APIService is unavailable is on top, its reason is on the screen, and
// enter leads to the page that has it in full.
func TestUnavailableFirst(t *testing.T) {
	p, frame := open(t, "groups"), lab(t)
	if got := pagestest.Picture(t, p, frame, 80, 24); !strings.Contains(got, "no endpoints available") {
		t.Errorf("the reason is not shown:\n%s", got)
	}
	pagestest.Leads(t, p, page.Enter, "apiservices/v1.headless.lab.example")
}

func TestLeads(t *testing.T) {
	p := open(t, "groups")
	p.Update(lab(t))
	if err := p.(page.Filterer).Filter("deployments"); err != nil {
		t.Fatal(err)
	}
	do(p, page.UnfoldAll, page.Top, page.Down, page.Down)
	pagestest.Leads(t, p, page.Enter, "object/deployments.apps?version=v1")
	pagestest.Leads(t, p, page.Requests, "requests?filter=%2Fapis%2Fapps%2Fv1+deployments")
	subject, ok := p.(page.Selecter).Selected()
	if !ok || subject.Name != "deployments.apps" || subject.Inspect != "apiresourceregistrations" {
		t.Errorf("selected is %+v", subject)
	}
	do(p, page.Top)
	if p.Offers(page.Enter); p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String() != "" {
		t.Error("enter on a group that is fine does not fold")
	}
}

// Another width has other columns; the cursor and the filter stay.
func TestWidthKeepsCursor(t *testing.T) {
	p, frame := open(t, "groups"), lab(t)
	pagestest.Picture(t, p, frame, 160, 48)
	if err := p.(page.Filterer).Filter("lab"); err != nil {
		t.Fatal(err)
	}
	do(p, page.Down, page.Down)
	before, _ := p.(page.Selecter).Selected()
	pagestest.Picture(t, p, frame, 50, 20)
	after, _ := p.(page.Selecter).Selected()
	if before.Name != after.Name || before.Name == "" || p.(page.Filterer).Filtered() != "lab" {
		t.Errorf("the cursor was on %q and is on %q, the filter is %q", before.Name, after.Name, p.(page.Filterer).Filtered())
	}
}

// In the past, what is not as it was in the frame before is marked.
func TestChangedIsMarked(t *testing.T) {
	frame := lab(t)
	before := frame
	key := data.Of("resourcestorages")
	var storages []kinds.Object
	for _, s := range data.Objects[*v1alpha1.ResourceStorage](frame, key) {
		s = s.DeepCopy()
		if s.Name == "services" {
			s.Status.Objects += 7
		}
		storages = append(storages, s)
	}
	frame = pagestest.Objects(frame, key, storages...)
	frame.Against = &before
	p := open(t, "groups?filter=services")
	p.Update(frame)
	do(p, page.UnfoldAll)
	sign := pagestest.Glyphs(t, "unicode").Changed
	for line := range strings.Lines(pagestest.Picture(t, p, frame, 80, 24)) {
		switch {
		case strings.Contains(line, "services ") && strings.Contains(line, "served") && !strings.Contains(line, sign):
			t.Errorf("it is not marked: %s", line)
		case strings.Contains(line, "apiservices") && strings.Contains(line, sign):
			t.Errorf("it is marked: %s", line)
		}
	}
}

func TestLetters(t *testing.T) {
	for want, has := range map[string][]string{
		"--------": nil,
		"glwcupdx": {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		"g-------": {"get", "bind"},
	} {
		if got := letters(has); got != want {
			t.Errorf("letters of %v are %q, want %q", has, got, want)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	frame := lab(b)
	key := data.Of("apiresourceregistrations")
	objects := frame.View(key).Objects
	for len(objects) < 10_000 {
		r := &v1alpha1.APIResourceRegistration{}
		r.Spec = v1alpha1.APIResourceRegistrationSpec{Group: "many.example", Version: "v1", Resource: strings.Repeat("x", len(objects)%100), Served: true}
		objects = append(objects, r)
	}
	p := open(b, "groups")
	for b.Loop() {
		frame = pagestest.Objects(frame, key, objects...)
		p.Update(frame)
	}
}
