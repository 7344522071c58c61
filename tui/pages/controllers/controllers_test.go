package controllers

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// some is a server with controllers, which no version has yet.
func some(t *testing.T) data.Frame {
	t.Helper()
	one := func(name string, enabled, leader bool, queue int64, healthy metav1.ConditionStatus, err string) kinds.Object {
		c := &v1alpha1.Controller{}
		c.Name, c.Spec.Enabled, c.Spec.Doc = name, enabled, "Does what "+name+" does."
		c.Status = v1alpha1.ControllerStatus{Leader: leader, QueueDepth: queue, Retries: queue / 2, LastError: err,
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionHealthy, Status: healthy, Message: "its queue is " + string(healthy)}}}
		return c
	}
	return pagestest.Objects(pagestest.Frame(t, pagestest.Kapi), feed,
		one("off", false, false, 0, "False", ""), one("garbage-collector", true, true, 3, "True", ""),
		one("namespace", true, true, 1200, "False", "deleting content: the server could not find the requested resource"),
		one("job", true, false, 0, "True", ""))
}

func TestPictures(t *testing.T) {
	pagestest.Golden(t, "some", open(t, "controllers"), some(t))
	pagestest.Golden(t, "one", open(t, "controllers/namespace"), some(t))
	pagestest.Golden(t, "none", open(t, "controllers"), pagestest.Frame(t, pagestest.Kapi))
	pagestest.Golden(t, "foreign", open(t, "controllers"), pagestest.Frame(t, pagestest.Foreign))
}

func TestFits(t *testing.T) {
	for _, at := range []string{"controllers", "controllers/namespace", "controllers/none"} {
		pagestest.Fits(t, open(t, at), some(t))
		pagestest.Reasons(t, open(t, at), some(t))
	}
	var all []kinds.Object
	for _, name := range pagestest.Strange {
		c := &v1alpha1.Controller{}
		c.Name, c.Status.LastError, c.Spec.Doc = name, name, name
		all = append(all, c)
	}
	pagestest.Fits(t, open(t, "controllers"), pagestest.Objects(some(t), feed, all...))
}

func TestStuckFirst(t *testing.T) {
	p := open(t, "controllers")
	p.Update(some(t))
	pagestest.Leads(t, p, page.Enter, "controllers/namespace")
	var names []string
	for _, c := range rows(some(t)) {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "namespace garbage-collector job off" {
		t.Errorf("the order is %s", got)
	}
}
