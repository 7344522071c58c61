package health

import (
	"strings"
	"testing"
	"time"

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

// ill is a server of which three checks are not fine, the last one in the list first.
func ill(t *testing.T) data.Frame {
	t.Helper()
	frame := pagestest.Frame(t, pagestest.Kapi)
	var checks []kinds.Object
	for _, c := range data.Objects[*v1alpha1.HealthCheck](frame, feed) {
		c = c.DeepCopy()
		at := metav1.NewMicroTime(frame.Now.Add(-90 * time.Second))
		switch c.Name {
		case "etcd":
			c.Status.LastError, c.Status.LastErrorAt = "etcd did not answer within 2s", &at
		case "log":
			c.Status.State, c.Status.Since = v1alpha1.HealthUnknown, nil
		case "poststarthook-rbac-bootstrap-roles":
			c.Status.State, c.Status.Since, c.Status.LastErrorAt = v1alpha1.HealthFailed, &at, &at
			c.Status.LastError = "not finished: waiting for the first list of clusterroles, which the store answered with: context deadline exceeded"
		}
		checks = append(checks, c)
	}
	return pagestest.Objects(frame, feed, checks...)
}

func TestPictures(t *testing.T) {
	pagestest.Golden(t, "ill", open(t, "health"), ill(t))
	pagestest.Golden(t, "hook", open(t, "health/poststarthook-rbac-bootstrap-roles"), ill(t))
	pagestest.Golden(t, "etcd", open(t, "health/etcd"), ill(t))
	pagestest.Golden(t, "foreign", open(t, "health"), pagestest.Frame(t, pagestest.Foreign))
}

func TestFits(t *testing.T) {
	for _, at := range []string{"health", "health/etcd", "health/none"} {
		pagestest.Fits(t, open(t, at), ill(t))
		pagestest.Reasons(t, open(t, at), ill(t))
	}
	frame := ill(t)
	var checks []kinds.Object
	for _, name := range pagestest.Strange {
		c := &v1alpha1.HealthCheck{}
		c.Name, c.Spec.Check, c.Spec.Endpoints = name, "poststarthook/"+name, []string{name}
		c.Status.LastError = name
		checks = append(checks, c)
	}
	frame = pagestest.Objects(frame, feed, checks...)
	pagestest.Fits(t, open(t, "health"), frame)
	for _, name := range pagestest.Strange {
		p, err := New(page.Env{}, page.At("health", name))
		if err != nil {
			t.Fatal(err)
		}
		pagestest.Fits(t, p, frame)
	}
}

// A check that fails is on top with the reason that readyz withholds, and its hook is
// one line away.
func TestFailedFirst(t *testing.T) {
	p := open(t, "health")
	got := pagestest.Picture(t, p, ill(t), 120, 24)
	if !strings.Contains(got, "readyz ✗ 1 of 8 fail") || !strings.Contains(got, "not finished: waiting") {
		t.Errorf("it is not said what fails and why:\n%s", got)
	}
	pagestest.Leads(t, p, page.Enter, "health/poststarthook-rbac-bootstrap-roles")
	links := pagestest.Links(t, open(t, "health/poststarthook-rbac-bootstrap-roles"), ill(t))
	if len(links) != 1 || links[0] != "hooks/rbac-bootstrap-roles" {
		t.Errorf("the lines lead to %v", links)
	}
}
