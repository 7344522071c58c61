package discovery

import (
	"slices"
	"testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
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
	frame := pagestest.FrameOf(t, joinedtest.Lab(t))
	pagestest.Golden(t, "list", open(t, "discovery"), frame)
	pagestest.Golden(t, "stale", open(t, "discovery/tls.lab.example.v1"), frame)
	pagestest.Golden(t, "foreign", open(t, "discovery"), pagestest.Frame(t, pagestest.Foreign))
}

func TestFits(t *testing.T) {
	frame := pagestest.FrameOf(t, joinedtest.Lab(t))
	for _, at := range []string{"discovery", "discovery/apps.v1", "discovery/none"} {
		pagestest.Fits(t, open(t, at), frame)
		pagestest.Reasons(t, open(t, at), frame)
	}
	var states []kinds.Object
	for _, name := range pagestest.Strange {
		d := &v1alpha1.DiscoveryState{}
		d.Name, d.Spec.Group, d.Spec.Version, d.Spec.Source = name, name, name, name
		d.Status.Error, d.Status.OpenAPIV3.Error, d.Status.OpenAPIV2.Hash = name, name, name
		states = append(states, d)
	}
	frame = pagestest.Objects(frame, feed, states...)
	pagestest.Fits(t, open(t, "discovery"), frame)
	for _, name := range pagestest.Strange {
		p, err := New(page.Env{}, page.At("discovery", name))
		if err != nil {
			t.Fatal(err)
		}
		pagestest.Fits(t, p, frame)
	}
}

func TestLeads(t *testing.T) {
	frame := pagestest.Frame(t, pagestest.Kapi)
	p := open(t, "discovery")
	p.Update(frame)
	pagestest.Leads(t, p, page.Enter, "discovery/broken.example.com.v1")
	links := pagestest.Links(t, open(t, "discovery/core.v1"), frame)
	if !slices.Equal(links, []string{"apiservices/v1.", "groups/core"}) {
		t.Errorf("the lines lead to %v", links)
	}
}

// What is missing is worse than what is stale, and that worse than what is current.
func TestOrder(t *testing.T) {
	frame := pagestest.Frame(t, pagestest.Kapi)
	var states []kinds.Object
	for _, freshness := range []v1alpha1.DiscoveryFreshness{"Current", "Stale", "", "Missing"} {
		d := &v1alpha1.DiscoveryState{}
		d.Name, d.Status.Freshness = string(freshness), freshness
		states = append(states, d)
	}
	var got []string
	for _, r := range rows(pagestest.Objects(frame, feed, states...)) {
		got = append(got, r.word())
	}
	if want := []string{"missing", "stale", "unknown", "current"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
}
