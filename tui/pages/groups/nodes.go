package groups

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/tree"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// shapes are how many columns a tree of a width has: what is left out of a narrow one
// stands beside the tree or below it.
var shapes = []struct{ width, columns int }{{112, 7}, {92, 6}, {60, 5}, {0, 2}}

// titles are the columns of a tree of a width.
func titles(width int) []string {
	all := []string{"NAME", "STATE", "OBJECTS", "SIZE", "LAYER", "VERBS", "STORAGE"}
	for _, shape := range shapes {
		if width >= shape.width {
			return all[:shape.columns]
		}
	}
	return all
}

// sum is what is stored of several resources; -1 where that is not known.
type sum struct{ objects, bytes int64 }

func unknown() sum { return sum{-1, -1} }

// add adds what is stored of a resource.
func (s *sum) add(r resource) {
	if r.storage == nil || r.storage.Status.Objects < 0 {
		return
	}
	s.objects = max(0, s.objects) + r.storage.Status.Objects
	s.bytes = max(0, s.bytes) + max(0, r.storage.Status.Bytes)
}

// cells are the two columns of a sum, aligned to the right.
func (s sum) cells() (objects, size ink.Span) {
	if s.objects < 0 {
		return ink.T(ink.Muted, ink.PadLeft("-", 7)), ink.T(ink.Muted, ink.PadLeft("-", 6))
	}
	token := ink.Text
	if s.objects == 0 {
		token = ink.Muted
	}
	return ink.T(token, ink.PadLeft(strconv.FormatInt(s.objects, 10), 7)), ink.T(token, ink.PadLeft(kinds.Size(s.bytes), 6))
}

// nodes makes the tree.
func nodes(groups []*group, signs *sheet.Signs) []tree.Node {
	all := make([]tree.Node, 0, len(groups))
	for _, g := range groups {
		all = append(all, g.node(signs))
	}
	return all
}

func (g *group) node(signs *sheet.Signs) tree.Node {
	stored, counted := unknown(), map[string]bool{}
	off, layer := len(g.versions) > 0, ""
	node := tree.Node{Key: "group " + g.name, Severity: kit.Severity(g.severity()), Children: make([]tree.Node, 0, len(g.versions))}
	for _, v := range g.versions {
		for _, r := range v.resources {
			if !counted[r.Spec.Resource] { // what is stored is the same in all versions
				counted[r.Spec.Resource] = true
				stored.add(r)
			}
		}
		off = off && v.off()
		layer = cmp.Or(layer, v.answerer())
		node.Children = append(node.Children, v.node(signs))
	}
	state, label := g.mark(signs), ink.T(ink.Text, coreName(g.name))
	if off {
		state, label.Token = signs.Off("off"), ink.Muted
	}
	if len(g.versions) == 1 && g.severity() == joined.Bad {
		node.Open = node.Children[0].Open
	}
	objects, size := stored.cells()
	node.Label, node.Cells = label, []ink.Span{state, objects, size, ink.T(ink.Muted, layer), {}, {}}
	return node
}

// mark is the state of the worst version.
func (g *group) mark(signs *sheet.Signs) ink.Span {
	worst := signs.Mark(joined.OK, "served")
	found := joined.OK
	for _, v := range g.versions {
		if severity, word := v.state(); severity > found {
			found, worst = severity, signs.Mark(severity, word)
		}
	}
	return worst
}

func counts(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func (v *groupVersion) node(signs *sheet.Signs) tree.Node {
	severity, word := v.state()
	state, label := signs.Mark(severity, word), ink.T(ink.Text, v.Version)
	if v.off() {
		state, label.Token = signs.Off("off"), ink.Muted
	}
	stored := unknown()
	node := tree.Node{Key: "version " + v.String(), Severity: kit.Severity(severity)}
	for _, r := range v.resources {
		stored.add(r)
		node.Children = append(node.Children, r.node(signs))
	}
	if v.service != nil && (len(node.Children) == 0 || severity == joined.Bad) {
		node.Open = page.At("apiservices", v.service.Name) // its page says why
	}
	objects, size := stored.cells()
	node.Label, node.Cells = label, []ink.Span{state, objects, size, ink.T(ink.Muted, v.answerer()), {}, {}}
	return node
}

// answerer is the layer that answers for a version, or the service that it is
// proxied to.
func (v *groupVersion) answerer() string {
	switch {
	case v.service != nil && v.service.Service != "":
		return v.service.Service
	case len(v.resources) > 0:
		return v.resources[0].Spec.Layer
	}
	return ""
}

func (r resource) node(signs *sheet.Signs) tree.Node {
	spec := &r.Spec
	node := tree.Node{Key: "resource " + spec.Group + "/" + spec.Version + "/" + spec.Resource}
	state, token := signs.Mark(joined.OK, "served"), ink.Text
	if spec.DeprecatedIn != "" || spec.RemovedIn != "" {
		state = signs.Mark(joined.Warning, "deprecated")
		node.Severity = vtable.Unsure
	}
	if !spec.Served {
		state, token = signs.Off("off"), ink.Muted
		node.Severity = vtable.Healthy
	} else {
		node.Open = r.open()
	}
	stored := unknown()
	stored.add(r)
	objects, size := stored.cells()
	node.Label = ink.T(token, spec.Resource)
	node.Cells = []ink.Span{
		state, objects, size, ink.T(ink.Muted, spec.Layer), ink.T(token, letters(spec.Verbs)),
		sheet.Or(token, spec.StorageVersion),
	}
	return node
}

// open is the list of a resource's objects.
func (r resource) open() page.Location {
	name := r.Spec.Resource
	if r.Spec.Group != "" {
		name += "." + r.Spec.Group
	}
	return page.At("object", name, "version", r.Spec.Version)
}

// deprecation says since when a resource is deprecated, and when it goes.
func deprecation(r resource) string {
	var parts []string
	if r.Spec.DeprecatedIn != "" {
		parts = append(parts, "deprecated in "+r.Spec.DeprecatedIn)
	}
	if r.Spec.RemovedIn != "" {
		parts = append(parts, "removed in "+r.Spec.RemovedIn)
	}
	return strings.Join(parts, ", ")
}

// verbs are those of resources, with a letter for each.
var verbs = []struct{ letter, name string }{
	{"g", "get"}, {"l", "list"}, {"w", "watch"}, {"c", "create"}, {"u", "update"}, {"p", "patch"}, {"d", "delete"}, {"x", "deletecollection"},
}

// letters are the verbs of a resource, each in its place: "glwcupdx".
func letters(has []string) string {
	var b strings.Builder
	for _, verb := range verbs {
		letter := "-"
		for _, one := range has {
			if one == verb.name {
				letter = verb.letter
			}
		}
		b.WriteString(letter)
	}
	return b.String()
}
