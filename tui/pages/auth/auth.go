// Package auth is the page of who may do what: authenticators, authorizers and
// admission plugins, each in the order in which a request meets them, with what they
// have decided. It may import kit, sheet, the contract, data, the components and
// what is joined.
package auth

import (
	"cmp"
	"strings"

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
const Name = "auth"

// part is one of the three lists.
type part struct {
	// resource is what it lists, kind what one of them is called.
	resource, kind string
	// empty is said where there is none.
	empty string
	rows  func(frame data.Frame) []row
	// columns are made for the signs of a list.
	columns func(*sheet.Signs) []vtable.Column[row]
	// share and least are those of kit.Part.
	share, least int
}

// parts are the lists, in the order in which a request meets them.
func parts() []part {
	return []part{
		{"authenticators", "authenticator", "There are no authenticators: nobody can be known.", authenticators, authenticatorColumns, 5, 4},
		{"authorizers", "authorizer", "There are no authorizers.", authorizers, authorizerColumns, 3, 4},
		{"admissionplugins", "admission plugin", "There are no admission plugins.", plugins, pluginColumns, 8, 4},
	}
}

// New returns the three lists, or the detail of one of what is in them: a name may
// begin with the resource ("authorizers/rbac").
func New(env page.Env, at page.Location) (page.Page, error) {
	if at.Name != "" {
		return detail(env, at.Name), nil
	}
	var all []kit.Part
	for _, p := range parts() {
		all = append(all, kit.Part{Page: p.list(env, at), Share: p.share, Least: p.least})
	}
	return kit.NewParts("auth", all...), nil
}

func (p part) list(env page.Env, at page.Location) page.Page {
	signs := &sheet.Signs{}
	title := p.resource
	if title == "admissionplugins" {
		title = "admission plugins"
	}
	return sheet.NewList(signs, nil, kit.ListConfig[row]{
		Title: title,
		Needs: []data.Key{data.Of(p.resource)},
		Rows:  p.rows,
		Table: vtable.Config[row]{
			Columns:  p.columns(signs),
			Key:      func(r row) string { return r.name },
			Severity: func(r row) vtable.Severity { return kit.Severity(r.severity()) },
			Empty:    p.empty,
		},
		Subject: func(r row) page.Subject { return p.subject(env, r) },
		Open:    func(r row) page.Location { return page.At(Name, p.resource+"/"+r.name) },
		Detail: func(r row, frame data.Frame) doc.Render {
			return func(paper ink.Paper) []doc.Line { return p.lines(r, frame, paper) }
		},
		Filter: at.Get("filter"),
	})
}

func (p part) subject(env page.Env, r row) page.Subject {
	return page.Subject{
		Kind: p.kind, Name: r.name, Inspect: p.resource, Object: r.object,
		Path:     "/apis/inspect.kapi.dev/v1alpha1/" + p.resource + "/" + r.name,
		Commands: []string{cmp.Or(env.Command, "kapi") + " inspect " + p.resource + " " + r.name},
	}
}

// detail is the page of one of them.
func detail(env page.Env, name string) page.Page {
	var needs []data.Key
	resource, rest, ok := strings.Cut(name, "/")
	all := parts()
	for _, p := range all {
		if ok && p.resource == resource {
			all, name = []part{p}, rest
			break
		}
	}
	for _, p := range all {
		needs = append(needs, data.Of(p.resource))
	}
	find := func(frame data.Frame) (part, row, bool) {
		for _, p := range all {
			for _, r := range p.rows(frame) {
				if r.name == name {
					return p, r, true
				}
			}
		}
		return part{}, row{}, false
	}
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: needs,
		Gone:  "there is no " + all[0].kind + " " + name,
		Render: func(frame data.Frame) doc.Render {
			p, r, ok := find(frame)
			if !ok {
				return nil
			}
			return func(paper ink.Paper) []doc.Line { return p.lines(r, frame, paper) }
		},
		Subject: func(frame data.Frame) (page.Subject, bool) {
			p, r, ok := find(frame)
			if !ok {
				return page.Subject{}, false
			}
			return p.subject(env, r), true
		},
	})
}

// severity is whether somebody should look at it: what can't decide may be set up
// wrongly. That something was refused is what it is there for.
func (r row) severity() joined.Severity {
	for _, d := range r.decisions {
		if d.fault && d.count > 0 {
			return joined.Warning
		}
	}
	return joined.OK
}
