package joined

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
)

func forbidden(resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: "inspect.kapi.dev", Resource: resource}, "", errors.New("alice may not"))
}

// everything makes each list of a server fail in this way.
func everything(s *joinedtest.Server, err func(resource string) error) {
	for _, kind := range kinds.All() {
		s.Errors[kind.Resource] = err(kind.Resource)
	}
}

// A server that shows nothing of itself still has its definitions and APIServices.
func TestLoadOfNothing(t *testing.T) {
	s := joinedtest.Lab(t)
	everything(s, func(resource string) error {
		return apierrors.NewNotFound(schema.GroupResource{Resource: resource}, "")
	})
	d, err := LoadDefinition(t.Context(), s, "widgets.lab.example", s.Facts.At)
	if err != nil || d.State.Word != "Established" || d.Objects != -1 || d.TimeToEstablished == nil || !d.TimeToEstablished.AtMost {
		t.Errorf("%+v, %v", d, err)
	}
	if len(d.Missing) != 4 || Why(d.Missing, partStorages) != "the server does not serve it" {
		t.Errorf("missing %+v", d.Missing)
	}
	a, err := LoadAPIService(t.Context(), s, "v1.missing.lab.example")
	if err != nil || a.State.Word != "Unavailable" || !strings.HasPrefix(a.Hint, "Create Service lab/missing") || len(a.Missing) != 4 {
		t.Errorf("%+v, %v", a, err)
	}
	o := overview(t, s)
	if o.Definitions != (Count{1, 3}) || o.APIServices != (Count{26, 31}) || len(o.Missing) != 9 {
		t.Errorf("%+v %+v, missing %+v", o.Definitions, o.APIServices, o.Missing)
	}
}

func TestLoadForbidden(t *testing.T) {
	s := healthy(t)
	everything(s, forbidden)
	for _, part := range []string{partDefinitions, partAPIServices, partNamespaces} {
		s.Errors[part] = forbidden(part)
	}
	o := overview(t, s)
	for part, want := range map[string]string{
		partHealth:      "forbidden: the ClusterRole kapi:inspect gives it",
		partTraces:      "forbidden: the ClusterRole kapi:inspect-requests gives it",
		partDefinitions: "forbidden: it takes a role that lists customresourcedefinitions",
		partAPIServices: "forbidden: it takes a role that lists apiservices",
		partNamespaces:  "forbidden: it takes a role that lists namespaces",
	} {
		if got := Why(o.Missing, part); got != want {
			t.Errorf("%s: %q, want %q", part, got, want)
		}
	}
	if len(o.Missing) != 12 || o.Missing[0].Part != partLayers || !o.Healthy() {
		t.Errorf("missing %+v", o.Missing)
	}
	if _, err := LoadDefinition(t.Context(), s, "widgets.lab.example", s.Facts.At); !apierrors.IsForbidden(err) {
		t.Errorf("a definition: %v", err)
	}
	lines, missing := Definitions(t.Context(), s, s.Facts.At)
	for _, err := range lines {
		if !apierrors.IsForbidden(err) || len(missing) != 2 {
			t.Errorf("lines: %v, missing %+v", err, missing)
		}
	}
}

func TestLoadGaps(t *testing.T) {
	s := healthy(t)
	s.Gaps[partFilters] = []inspection.Gap{{Reason: "kube-apiserver does not name them"}}
	s.Gaps[partEtcd] = []inspection.Gap{
		{Column: "Leader", Reason: "kube-apiserver does not ask"},
		{Column: "Revision", Reason: "nobody asks for it here"},
	}
	o := overview(t, s)
	if Why(o.Missing, partFilters) != "kube-apiserver does not name them" || Why(o.Missing, partEtcd) != "" || Why(o.Missing, partEtcd+".Leader") == "" || len(o.Missing) != 2 {
		t.Errorf("missing %+v", o.Missing)
	}
}

