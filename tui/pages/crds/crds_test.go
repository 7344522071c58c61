package crds

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
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

func lab(t *testing.T) data.Frame {
	t.Helper()
	return pagestest.FrameOf(t, joinedtest.Lab(t))
}

func TestPictures(t *testing.T) {
	frame := lab(t)
	pagestest.Golden(t, "list", open(t, "crds"), frame)
	for _, name := range []string{"gadgets", "stucks", "widgets"} {
		pagestest.Golden(t, name, open(t, "crds/"+name+".lab.example"), frame)
	}
	pagestest.Golden(t, "foreign", open(t, "crds"), pagestest.Frame(t, pagestest.Foreign))
}

func TestFits(t *testing.T) {
	for _, at := range []string{"crds", "crds?filter=!established", "crds/gadgets.lab.example", "crds/none"} {
		pagestest.Fits(t, open(t, at), lab(t))
		pagestest.Reasons(t, open(t, at), lab(t))
	}
	pagestest.Fits(t, open(t, "crds"), pagestest.Frame(t, pagestest.Kapi))
}

func TestStrangeNames(t *testing.T) {
	frame := lab(t)
	var objects []kinds.Object
	for _, name := range pagestest.Strange {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		crd.Name, crd.Spec.Group = name, name
		crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: name, Kind: name, ShortNames: []string{name}}
		crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: name, Storage: true, Served: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &props{Properties: map[string]props{name: {Type: name, Description: name}}},
			},
		}}
		crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.NamesAccepted, Status: "False", Reason: name, Message: name}}
		objects = append(objects, crd)
	}
	objects = append(objects, &apiextensionsv1.CustomResourceDefinition{})
	frame = pagestest.Objects(frame, data.Definitions, objects...)
	pagestest.Fits(t, open(t, "crds"), frame)
	for _, name := range pagestest.Strange {
		p, err := New(page.Env{}, page.At("crds", name))
		if err != nil {
			t.Fatal(err)
		}
		pagestest.Fits(t, p, frame)
	}
}

func TestWorstFirst(t *testing.T) {
	p := open(t, "crds")
	p.Update(lab(t))
	pagestest.Leads(t, p, page.Enter, "crds/gadgets.lab.example")
	pagestest.Leads(t, p, page.Requests, "requests?filter=%2Fapis%2Flab.example%2Fv1%2F+gadgets")
}

func TestLinks(t *testing.T) {
	links := pagestest.Links(t, open(t, "crds/widgets.lab.example"), lab(t))
	for _, want := range []string{
		"object/widgets.lab.example?version=v1",
		"etcd?prefix=%2Fregistry%2Flab.example%2Fwidgets%2F",
		"apiservices/v1beta1.lab.example",
	} {
		if !slices.Contains(links, want) {
			t.Errorf("no line leads to %s; there are\n%s", want, strings.Join(links, "\n"))
		}
	}
}

// A definition of a group that is not registered at all is not said to be unanswered
// because other groups are.
func TestOtherGroupsRegistrations(t *testing.T) {
	frame := lab(t)
	crd := data.Objects[*apiextensionsv1.CustomResourceDefinition](frame, data.Definitions)[2].DeepCopy()
	crd.Name, crd.Spec.Group = "widgets.other.example", "other.example"
	frame = pagestest.Objects(frame, data.Definitions, crd)
	if got := pagestest.Picture(t, open(t, "crds/widgets.other.example"), frame, 80, 24); strings.Contains(got, "not answered") {
		t.Errorf("it is said not to be answered:\n%s", got)
	}
}

const schemaText = `{
  "type": "object", "required": ["spec"],
  "x-kubernetes-validations": [{"rule": "has(self.spec)", "message": "spec must be there"}],
  "properties": {
    "spec": {
      "type": "object", "required": ["size"], "description": "what is wanted",
      "properties": {
        "size": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 10, "exclusiveMaximum": true, "default": 3},
        "port": {"x-kubernetes-int-or-string": true},
        "mode": {"type": "string", "enum": ["fast", "slow"], "pattern": "^[a-z]+$", "nullable": true},
        "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
          "items": {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}}}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
      }
    },
    "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}}
  }
}`

func TestSchema(t *testing.T) {
	var schema props
	if err := json.Unmarshal([]byte(schemaText), &schema); err != nil {
		t.Fatal(err)
	}
	frame := lab(t)
	crd := data.Objects[*apiextensionsv1.CustomResourceDefinition](frame, data.Definitions)[2].DeepCopy()
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema}
	}
	frame = pagestest.Objects(frame, data.Definitions, crd)
	p := open(t, "crds/"+crd.Name)
	part := func() string {
		_, schema, ok := strings.Cut(pagestest.Picture(t, p, frame, 100, 120), "Schema of")
		if !ok {
			t.Fatal("there is no schema")
		}
		return "Schema of" + strings.TrimRight(schema, "\n") + "\n"
	}
	folded := part()
	p.Act(page.Action{ID: page.UnfoldAll, Count: 1})
	pagestest.Compare(t, "schema", folded+"\n"+part())
	pagestest.Fits(t, p, frame)
}

// A schema as large as the server allows is cut, and does not hang.
func TestLargeSchema(t *testing.T) {
	schema := props{Type: "object", Properties: map[string]props{}}
	for i := range 40 {
		inner := props{Type: "object", Properties: map[string]props{}}
		for j := range 400 {
			inner.Properties[strings.Repeat("x", i+1)+strings.Repeat("y", j+1)] = props{Type: "string"}
		}
		schema.Properties[strings.Repeat("z", i+1)] = inner
	}
	frame := lab(t)
	crd := data.Objects[*apiextensionsv1.CustomResourceDefinition](frame, data.Definitions)[2].DeepCopy()
	crd.Spec.Versions[len(crd.Spec.Versions)-1].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema}
	f, ok := factsOf(pagestest.Objects(frame, data.Definitions, crd), crd.Name)
	if !ok {
		t.Fatal("it is not there")
	}
	lines := f.schema(nil, pagestest.Paper(t, 80, 24, frame.Now))
	if len(lines) < largest || len(lines) > largest+10 {
		t.Errorf("%d lines, at most %d are wanted", len(lines), largest)
	}
	if last := lines[len(lines)-1].String(); !strings.Contains(last, "the rest is in the YAML") {
		t.Errorf("it is not said that there is more: %q", last)
	}
}

// Ten thousand definitions are joined once, not at every frame.
func BenchmarkUpdate(b *testing.B) {
	server := joinedtest.Lab(b)
	var objects []kinds.Object
	for range 10_000 {
		crd := server.CRD(b, "widgets.lab.example").DeepCopy()
		crd.Spec.Names.Plural = "widgets" + strconv.Itoa(len(objects))
		crd.Name = crd.Spec.Names.Plural + ".lab.example"
		objects = append(objects, crd)
	}
	frame := pagestest.Objects(pagestest.FrameOf(b, server), data.Definitions, objects...)
	p, err := New(page.Env{}, page.At("crds", ""))
	if err != nil {
		b.Fatal(err)
	}
	for name, changes := range map[string]bool{"same": false, "changed": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if changes {
					frame = pagestest.Objects(frame, data.Definitions, objects...)
				}
				p.Update(frame)
			}
		})
	}
}
