package object

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// list is the page of all objects of a resource. Which columns there are the server
// says, so that the table is made when its first answer is there, and anew when a
// definition has changed its columns.
type list struct {
	*kit.List[*data.Row]
	env       page.Env
	resource  schema.GroupVersionResource
	namespace string
	key       data.Key
	shape     shape
	// pending are settings that wait for the first table.
	filter string
	memory map[string]string
}

// shape is what the table is made for.
type shape struct {
	columns    []data.Column
	namespaces bool
}

func (s shape) equal(other shape) bool {
	return s.namespaces == other.namespaces && slices.Equal(s.columns, other.columns)
}

var _ interface {
	page.Page
	page.Filterer
	page.Selecter
	page.Remembered
} = &list{}

func newList(env page.Env, resource schema.GroupVersionResource, namespace, filter string) *list {
	l := &list{env: env, resource: resource, namespace: namespace, filter: filter, key: data.Key{Resource: resource, Namespace: namespace}}
	l.build(shape{}, filter, nil)
	return l
}

// build makes the table, with the filter and the settings of the one before it.
func (l *list) build(s shape, filter string, memory map[string]string) {
	l.shape = s
	l.List = kit.NewList(kit.ListConfig[*data.Row]{
		Title: l.title(),
		Needs: []data.Key{l.key},
		Rows: func(frame data.Frame) []*data.Row {
			rows := data.Objects[*data.Row](frame, l.key)
			return slices.DeleteFunc(rows, func(r *data.Row) bool { return r == nil })
		},
		Filter: filter,
		Table: vtable.Config[*data.Row]{
			Columns:  columns(s),
			Key:      func(r *data.Row) string { return r.Namespace + "/" + r.Name },
			Severity: func(r *data.Row) vtable.Severity { return severity(s.columns, r) },
			Labels:   func(r *data.Row) map[string]string { return r.Labels },
			Empty:    l.empty(),
		},
		Subject: l.subject,
		Open:    func(r *data.Row) page.Location { return l.to(r, "") },
		Detail:  detail,
		Extra: map[page.ActionID]func(*data.Row) page.Effect{
			page.Yaml:     func(r *data.Row) page.Effect { return page.Effect{Open: l.to(r, yamlView.name())} },
			page.Describe: func(r *data.Row) page.Effect { return page.Effect{Open: l.to(r, describeView.name())} },
			page.EtcdKey:  func(r *data.Row) page.Effect { return page.Effect{Open: l.to(r, etcdView.name())} },
		},
	})
	if memory != nil {
		l.List.Restore(memory)
	}
}

func (l *list) title() string {
	if l.namespace == "" {
		return l.resource.GroupResource().String()
	}
	return l.resource.GroupResource().String() + " in " + l.namespace
}

func (l *list) empty() string {
	said := "no " + l.resource.GroupResource().String()
	if l.namespace != "" {
		said += " in namespace " + l.namespace
	}
	return said
}

// Update implements page.Page.
func (l *list) Update(frame data.Frame) {
	view := frame.View(l.key)
	s := shape{columns: view.Columns, namespaces: l.shape.namespaces || l.namespace == "" && namespaced(view)}
	if len(view.Columns) == 0 {
		s.columns = l.shape.columns // nothing has come yet, or the server is lost
	}
	if !s.equal(l.shape) {
		selected, had := l.Table().Selected()
		filter, memory := l.Filtered(), l.Memory()
		if len(l.shape.columns) == 0 {
			filter, memory = l.filter, l.memory
		}
		l.build(s, filter, memory)
		l.List.Update(frame)
		if had {
			l.Table().Select(selected.Namespace + "/" + selected.Name)
		}
		return
	}
	l.List.Update(frame)
}

// namespaced tells whether any object of a view is in a namespace. Those of one
// resource are alike.
func namespaced(view data.View) bool {
	return len(view.Objects) > 0 && view.Objects[0].GetNamespace() != ""
}

// Filter implements page.Filterer. One that was typed before there are columns is
// tried when they are there.
func (l *list) Filter(text string) error {
	if len(l.shape.columns) == 0 {
		l.filter = text
		return nil
	}
	return l.List.Filter(text)
}

// Filtered implements page.Filterer.
func (l *list) Filtered() string {
	if len(l.shape.columns) == 0 {
		return l.filter
	}
	return l.List.Filtered()
}

// Restore implements page.Remembered.
func (l *list) Restore(memory map[string]string) {
	l.memory = memory
	l.List.Restore(memory)
}

// to is where a row leads.
func (l *list) to(r *data.Row, view string) page.Location {
	return Location(l.resource, r.Namespace, r.Name, view)
}

func (l *list) subject(r *data.Row) page.Subject {
	return page.Subject{
		Kind: l.resource.Resource, Name: r.Name, Resource: l.resource, Namespace: r.Namespace,
		Path:     Path(l.resource, r.Namespace, r.Name),
		Commands: commands(l.resource, r.Namespace, r.Name),
	}
}

// columns are the server's, with the namespace before them.
func columns(s shape) []vtable.Column[*data.Row] {
	if len(s.columns) == 0 {
		return []vtable.Column[*data.Row]{{Title: "NAME", Cell: nameCell, Grow: 1, Keep: true, Middle: true}}
	}
	var columns []vtable.Column[*data.Row]
	if s.namespaces {
		columns = append(columns, vtable.Column[*data.Row]{Title: "NAMESPACE", Cell: namespaceCell, Keep: true, Middle: true, Min: 9})
	}
	for i, c := range s.columns {
		column := vtable.Column[*data.Row]{
			Title: heading(c.Name), Wide: c.Wide, Right: c.Type == "integer" || c.Type == "number",
			Cell: cell(i, c), Compare: compare(i, c),
		}
		if strings.EqualFold(c.Name, "Name") {
			column.Grow, column.Keep, column.Middle, column.Min = 1, true, true, 12
		}
		columns = append(columns, column)
	}
	return columns
}

// heading is a column's name as one word, so that filters can name it.
func heading(name string) string {
	return strings.ToUpper(strings.Join(strings.Fields(name), "-"))
}
