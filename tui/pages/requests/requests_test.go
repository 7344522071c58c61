package requests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

func open(t *testing.T, location string) page.Page {
	t.Helper()
	at, err := page.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(page.Env{}, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// recorded are traces of every way in which a request can end.
func recorded(t *testing.T) map[string]*v1alpha1.RequestTrace {
	t.Helper()
	files, err := filepath.Glob("../../../internal/view/testdata/request/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded traces: %v", err)
	}
	traces := map[string]*v1alpha1.RequestTrace{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		one := &v1alpha1.RequestTrace{}
		if err := json.Unmarshal(text, one); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		one.Name, one.Spec.AuditID = name, name+"-id"
		traces[name] = one
	}
	return traces
}

// of is a frame with some traces, a little after they were recorded.
func of(traces ...*v1alpha1.RequestTrace) data.Frame {
	objects := make([]kinds.Object, len(traces))
	for i, t := range traces {
		objects[i] = t
	}
	return data.Frame{Revision: 1, State: data.Live, Now: time.Date(2026, 11, 30, 6, 38, 30, 0, time.UTC)}.
		With(data.View{Key: trace.Feed, State: data.Live, Objects: objects})
}

func TestPictures(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	frame.Series = []data.Sample{{Requests: 2, P99: time.Millisecond}, {Requests: 9, Failed: 1, P99: 4 * time.Millisecond}}
	pagestest.Golden(t, "requests", open(t, "requests"), frame)
	pagestest.Golden(t, "requests-refused", open(t, "requests?filter=code:>=400"), pagestest.Frame(t, pagestest.Demo))
	pagestest.Golden(t, "requests-foreign", open(t, "requests"), pagestest.Frame(t, pagestest.Foreign))
	for name, one := range recorded(t) {
		pagestest.Golden(t, "request-"+name, open(t, "requests/"+name+"-id"), of(one))
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	for _, location := range []string{"requests", "requests/last", "requests/nothing"} {
		pagestest.Fits(t, open(t, location), pagestest.Frame(t, pagestest.Kapi))
		pagestest.Fits(t, open(t, location), data.Frame{})
		pagestest.Fits(t, open(t, location), of(&v1alpha1.RequestTrace{}))
		pagestest.Fits(t, open(t, location), of(odd()))
	}
}

// odd is a request that is hard to draw.
func odd() *v1alpha1.RequestTrace {
	const name = "名前-e\u0301\u202eabc\x1b[31m\n"
	t := &v1alpha1.RequestTrace{}
	t.Name, t.Spec.Path, t.Spec.Verb, t.Spec.UserAgent = name, "/"+strings.Repeat(name, 30), name, name
	t.Spec.User = &v1alpha1.RequestUser{Name: name, Groups: []string{name, ""}, ImpersonatedBy: name}
	t.Spec.RequestInfo = &v1alpha1.RequestInfo{IsResourceRequest: true}
	t.Status.Duration = metav1.Duration{Duration: -time.Hour}
	t.Status.Filters = []v1alpha1.FilterSpan{
		{Name: name, At: metav1.Duration{Duration: 1 << 62}, In: metav1.Duration{Duration: 1 << 62}, Back: metav1.Duration{Duration: -5}}, {}, {Name: name},
	}
	t.Status.Hops = []v1alpha1.LayerHop{{Layer: name}, {At: metav1.Duration{Duration: -1}}}
	t.Status.TerminatedBy = v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: name}
	t.Status.ProxiedTo = &v1alpha1.ProxiedTo{APIService: name}
	return t
}

func TestStates(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	for state, want := range map[data.State]string{
		data.Loading: "loading", data.Forbidden: "forbidden", data.Failed: "error", data.Absent: "not on this server",
	} {
		for _, location := range []string{"requests", "requests/last"} {
			got := pagestest.Picture(t, open(t, location), pagestest.In(frame, state, trace.Feed), 80, 24)
			if !strings.Contains(got, want) {
				t.Errorf("%s in state %d does not say %q:\n%s", location, state, want, got)
			}
		}
	}
	if got := pagestest.Picture(t, open(t, "requests"), of(), 80, 24); !strings.Contains(got, "no request has been traced yet") {
		t.Errorf("no requests:\n%s", got)
	}
	if got := pagestest.Picture(t, open(t, "requests/nothing"), frame, 80, 24); !strings.Contains(got, "no request of this ID is kept") {
		t.Errorf("a request that is not there:\n%s", got)
	}
}

// What one reads does not change into the next request, and stays when the server
// has forgotten it.
func TestLastStays(t *testing.T) {
	t.Parallel()
	all := recorded(t)
	p := open(t, "requests/last")
	p.Update(of(all["get"], all["forbidden"]))
	p.Update(of(all["get"], all["forbidden"], all["timeout"]))
	subject, _ := p.(page.Selecter).Selected()
	if subject.Name != "forbidden-id" {
		t.Errorf("it shows %q", subject.Name)
	}
	got := pagestest.Picture(t, p, of(all["timeout"]), 100, 40)
	if !strings.Contains(got, "no longer keeps this request") || !strings.Contains(got, "filter authorization") {
		t.Errorf("forgotten:\n%s", got)
	}
}

func TestRowLeadsToRequest(t *testing.T) {
	t.Parallel()
	p := open(t, "requests")
	p.Update(pagestest.Frame(t, pagestest.Kapi))
	if got, want := p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String(), "requests/dac6d4e7-c4a4-49f3-9aad-54cb1970c65d"; got != want {
		t.Errorf("enter on the newest leads to %q, want %q", got, want)
	}
	p = open(t, "requests?filter=by:authorization")
	p.Update(pagestest.Frame(t, pagestest.Kapi))
	if got, want := p.Act(page.Action{ID: page.Enter, Count: 1}).Open.String(), "requests/3dc42186-90ac-4841-890c-64dee4aecb23"; got != want {
		t.Errorf("enter on the newest that authorization ended leads to %q, want %q", got, want)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	for filter, want := range map[string]int{
		"code:>=400": 6, "code:>=500": 1, "by:authorization": 2, "took:>100ms": 3, "verb:list": 6, "user:kapi-admin code:403": 1, "flow:global-default": 2, "!weather": 8,
	} {
		p := open(t, "requests")
		p.Update(frame)
		if err := p.(page.Filterer).Filter(filter); err != nil {
			t.Errorf("%s: %v", filter, err)
			continue
		}
		lines := pagestest.Picture(t, p, frame, 200, 40)
		if got := strings.Count(strings.TrimSpace(lines), "\n"); got != want {
			t.Errorf("%s leaves %d rows, want %d:\n%s", filter, got, want, lines)
		}
	}
}

// Names with blanks can be looked for.
func TestQuoted(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"jane": "user:jane", "Jane Doe": `user:"Jane Doe"`} {
		if got := Quoted("user", value); got != want {
			t.Errorf("%q is %s, want %s", value, got, want)
		}
	}
}

// Times add up: nothing begins before the request or ends after it.
func TestJourney(t *testing.T) {
	t.Parallel()
	glyphs := pagestest.Glyphs(t, "unicode")
	for name, one := range recorded(t) {
		j := newJourney(one)
		for _, s := range j.stops(glyphs) {
			if s.own < 0 || s.stretch.From < 0 || s.stretch.Took < 0 || s.stretch.From+s.stretch.Took > j.total+time.Microsecond {
				t.Errorf("%s: %s is from %s for %s of %s, own %s", name, s.name, s.stretch.From, s.stretch.Took, j.total, s.own)
			}
		}
		var own time.Duration
		for _, g := range grouped(j.stops(glyphs)) {
			own += g.own
		}
		if own <= 0 {
			t.Errorf("%s: no work at all", name)
		}
	}
}
