package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/pages"
)

// complete lists what a line could become: the first word among commands, pages
// and resources, later ones by what the first is.
func (a *app) complete(line string) []offer {
	words := strings.Fields(line)
	if len(words) == 0 || len(words) == 1 && !strings.HasSuffix(line, " ") {
		prefix := ""
		if len(words) == 1 {
			prefix = words[0]
		}
		return a.completeFirst(prefix)
	}
	last := ""
	if !strings.HasSuffix(line, " ") {
		last = words[len(words)-1]
		words = words[:len(words)-1]
	}
	var offers []offer
	for _, value := range a.values(words) {
		if strings.HasPrefix(strings.ToLower(value), strings.ToLower(last)) {
			offers = append(offers, offer{line: strings.Join(append(slices.Clone(words), value), " "), shown: value})
		}
	}
	return offers
}

// completeFirst lists commands and pages that begin so, then resources, then those
// that hold it somewhere.
func (a *app) completeFirst(prefix string) []offer {
	var all []offer
	for _, entry := range pageTable() {
		if entry.Name != "object" && entry.Name != "route" {
			all = append(all, offer{entry.Name, entry.Name, entry.Help})
		}
	}
	for _, c := range commands() {
		line := c.name
		if c.args != "" {
			line += " "
		}
		all = append(all, offer{line, strings.TrimSpace(c.name + " " + c.args), c.help})
	}
	if a.session != nil {
		for _, r := range a.session.resources {
			if slices.Contains(r.Verbs, "list") {
				all = append(all, offer{resourceLine(r), resourceLine(r), resourceHelp(r)})
			}
		}
	}
	var begins, holds []offer
	for _, o := range all {
		switch {
		case strings.HasPrefix(o.line, prefix):
			begins = append(begins, o)
		case prefix != "" && (strings.Contains(o.line, prefix) || slices.Contains(strings.FieldsFunc(o.help, isComma), prefix)):
			holds = append(holds, o)
		}
	}
	return append(begins, holds...)
}

func isComma(r rune) bool { return strings.ContainsRune(", ()", r) }

// resourceLine is the shortest name that is a resource's own.
func resourceLine(r data.Resource) string {
	if _, isPage := pages.ByName(r.Resource); r.Group == "" && !isPage {
		return r.Resource
	}
	return strings.TrimSuffix(r.Resource+"."+r.Group, ".")
}

func resourceHelp(r data.Resource) string {
	help := r.Kind
	if len(r.ShortNames) > 0 {
		help += " (" + strings.Join(r.ShortNames, ", ") + ")"
	}
	return help
}

// values are what can follow the words that are there.
func (a *app) values(words []string) []string {
	for _, c := range commands() {
		if c.name == words[0] && c.complete != nil {
			return c.complete(a, words[1:])
		}
	}
	if entry, ok := pages.ByName(words[0]); ok {
		return a.namesOf(entry)
	}
	if words[len(words)-1] == "-n" {
		return a.namespaces()
	}
	return []string{"-n"}
}

// namesOf are the names of what a page shows, as far as its feeds know them.
func (a *app) namesOf(entry pages.Entry) []string {
	keys := map[string]data.Key{"crds": data.Definitions, "apiservices": data.APIServices}
	key, ok := keys[entry.Name]
	if !ok && len(entry.Resources) > 0 {
		key = data.Of(entry.Resources[0])
	}
	var names []string
	for _, object := range a.frame.View(key).Objects {
		names = append(names, object.GetName())
	}
	return names
}

// namespaces are those that requests were about: there is no need to ask.
func (a *app) namespaces() []string {
	names := []string{"default", "kube-system", "kube-public", "kube-node-lease"}
	for view := range a.frame.Views() {
		for _, object := range view.Objects {
			if ns := object.GetNamespace(); ns != "" && !slices.Contains(names, ns) && len(names) < 200 {
				names = append(names, ns)
			}
		}
	}
	return names
}

func completeRoute(a *app, words []string) []string {
	switch {
	case len(words) == 0:
		return methodVerbs
	case words[len(words)-1] == "--as" || words[len(words)-1] == "--as-group":
		return nil
	case len(words) == 1:
		return a.paths()
	}
	return []string{"--as", "--as-group"}
}

// paths are those of the resources in discovery.
func (a *app) paths() []string {
	if a.session == nil {
		return nil
	}
	var paths []string
	for _, r := range a.session.resources {
		root := "/apis/" + r.Group
		if r.Group == "" {
			root = "/api"
		}
		middle := ""
		if r.Namespaced {
			middle = "/namespaces/default"
		}
		paths = append(paths, fmt.Sprintf("%s/%s%s/%s", root, r.Version, middle, r.Resource))
	}
	return paths
}

func completeContexts(a *app, words []string) []string {
	if len(words) > 0 {
		return nil
	}
	return a.contexts()
}

func completeThemes(a *app, words []string) []string {
	if len(words) > 0 {
		return nil
	}
	return a.themeNames()
}

func completeResources(a *app, words []string) []string {
	if len(words) > 0 || a.session == nil {
		return nil
	}
	var names []string
	for _, r := range a.session.resources {
		if slices.Contains(r.Verbs, "delete") {
			names = append(names, resourceLine(r))
		}
	}
	return names
}