func TestLoadErrors(t *testing.T) {
	s := joinedtest.Lab(t)
	if _, err := LoadDefinition(t.Context(), s, "none.lab.example", s.Facts.At); !apierrors.IsNotFound(err) {
		t.Errorf("no definition: %v", err)
	}
	if _, err := LoadAPIService(t.Context(), s, "v9.lab.example"); !apierrors.IsNotFound(err) {
		t.Errorf("no APIService: %v", err)
	}
	s.Errors["about"] = errors.New("connection refused")
	if _, err := LoadOverview(t.Context(), s); !errors.Is(err, s.Errors["about"]) {
		t.Errorf("no server: %v", err)
	}
	delete(s.Errors, "about")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := LoadOverview(ended, s); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// getting is a server that has one definition by its name, and can't list.
type getting struct{ *joinedtest.Server }

func (g getting) Definition(_ context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	return definition(func(d *apiextensionsv1.CustomResourceDefinition) { d.Name = name }), nil
}

func (g getting) Definitions(context.Context) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error] {
	panic("asked for all to find one")
}

func TestLoadByName(t *testing.T) {
	d, err := LoadDefinition(t.Context(), getting{joinedtest.Lab(t)}, "things.example.com", noon)
	if err != nil || d.Name != "things.example.com" {
		t.Errorf("%+v, %v", d, err)
	}
}

// many is a server with very many definitions, which come one by one.
type many struct {
	*joinedtest.Server
	count int
	sent  []weak.Pointer[apiextensionsv1.CustomResourceDefinition]
}

func (m *many) Definitions(context.Context) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error] {
	return func(yield func(*apiextensionsv1.CustomResourceDefinition, error) bool) {
		for i := range m.count {
			d := definition(func(d *apiextensionsv1.CustomResourceDefinition) {
				d.Name = fmt.Sprintf("things%d.example.com", i)
			})
			m.sent = append(m.sent, weak.Make(d))
			if !yield(d, nil) {
				return
			}
		}
	}
}

// Lines of ten thousand definitions hold on to none of the definitions.
func TestLoadKeepsNothing(t *testing.T) {
	s := &many{Server: joinedtest.Lab(t), count: 10_000}
	lines, _ := Definitions(t.Context(), s, noon)
	var all []DefinitionLine
	for line, err := range lines {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	runtime.GC()
	kept := 0
	for _, sent := range s.sent {
		if sent.Value() != nil {
			kept++
		}
	}
	if len(all) != s.count || kept > 1 {
		t.Errorf("%d lines, which keep %d definitions", len(all), kept)
	}
	runtime.KeepAlive(all)
	for range lines { // a reader that has enough
		break
	}
	if n := len(s.sent) - s.count; n != 1 {
		t.Errorf("%d definitions were sent to a reader of one", n)
	}
}

// Of an APIService only those gaps are told that it shows.
func TestLoadGapsOfAPIServices(t *testing.T) {
	s := joinedtest.Lab(t)
	for _, column := range []string{"Failing-Step", "Error", "503s", "Last-Probe"} {
		s.Gaps[partProbes] = append(s.Gaps[partProbes], inspection.Gap{Column: column, Reason: "nobody probes"})
	}
	s.Gaps[partTransitions] = []inspection.Gap{{Column: "To-Served", Reason: "nobody looks"}, {Column: "From", Reason: "nobody remembers"}}
	for name, want := range map[string]int{"v1.apps": 1, "v1.ok.lab.example": 3, "v1.tls.lab.example": 5} {
		a, err := LoadAPIService(t.Context(), s, name)
		if err != nil || len(a.Missing) != want {
			t.Errorf("%s: %v, missing %+v, want %d", name, err, a.Missing, want)
		}
	}
}

// The columns that gaps are looked up by are columns of the kinds.
func TestUsedColumns(t *testing.T) {
	for resource, columns := range used() {
		kind, ok := kinds.ByName(resource)
		if !ok {
			t.Errorf("there is no kind %s", resource)
		}
		for _, name := range columns {
			if !slices.ContainsFunc(kind.Columns, func(c kinds.Column) bool { return c.Name == name }) {
				t.Errorf("%s has no column %s", resource, name)
			}
		}
	}
}
