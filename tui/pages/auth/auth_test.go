package auth

import (
	"strings"
	"testing"
	"time"

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
	p, err := New(page.Env{Command: "kapi"}, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// busy is a server five seconds after another frame, with decisions in between.
func busy(t *testing.T) data.Frame {
	t.Helper()
	before := pagestest.Frame(t, pagestest.Kapi)
	frame := before
	var all []kinds.Object
	for _, a := range data.Objects[*v1alpha1.Authorizer](frame, data.Of("authorizers")) {
		a = a.DeepCopy()
		if a.Name == "rbac" {
			a.Status.Allowed, a.Status.Errors = a.Status.Allowed+60, 2
		}
		all = append(all, a)
	}
	frame = pagestest.Objects(frame, data.Of("authorizers"), all...)
	frame.Now = before.Now.Add(5 * time.Second)
	frame.Before = &before
	return frame
}

func TestPictures(t *testing.T) {
	pagestest.Golden(t, "auth", open(t, "auth"), busy(t))
	pagestest.Golden(t, "rbac", open(t, "auth/authorizers/rbac"), busy(t))
	pagestest.Golden(t, "off", open(t, "auth/admissionplugins/AlwaysPullImages"), busy(t))
	foreign := pagestest.Frame(t, pagestest.Foreign)
	pagestest.Golden(t, "foreign", open(t, "auth"), foreign)
	pagestest.Golden(t, "foreign-authenticator", open(t, "auth/anonymous"), foreign)
}

func TestFits(t *testing.T) {
	for _, at := range []string{"auth", "auth/authorizers/rbac", "auth/loopback", "auth/none"} {
		pagestest.Fits(t, open(t, at), busy(t))
		pagestest.Reasons(t, open(t, at), busy(t))
	}
	frame := busy(t)
	var authenticators, authorizers, plugins []kinds.Object
	for _, name := range pagestest.Strange {
		one, two, three := &v1alpha1.Authenticator{}, &v1alpha1.Authorizer{}, &v1alpha1.AdmissionPlugin{}
		one.Name, one.Spec.Type, one.Spec.Source, one.Status.Counted = name, name, name, name
		two.Name, two.Spec.ConfiguredBy = name, name
		three.Name, three.Spec.ConfiguredBy = name, name
		authenticators, authorizers, plugins = append(authenticators, one), append(authorizers, two), append(plugins, three)
	}
	frame = pagestest.Objects(frame, data.Of("authenticators"), authenticators...)
	frame = pagestest.Objects(frame, data.Of("authorizers"), authorizers...)
	frame = pagestest.Objects(frame, data.Of("admissionplugins"), plugins...)
	pagestest.Fits(t, open(t, "auth"), frame)
}

// Rates are of the time between the frames, and what can't decide is worth a look.
func TestRates(t *testing.T) {
	for _, r := range authorizers(busy(t)) {
		allowed := r.find("ALLOWED")
		want := 0.0
		if r.name == "rbac" {
			want = 12
		}
		if !allowed.rated || allowed.perSecond != want {
			t.Errorf("%s allows %v in a second (known: %v), want %v", r.name, allowed.perSecond, allowed.rated, want)
		}
		if (r.severity() != 0) != (r.name == "rbac") {
			t.Errorf("%s is %s", r.name, r.severity())
		}
	}
	for _, r := range authorizers(pagestest.Frame(t, pagestest.Kapi)) {
		if r.find("ALLOWED").rated {
			t.Errorf("%s has a rate of one frame", r.name)
		}
	}
}

// Enter leads to the one with the cursor, of the part with the focus.
func TestLeads(t *testing.T) {
	p := open(t, "auth")
	p.Update(busy(t))
	pagestest.Leads(t, p, page.Enter, "auth/authenticators/loopback")
	p.Act(page.Action{ID: page.NextPart, Count: 1})
	pagestest.Leads(t, p, page.Enter, "auth/authorizers/system-privileged-group")
	p.Act(page.Action{ID: page.NextPart, Count: 1})
	pagestest.Leads(t, p, page.Enter, "auth/admissionplugins/NamespaceLifecycle")
	links := pagestest.Links(t, open(t, "auth/authenticators/loopback"), busy(t))
	if len(links) != 1 || links[0] != "chain/authentication" {
		t.Errorf("the lines lead to %v", links)
	}
}

// A plugin that is off says why, in a word and not in a colour.
func TestOffSaysWhy(t *testing.T) {
	got := pagestest.Picture(t, open(t, "auth"), pagestest.Frame(t, pagestest.Kapi), 100, 40)
	if !strings.Contains(got, "○ off by default") {
		t.Errorf("it is not said why:\n%s", got)
	}
	got = pagestest.Picture(t, open(t, "auth/admissionplugins/ServiceAccount"), pagestest.Frame(t, pagestest.Foreign), 100, 40)
	if !strings.Contains(got, "off by --disable-admission-plugins") {
		t.Errorf("it is not said why:\n%s", got)
	}
}

func TestRate(t *testing.T) {
	for perSecond, want := range map[float64]string{0: "0", 0.01: "<0.1", 0.25: "0.2", 9.94: "9.9", 12.4: "12", 1234: "1234"} {
		if got := rate(perSecond); got != want {
			t.Errorf("%v is written %q, want %q", perSecond, got, want)
		}
	}
}
