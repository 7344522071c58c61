package controllers

import (
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
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

func TestPictures(t *testing.T) {
	kapi := pagestest.Frame(t, pagestest.Kapi)
	pagestest.Golden(t, "some", open(t, "controllers"), kapi)
	for _, name := range []string{"namespace", "resourcequota", "csrsigning", "root-ca-cert-publisher", "job"} {
		pagestest.Golden(t, name, open(t, "controllers/"+name), kapi)
	}
	pagestest.Golden(t, "none", open(t, "controllers"), pagestest.Objects(kapi, feed))
	pagestest.Golden(t, "foreign", open(t, "controllers"), pagestest.Frame(t, pagestest.Foreign))
}

func TestFits(t *testing.T) {
	for _, at := range []string{"controllers", "controllers/namespace", "controllers/job", "controllers/none"} {
		pagestest.Fits(t, open(t, at), pagestest.Frame(t, pagestest.Kapi))
		pagestest.Reasons(t, open(t, at), pagestest.Frame(t, pagestest.Kapi))
	}
	var all []kinds.Object
	for _, name := range pagestest.Strange {
		c := &v1alpha1.Controller{}
		c.Name, c.Status.LastError, c.Spec.Doc = name, name, name
		all = append(all, c)
	}
	pagestest.Fits(t, open(t, "controllers"), pagestest.Objects(pagestest.Frame(t, pagestest.Kapi), feed, all...))
}

func TestFailingFirst(t *testing.T) {
	p, frame := open(t, "controllers"), pagestest.Frame(t, pagestest.Kapi)
	p.Update(frame)
	pagestest.Leads(t, p, page.Enter, "controllers/csrsigning")
	var names []string
	for _, c := range rows(frame) {
		names = append(names, c.Name)
	}
	want := "csrsigning resourcequota namespace garbagecollector serviceaccount root-ca-cert-publisher deployment job"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("the order is %s", got)
	}
}

// Who looks at a controller gets to what it asks the server.
func TestRequests(t *testing.T) {
	const want = "requests?filter=user%3Asystem%3Aserviceaccount%3Akube-system%3Anamespace-controller"
	p := open(t, "controllers/namespace")
	p.Update(pagestest.Frame(t, pagestest.Kapi))
	if got := p.Act(page.Action{ID: page.Requests, Count: 1}).Open.String(); got != want {
		t.Errorf("it leads to %s", got)
	}
	if got := requestsOf(&v1alpha1.Controller{}); !got.Zero() {
		t.Errorf("nobody's requests are at %s", got)
	}
}
