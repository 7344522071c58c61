package object

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask/asktest"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
)

// discovered are resources as discovery has them, the preferred versions first.
func discovered() []data.Resource {
	resource := func(group, version, plural, kind string, namespaced bool, verbs string, short ...string) data.Resource {
		return data.Resource{
			GroupVersionResource: schema.GroupVersionResource{Group: group, Version: version, Resource: plural},
			Kind:                 kind, Singular: strings.ToLower(kind), ShortNames: short, Namespaced: namespaced, Verbs: strings.Fields(verbs),
		}
	}
	const all = "create delete get list patch update watch"
	return []data.Resource{
		resource("", "v1", "pods", "Pod", true, all, "po"),
		resource("", "v1", "namespaces", "Namespace", false, all, "ns"),
		resource("", "v1", "events", "Event", true, all, "ev"),
		resource("events.k8s.io", "v1", "events", "Event", true, all, "ev"),
		resource("apps", "v1", "deployments", "Deployment", true, all, "deploy"),
		resource("apps", "v1beta2", "deployments", "Deployment", true, all, "deploy"),
		resource("authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", false, "create"),
		resource("metrics.k8s.io", "v1beta1", "pods", "PodMetrics", true, "get list"),
		resource("one.example.com", "v1", "things", "Thing", true, all),
		resource("two.example.com", "v1", "things", "Thing", true, all),
	}
}

func TestFinds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ typed, settings, want string }{
		{"pods", "", "object/pods?version=v1"},
		{"po", "", "object/pods?version=v1"},
		{"Pod", "", "object/pods?version=v1"},
		{"events", "", "object/events?version=v1"},
		{"events.events.k8s.io", "", "object/events.events.k8s.io?version=v1"},
		{"deploy", "", "object/deployments.apps?version=v1"},
		{"deployments.v1beta2.apps", "", "object/deployments.apps?version=v1beta2"},
		{"things.two", "", "object/things.two.example.com?version=v1"},
		{"pods.metrics.k8s.io", "", "object/pods.metrics.k8s.io?version=v1beta1"},
		{"po/web", "namespace=default&view=describe", "object/pods/web?namespace=default&version=v1&view=describe"},
		{"po/web", "", "object/pods?filter=web&version=v1"},
		{"ns/default", "namespace=ignored", "object/namespaces/default?version=v1"},
		{"po", "namespace=kube-system&filter=dns", "object/pods?filter=dns&namespace=kube-system&version=v1"},
	} {
		at, err := page.Parse("object/" + test.typed + "?" + test.settings)
		if err != nil {
			t.Fatal(err)
		}
		effect := asktest.Opened(t, open(t, &asktest.Client{Found: discovered()}, at), data.Frame{})
		if got := effect.Open.String(); got != test.want || !effect.Replace {
			t.Errorf("%s leads to %s, want %s", at, got, test.want)
		}
	}
}

func TestFindsNotOne(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string][]string{
		"things":               {"is the name of 2 resources", "things.one.example.com", "things.two.example.com"},
		"pdos":                 {`no resource "pdos"`, "Names that are near it", "pods"},
		"deployment.wrong":     {"no resource", "deployments.apps"},
		"subjectaccessreviews": {"can't be listed: the server only takes create", ":route POST /apis/authorization.k8s.io/v1/subjectaccessreviews"},
		"例え\x1b":               {"no resource"},
	} {
		p := open(t, &asktest.Client{Found: discovered()}, page.At("object", typed))
		if picture := pagestest.Picture(t, p, data.Frame{}, 80, 24); !strings.Contains(picture, "loading") {
			t.Errorf("%q while it is looked for\n%s", typed, picture)
		}
		if effect := asktest.Opened(t, p, data.Frame{}); !effect.Open.Zero() {
			t.Errorf("%q leads to %s", typed, effect.Open)
		}
		picture := strings.Join(strings.Fields(pagestest.Picture(t, p, data.Frame{}, 80, 24)), " ")
		for _, each := range want {
			if !strings.Contains(picture, each) {
				t.Errorf("%q: %q is not in\n%s", typed, each, picture)
			}
		}
		pagestest.Fits(t, p, data.Frame{})
	}
}

func TestFinderEnter(t *testing.T) {
	t.Parallel()
	p := open(t, &asktest.Client{Found: discovered()}, page.At("object", "things"))
	asktest.Opened(t, p, data.Frame{})
	pagestest.Picture(t, p, data.Frame{}, 80, 24)
	act(p, page.Bottom)
	if effect := act(p, page.Enter); effect.Open.Name != "things.two.example.com" || !effect.Replace {
		t.Errorf("enter leads to %+v", effect)
	}
	failing := &asktest.Client{OnResources: func() ([]data.Resource, error) { return nil, errors.New("no route to host") }}
	p = open(t, failing, page.At("object", "po"))
	asktest.Opened(t, p, data.Frame{})
	if picture := pagestest.Picture(t, p, data.Frame{}, 80, 24); !strings.Contains(picture, "no route to host") {
		t.Errorf("the server does not answer\n%s", picture)
	}
	failing.OnResources = nil
	failing.Found = discovered()
	if effect := asktest.Run(t, p, act(p, page.Refresh)); effect.Open.Name != "pods" {
		t.Errorf("refresh leads to %+v", effect)
	}
}
