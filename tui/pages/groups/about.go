package groups

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// index finds groups, versions and resources by the keys of their nodes.
func index(groups []*group) map[string]any {
	all := map[string]any{}
	for _, g := range groups {
		all["group "+g.name] = g
		for _, v := range g.versions {
			all["version "+v.String()] = v
			for _, r := range v.resources {
				all["resource "+r.Spec.Group+"/"+r.Spec.Version+"/"+r.Spec.Resource] = r
			}
		}
	}
	return all
}

// render is what there is to say about a group, a version or a resource.
func render(about any) doc.Render {
	return func(paper ink.Paper) []doc.Line {
		switch about := about.(type) {
		case *group:
			return about.lines(paper)
		case *groupVersion:
			return about.lines(paper)
		case resource:
			return about.lines(paper)
		}
		return nil
	}
}

func (g *group) lines(paper ink.Paper) []doc.Line {
	lines := []doc.Line{{Key: "title", Line: ink.L(ink.Title, coreName(g.name))}}
	for _, v := range g.versions {
		severity, word := v.state()
		value := kit.Mark(paper.Glyphs, severity, word)
		if v.off() {
			value = ink.T(ink.Muted, paper.Glyphs.Off+" off")
		}
		if why := v.why(); why != "" {
			value.Text += ": " + why
		}
		lines = kit.Fact(lines, paper, v.Version, ink.Line{value})
	}
	return lines
}

func (v *groupVersion) lines(paper ink.Paper) []doc.Line {
	severity, word := v.state()
	state := kit.Mark(paper.Glyphs, severity, word)
	if v.off() {
		state = ink.T(ink.Muted, paper.Glyphs.Off+" off")
	}
	lines := []doc.Line{{Key: "title", Line: ink.Line{ink.T(ink.Title, coreName(v.Group)+"/"+v.Version), ink.T(ink.Text, "  "), state}}}
	if v.off() {
		lines = kit.Fact(lines, paper, "why off", ink.L(ink.Text, strings.TrimPrefix(v.resources[0].Spec.DisabledBy, "off; ")))
	}
	lines = sheet.Para(lines, paper, 1, kit.Tone(severity), v.why())
	if v.service != nil {
		lines = kit.Fact(lines, paper, "APIService", ink.L(ink.Value, v.service.Name))
		lines = kit.Fact(lines, paper, "answered by", ink.L(ink.Text, cmp.Or(v.service.Service, "this server")))
	}
	if v.discovery != nil {
		freshness := string(v.discovery.Status.Freshness)
		lines = kit.Fact(lines, paper, "discovery", ink.L(ink.Text, freshness+", "+counts(int(v.discovery.Status.Resources), "resource")))
	}
	return lines
}

func (r resource) lines(paper ink.Paper) []doc.Line {
	spec := &r.Spec
	state := kit.Mark(paper.Glyphs, joined.OK, "served")
	if !spec.Served {
		state = ink.T(ink.Muted, paper.Glyphs.Off+" off")
	}
	scope := "cluster-scoped"
	if spec.Namespaced {
		scope = "namespaced"
	}
	lines := []doc.Line{{Key: "title", Line: ink.Line{
		ink.T(ink.Title, spec.Resource), ink.T(ink.Text, "  "+spec.Kind+", "+scope+"  "), state,
	}}}
	fact := func(label, value string, token ink.Token) {
		lines = kit.Fact(lines, paper, label, ink.L(token, value))
	}
	fact("why off", strings.TrimPrefix(spec.DisabledBy, "off; "), ink.Text)
	fact("deprecated", strings.TrimPrefix(deprecation(r), "deprecated "), ink.Warning)
	fact("verbs", strings.Join(spec.Verbs, " "), ink.Text)
	fact("stored", r.stored(), ink.Text)
	fact("subresources", strings.Join(spec.Subresources, " "), ink.Text)
	fact("short names", strings.Join(spec.ShortNames, " "), ink.Text)
	fact("categories", strings.Join(spec.Categories, " "), ink.Text)
	fact("layer", spec.Layer, ink.Text)
	fact("proxied to", spec.APIService, ink.Text)
	return lines
}

// stored is as what, where and how much is stored.
func (r resource) stored() string {
	if r.Spec.StorageVersion == "" && r.Spec.EtcdPrefix == "" {
		return ""
	}
	text := "as " + cmp.Or(r.Spec.StorageVersion, "?")
	if r.Spec.EtcdPrefix != "" {
		text += " under " + r.Spec.EtcdPrefix
	}
	if r.storage != nil && r.storage.Status.Objects >= 0 {
		text += ": " + counts(int(r.storage.Status.Objects), "object") + ", " + kinds.Size(r.storage.Status.Bytes)
	}
	return text
}

// requests are those to what a node stands for.
func (p *Page) requests(key string) page.Location {
	path := func(gv schema.GroupVersion) string {
		if gv.Group == "" {
			return "/api/" + gv.Version
		}
		return "/apis/" + gv.String()
	}
	switch about := p.about[key].(type) {
	case *group:
		if about.name == "" {
			return page.At("requests", "", "filter", "/api/")
		}
		return page.At("requests", "", "filter", "/apis/"+about.name+"/")
	case *groupVersion:
		return page.At("requests", "", "filter", path(about.GroupVersion))
	case resource:
		gv := schema.GroupVersion{Group: about.Spec.Group, Version: about.Spec.Version}
		return page.At("requests", "", "filter", path(gv)+" "+about.Spec.Resource)
	}
	return page.Location{}
}

// Selected implements page.Selecter.
func (p *Page) Selected() (page.Subject, bool) {
	node, ok := p.tree.Selected()
	if !ok {
		return page.Subject{}, false
	}
	command := cmp.Or(p.env.Command, "kapi")
	switch about := p.about[node.Key].(type) {
	case *group:
		return page.Subject{Kind: "group", Name: coreName(about.name), Commands: []string{
			command + " inspect registrations --field-selector spec.group=" + about.name,
		}}, true
	case *groupVersion:
		subject := page.Subject{Kind: "version", Name: about.String(), Commands: []string{
			command + " inspect registrations --field-selector spec.group=" + about.Group + ",spec.version=" + about.Version,
		}}
		if about.discovery != nil {
			subject.Inspect, subject.Object = "discoverystates", about.discovery
		}
		return subject, true
	case resource:
		return page.Subject{
			Kind: "resource", Name: strings.TrimSuffix(about.Spec.Resource+"."+about.Spec.Group, "."),
			Inspect: "apiresourceregistrations", Object: about.APIResourceRegistration,
			Path:     "/apis/inspect.kapi.dev/v1alpha1/apiresourceregistrations/" + about.Name,
			Commands: []string{command + " inspect registrations " + about.Name},
		}, true
	}
	return page.Subject{}, false
}
