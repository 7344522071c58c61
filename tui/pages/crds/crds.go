// Package crds is the page of CustomResourceDefinitions: whether each is established
// and served, how long that took, and for one of them why not, its versions, its
// history and its schema. It may import kit, sheet, the contract, data, the
// components and what is joined.
package crds

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// Name is the page's in the table of pages.
const Name = "crds"

// resource is that of the objects.
var resource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// New returns the list, or the detail of one definition.
func New(env page.Env, at page.Location) (page.Page, error) {
	if at.Name != "" {
		return detail(env, at.Name), nil
	}
	signs, memo, join := &sheet.Signs{}, &sheet.Memo[[]row]{}, &joiner{}
	rowsOf := func(frame data.Frame) []row { return memo.Of(frame, join.rows, needs()...) }
	return sheet.NewList(signs, joins, kit.ListConfig[row]{
		Title: "crds",
		Needs: needs(),
		Rows:  rowsOf,
		Table: vtable.Config[row]{
			Columns:  columns(signs),
			Key:      func(r row) string { return r.Name },
			Severity: func(r row) vtable.Severity { return kit.Severity(r.State.Severity) },
			Empty:    "There are no CustomResourceDefinitions.",
		},
		Subject: func(r row) page.Subject { return subject(env, r.Name, nil, established(r.Conditions)) },
		Open:    func(r row) page.Location { return page.At(Name, r.Name) },
		Detail: func(r row, frame data.Frame) doc.Render {
			if f, ok := factsOf(frame, r.Name); ok {
				return f.short
			}
			return nil
		},
		Head: func(frame data.Frame, paper ink.Paper) []ink.Line { return head(rowsOf(frame), paper) },
		Extra: map[page.ActionID]func(row) page.Effect{
			page.Requests: func(r row) page.Effect { return page.Effect{Open: requests(r.Name, r.StorageVersion)} },
		},
		Filter: at.Get("filter"),
	}), nil
}

// needs are the feeds of the list.
func needs() []data.Key {
	return []data.Key{data.Definitions, data.Of("resourcestorages"), data.Of("conditiontransitions")}
}

// subject is a definition for copying, YAML and the like.
// What it defines can be asked for where it is established.
func subject(env page.Env, name string, object any, established bool) page.Subject {
	command := cmp.Or(env.Command, "kapi")
	subject := page.Subject{
		Kind: "CustomResourceDefinition", Name: name, Resource: resource, Object: object,
		Path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name,
		Commands: []string{
			command + " inspect crds " + name,
			command + " inspect transitions --field-selector spec.object.kind=CustomResourceDefinition,spec.object.name=" + name,
			"kubectl get crd " + name + " -o yaml",
		},
	}
	if established {
		subject.Commands = append(subject.Commands, "kubectl get "+name+" -A")
	}
	return subject
}

// established tells whether the server answers for what a definition defines.
func established(conditions []joined.Condition) bool {
	return slices.ContainsFunc(conditions, func(c joined.Condition) bool { return c.Type == "Established" && c.Status == "True" })
}

// requests are those to the resource of a definition in a version.
func requests(name, version string) page.Location {
	plural, group, _ := strings.Cut(name, ".")
	return page.At("requests", "", "filter", "/apis/"+group+"/"+version+"/ "+plural)
}
