package object

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// finder is the page that is there while a resource is looked for by what was
// typed. When it is found, the resource's own page takes its place.
type finder struct {
	env         page.Env
	at          page.Location
	typed, name string
	question    ask.Question[[]data.Resource]
	doc         doc.Document
}

var _ interface {
	page.Page
	page.Receiver
	ask.Asker
} = &finder{}

func newFinder(env page.Env, at page.Location, typed, name string) *finder {
	return &finder{env: env, at: at, typed: typed, name: name}
}

// Title implements page.Page.
func (f *finder) Title() string { return f.typed }

// Needs implements page.Page.
func (f *finder) Needs() []data.Key { return nil }

// Update implements page.Page.
func (f *finder) Update(data.Frame) {}

// Ask implements ask.Asker.
func (f *finder) Ask() page.Effect {
	if f.question.Asked() {
		return page.Effect{}
	}
	return f.look()
}

func (f *finder) look() page.Effect {
	client := f.env.Client
	return f.question.Ask(0, func(ctx context.Context) ([]data.Resource, error) { return client.Resources(ctx) })
}

// Receive implements page.Receiver.
func (f *finder) Receive(answer any) page.Effect {
	if !f.question.Receive(answer) || f.question.Err() != nil {
		return page.Effect{}
	}
	all, _ := f.question.Value()
	found := find(all, f.typed)
	if len(found) == 1 {
		if why := f.refuses(found[0]); why == "" {
			return page.Effect{Open: f.to(found[0]), Replace: true}
		}
	}
	f.doc.Set(func(paper ink.Paper) []doc.Line { return f.text(paper, all, found) })
	return page.Effect{}
}

// to is the location of what was asked for, of a resource.
func (f *finder) to(resource data.Resource) page.Location {
	namespace, filter := f.at.Get("namespace"), f.at.Get("filter")
	if !resource.Namespaced {
		namespace = ""
	}
	name := f.name
	if name != "" && resource.Namespaced && namespace == "" {
		// It may be in any namespace: the list shows where.
		filter, name = name, ""
	}
	at := Location(resource.GroupVersionResource, namespace, name, f.at.Get("view"))
	if filter != "" && name == "" {
		at.Query.Set("filter", filter)
	}
	return at
}

// refuses says why what was asked for can't be shown of a resource.
func (f *finder) refuses(resource data.Resource) string {
	verb, what := "list", "listed"
	if f.name != "" && slices.Contains(resource.Verbs, "get") {
		return ""
	}
	if f.name != "" && !slices.Contains(resource.Verbs, "list") {
		verb, what = "get", "read"
	}
	if slices.Contains(resource.Verbs, verb) {
		return ""
	}
	return fmt.Sprintf("%s can't be %s: the server only takes %s.", resource.GroupResource(), what, strings.Join(resource.Verbs, ", "))
}

// text says what was found instead of one resource that can be shown.
func (f *finder) text(paper ink.Paper, all, found []data.Resource) []doc.Line {
	var lines []doc.Line
	say := func(token ink.Token, text string) {
		for _, line := range paper.Wrap(token, text, min(100, paper.Width-1)) {
			lines = append(lines, doc.Line{Line: line})
		}
	}
	switch {
	case len(found) == 1:
		say(ink.Warning, paper.Glyphs.Warning+" "+f.refuses(found[0]))
		lines = append(lines, doc.Line{})
		say(ink.Text, "It is a question to the server, or a deed, and nothing that is kept. What would happen to a request for it:")
		at := page.At("route", "", "verb", "POST", "path", Path(found[0].GroupVersionResource, f.namespaceFor(found[0]), ""))
		lines = append(lines, doc.Line{}, doc.Line{Line: ink.Line{ink.T(ink.Text, "  "), ink.T(ink.Accent, ":route POST "+at.Get("path"))}, Open: at})
		return lines
	case len(found) > 1:
		say(ink.Warning, fmt.Sprintf("%s %q is the name of %d resources", paper.Glyphs.Warning, f.typed, len(found)))
		lines = append(lines, doc.Line{})
		return append(lines, f.choices(found)...)
	}
	say(ink.Bad, fmt.Sprintf("%s the server has no resource %q", paper.Glyphs.Bad, f.typed))
	if near := nearest(all, f.typed); len(near) > 0 {
		lines = append(lines, doc.Line{})
		say(ink.Text, "Names that are near it:")
		lines = append(lines, f.choices(near)...)
	}
	lines = append(lines, doc.Line{})
	say(ink.Muted, "All that there are: page groups. A group whose server is not available is missing from discovery: page apiservices.")
	return lines
}

func (f *finder) namespaceFor(resource data.Resource) string {
	if !resource.Namespaced {
		return ""
	}
	if namespace := f.at.Get("namespace"); namespace != "" {
		return namespace
	}
	return "default"
}

// choices are resources to go to, a line each.
func (f *finder) choices(resources []data.Resource) []doc.Line {
	width := 0
	for _, r := range resources {
		width = max(width, ink.Width(r.GroupResource().String()))
	}
	lines := make([]doc.Line, 0, len(resources))
	for _, r := range resources {
		names := strings.Join(append([]string{r.Kind}, r.ShortNames...), ", ")
		lines = append(lines, doc.Line{Key: r.String(), Open: f.to(r), Line: ink.Line{
			ink.T(ink.Text, "  "), ink.T(ink.Accent, ink.Pad(r.GroupResource().String(), min(width, 50))),
			ink.T(ink.Muted, "  "+r.Version+"  "+names)}})
	}
	return lines
}

// Act implements page.Page.
func (f *finder) Act(action page.Action) page.Effect {
	if action.ID == page.Refresh {
		return f.look()
	}
	if line, ok := f.doc.Selected(); ok && action.ID == page.Enter && !line.Open.Zero() {
		return page.Effect{Open: line.Open, Replace: true}
	}
	f.doc.Act(action)
	return f.Ask()
}

// Offers implements page.Page.
func (f *finder) Offers(id page.ActionID) bool {
	if line, ok := f.doc.Selected(); ok && id == page.Enter && !line.Open.Zero() {
		return true
	}
	return id == page.Refresh || f.doc.Offers(id)
}

// View implements page.Page.
func (f *finder) View(paper ink.Paper) []ink.Line {
	if _, ok := f.question.Value(); !ok {
		if lines, blocked := kit.Blocked(f.question.View(), paper); blocked {
			return lines
		}
	}
	return f.doc.View(paper)
}
