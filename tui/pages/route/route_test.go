package route

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask/asktest"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
)

const recordings = "../../../internal/view/testdata/"

// read reads a recorded explanation or trace.
func read[T any](t testing.TB, name string) *T {
	t.Helper()
	file, err := os.ReadFile(recordings + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	object := new(T)
	if err := json.Unmarshal(file, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// answering is a client that explains, and sends, as was recorded.
func answering(t testing.TB, told, was string) *asktest.Client {
	t.Helper()
	client := &asktest.Client{OnExplain: func(v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error) {
		return read[v1alpha1.RouteExplanation](t, "route/"+told), nil
	}}
	if was != "" {
		client.OnSend = func(v1alpha1.RouteExplanationSpec) (*v1alpha1.RequestTrace, error) {
			return read[v1alpha1.RequestTrace](t, "request/"+was), nil
		}
	}
	return client
}

// dryRun is the page of a recorded explanation.
func dryRun(t testing.TB, client *asktest.Client, told string) page.Page {
	t.Helper()
	spec := read[v1alpha1.RouteExplanation](t, "route/"+told).Spec
	at := page.At("route", "", "verb", spec.Verb, "path", spec.Path, "user", spec.User)
	for _, group := range spec.Groups {
		at.Query.Add("groups", group)
	}
	p, err := New(page.Env{Client: client}, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func act(p page.Page, id page.ActionID) page.Effect { return p.Act(page.Action{ID: id, Count: 1}) }

func TestPictures(t *testing.T) {
	t.Parallel()
	for _, told := range []string{"forbidden", "create", "proxied", "custom", "nothing", "anonymous"} {
		p := dryRun(t, answering(t, told, ""), told)
		asktest.Opened(t, p, data.Frame{})
		pagestest.Golden(t, told, p, data.Frame{})
		pagestest.Fits(t, p, data.Frame{})
	}
}

// A request is sent, and each fact says whether it came true.
func TestSent(t *testing.T) {
	t.Parallel()
	for told, was := range map[string]string{"forbidden": "forbidden", "custom": "custom", "proxied": "proxied", "anonymous": "custom"} {
		client := answering(t, told, was)
		p := dryRun(t, client, told)
		asktest.Opened(t, p, data.Frame{})
		effect := act(p, page.Requests)
		if effect.Run == nil {
			t.Fatalf("%s is not sent: %+v", told, effect)
		}
		if again := act(p, page.Requests); again.Run != nil {
			t.Errorf("%s is sent twice at a time", told)
		}
		asktest.Run(t, p, effect)
		pagestest.Golden(t, "sent-"+told, p, data.Frame{})
		pagestest.Fits(t, p, data.Frame{})
		if client.Asked != 2 || client.Writes != 0 {
			t.Errorf("%s asked %d times, wrote %d times", told, client.Asked, client.Writes)
		}
	}
}

// What is compared is what `kapi inspect route --live` compares.
func TestFacts(t *testing.T) {
	t.Parallel()
	told := read[v1alpha1.RouteExplanation](t, "route/forbidden").Status
	for name, want := range map[string][]string{
		"forbidden": nil,
		"custom":    {"user", "understood as", "flow schema", "priority level", "authorization", "layers", "ended by", "code"},
	} {
		var wrong []string
		for _, f := range facts(told, read[v1alpha1.RequestTrace](t, "request/"+name)) {
			if f.checked() && f.wrong {
				wrong = append(wrong, f.name)
			}
		}
		if !slices.Equal(wrong, want) {
			t.Errorf("%s differs in %q, want %q", name, wrong, want)
		}
	}
	live := read[v1alpha1.RequestTrace](t, "request/forbidden")
	live.Status.Filters[3].Name = "another"
	if f := filters(told, live); !f.wrong || f.was != "18, with another, without request-received-timestamp" {
		t.Errorf("another filter is seen as %q", f.was)
	}
	live.Status.Filters = live.Status.Filters[:3]
	if f := filters(told, live); f.wrong {
		t.Errorf("a request that ended further out is seen as %q", f.was)
	}
	if got := facts(v1alpha1.RouteExplanationStatus{}, nil); len(got) != 0 {
		t.Errorf("nothing is explained, and there are facts: %+v", got)
	}
	if got := facts(v1alpha1.RouteExplanationStatus{}, &v1alpha1.RequestTrace{}); len(got) != 1 {
		t.Errorf("an empty trace has %+v", got)
	}
}

// What changes something is never sent.
func TestOnlyReads(t *testing.T) {
	t.Parallel()
	client := answering(t, "create", "admission")
	p := dryRun(t, client, "create")
	asktest.Opened(t, p, data.Frame{})
	if p.Offers(page.Requests) {
		t.Error("it offers to send what creates something")
	}
	effect := act(p, page.Requests)
	if effect.Run != nil || !effect.Bad || client.Asked != 1 {
		t.Errorf("a request that creates something would be sent: %+v", effect)
	}
	for _, verb := range []string{"POST", "put", "Patch", "DELETE", "delete", "deletecollection", "create", "update", "CONNECT", ""} {
		if reads(verb) {
			t.Errorf("%q is taken to read", verb)
		}
	}
}

func TestEnterLeads(t *testing.T) {
	t.Parallel()
	p := dryRun(t, answering(t, "custom", "custom"), "custom")
	asktest.Opened(t, p, data.Frame{})
	pagestest.Picture(t, p, data.Frame{}, 80, 24)
	led := map[string]bool{}
	act(p, page.UnfoldAll)
	act(p, page.Top)
	for range 60 {
		if effect := act(p, page.Enter); effect.Run != nil {
			led["sent"] = true
			asktest.Run(t, p, effect)
			break
		} else if !effect.Open.Zero() {
			led[effect.Open.String()] = true
		}
		act(p, page.UnfoldAll) // enter may have folded
		act(p, page.Down)
	}
	for _, want := range []string{"auth", "flow", "chain/layer/apiextensions", "chain/authentication", "sent"} {
		if !led[want] {
			t.Errorf("nothing leads to %q: %v", want, led)
		}
	}
	if !slices.ContainsFunc(keys(led), func(to string) bool { return strings.HasPrefix(to, "etcd") }) {
		t.Errorf("the storage key leads nowhere: %v", led)
	}
}

func keys(set map[string]bool) []string {
	var all []string
	for key := range set {
		all = append(all, key)
	}
	return all
}

func TestStates(t *testing.T) {
	t.Parallel()
	loading := dryRun(t, answering(t, "custom", ""), "custom")
	if picture := pagestest.Picture(t, loading, data.Frame{}, 80, 24); !strings.Contains(picture, "loading") {
		t.Errorf("before it is explained\n%s", picture)
	}
	forbidden := dryRun(t, &asktest.Client{OnExplain: func(v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error) {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "routeexplanations"}, "", errors.New("no"))
	}}, "custom")
	asktest.Opened(t, forbidden, data.Frame{})
	if picture := pagestest.Picture(t, forbidden, data.Frame{}, 80, 24); !strings.Contains(picture, "kapi:inspect-requests") {
		t.Errorf("where it is forbidden\n%s", picture)
	}
	failing := dryRun(t, answering(t, "custom", ""), "custom")
	asktest.Opened(t, failing, data.Frame{})
	asktest.Run(t, failing, act(failing, page.Requests))
	act(failing, page.Bottom)
	if picture := pagestest.Picture(t, failing, data.Frame{}, 80, 48); !strings.Contains(picture, "sending it: the test did not expect") {
		t.Errorf("where it can't be sent\n%s", picture)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	p, err := New(page.Env{}, page.At("route", ""))
	if err != nil {
		t.Fatal(err)
	}
	pagestest.Golden(t, "usage", p, data.Frame{})
	pagestest.Fits(t, p, data.Frame{})
	for _, at := range []page.Location{page.At("route", "", "path", "api/v1"), page.At("route", "", "path", "/api", "groups", "a,b")} {
		if _, err := New(page.Env{}, at); fault.Code(err) != fault.CodeUsage || fault.Hint(err) == "" {
			t.Errorf("%s: %v", at, err)
		}
	}
	for _, e := range examples() {
		if _, err := New(page.Env{}, page.At("route", "", "verb", e.spec.Verb, "path", e.spec.Path)); err != nil {
			t.Error(err)
		}
	}
	if got := typed(v1alpha1.RouteExplanationSpec{Verb: "GET", Path: "/a?b=1&c=$(x)", User: "o'neil"}); got != `GET '/a?b=1&c=$(x)' --as 'o'\''neil'` {
		t.Errorf("typed as %s", got)
	}
}
