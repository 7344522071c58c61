package tui

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/near"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages"
)

// command is something that is typed after a colon, besides the names of pages and
// of resources.
type command struct {
	name, args, help string
	// danger is something that changes the server.
	danger bool
	// complete are the values of the last word; nil has none.
	complete func(a *app, words []string) []string
	run      func(a *app, args []string) (tea.Cmd, error)
}

// commands is the table of them.
func commands() []command {
	return []command{
		{name: "route", args: "VERB PATH [--as USER] [--as-group GROUP]", help: "what would happen to a request, without sending it",
			complete: completeRoute, run: (*app).routeCommand},
		{name: "ctx", args: "NAME", help: "another server: a context of the kubeconfig", complete: completeContexts, run: (*app).contextCommand},
		{name: "theme", args: "NAME", help: "another theme", complete: completeThemes, run: (*app).themeCommand},
		{name: "snapshot", args: "FILE", help: "everything that the server shows, in a file (kapi inspect --from reads it)", run: (*app).snapshotCommand},
		{name: "delete", args: "RESOURCE NAME [-n NAMESPACE]", help: "delete an object; without words, the one that is selected", danger: true,
			complete: completeResources, run: (*app).deleteCommand},
		{name: "help", help: "keys and commands", run: func(a *app, _ []string) (tea.Cmd, error) { return a.openHelp(), nil }},
		{name: "quit", help: "quit", run: func(a *app, _ []string) (tea.Cmd, error) { return a.quit(), nil }},
	}
}

// aliases are other names of commands, as vi and k9s have them.
var aliases = map[string]string{"q": "quit", "q!": "quit", "context": "ctx", "h": "help", "?": "help", "rm": "delete"}

// command does what a line says.
func (a *app) command(line string) (tea.Cmd, error) {
	words, err := splitWords(line)
	if err != nil || len(words) == 0 {
		return nil, err
	}
	name := words[0]
	if alias, ok := aliases[name]; ok {
		name = alias
	}
	for _, c := range commands() {
		if c.name != name {
			continue
		}
		if c.danger && a.options.ReadOnly {
			return nil, fault.Usagef("%s", readOnlyText(name))
		}
		return c.run(a, words[1:])
	}
	return a.place(words)
}

// splitWords splits a line at blanks; what is in quotes is one word.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inside := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inside = r, true
		case r == ' ' || r == '\t':
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quote != 0 {
		return nil, fault.Usagef("a quote %c is not closed", quote)
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}

// place goes to a page or to a resource of the server: PAGE[/NAME], PAGE NAME,
// RESOURCE[/NAME] [NAME] [-n NAMESPACE | -A] [-l SELECTOR].
func (a *app) place(words []string) (tea.Cmd, error) {
	if a.session == nil {
		return nil, fault.Usagef("not connected yet: only ctx and quit work")
	}
	at, err := page.Parse(words[0])
	if err != nil {
		return nil, fault.Usagef("%q is no place: %w", words[0], err)
	}
	_, isPage := pages.ByName(at.Page)
	rest := words[1:]
	namespace, filter := "", ""
	for i := 0; i < len(rest); i++ {
		switch word := rest[i]; {
		case (word == "-n" || word == "-l") && !isPage:
			if i++; i >= len(rest) {
				return nil, fault.Usagef("%s needs a value", word)
			}
			if word == "-n" {
				namespace = rest[i]
			} else {
				filter = "-l " + rest[i]
			}
		case word == "-A" && !isPage:
			namespace = ""
		case strings.HasPrefix(word, "-"):
			return nil, fault.Usagef("%s takes no %s", at.Page, word)
		case at.Name == "":
			at.Name = word
		default:
			return nil, fault.Usagef("%s takes one name: %q is too many", at.Page, word)
		}
	}
	if !isPage {
		if err := a.knownResource(at.Page); err != nil {
			return nil, err
		}
		at = page.At("object", strings.TrimSuffix(at.Page+"/"+at.Name, "/"), "namespace", namespace, "filter", filter)
	}
	return a.goTo(at), nil
}

// knownResource refuses what discovery does not have, once it is known.
func (a *app) knownResource(name string) error {
	if a.session.resources == nil {
		return nil
	}
	var names []string
	for _, r := range a.session.resources {
		forms := resourceNames(r)
		if slices.Contains(forms, strings.ToLower(name)) {
			return nil
		}
		names = append(names, forms...)
	}
	for _, entry := range pageTable() {
		names = append(names, entry.Name)
	}
	for _, c := range commands() {
		names = append(names, c.name)
	}
	err := fault.Usagef("%q is no page, no command and no resource of this server", name)
	if best, d := near.Of(name, names); near.Enough(name, d) {
		return fault.WithHint(err, "did you mean %s?", best)
	}
	return fault.WithHint(err, "tab lists what there is")
}

// resourceNames are all names of a resource that kubectl takes.
func resourceNames(r data.Resource) []string {
	names := append([]string{r.Resource, r.Singular, strings.ToLower(r.Kind)}, r.ShortNames...)
	if r.Group != "" {
		names = append(names, r.Resource+"."+r.Group, r.Resource+"."+r.Version+"."+r.Group)
	}
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}

// verbs of HTTP methods, as route takes them.
var methodVerbs = []string{"GET", "list", "watch", "POST", "PUT", "PATCH", "DELETE", "get", "create", "update", "patch", "delete", "deletecollection"}

func (a *app) routeCommand(args []string) (tea.Cmd, error) {
	if a.session == nil {
		return nil, fault.Usagef("not connected yet")
	}
	var words, groups []string
	user := ""
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if name != "--as" && name != "--as-group" {
			if strings.HasPrefix(name, "-") {
				return nil, fault.WithHint(fault.Usagef("route takes no %s", name), "route VERB PATH [--as USER] [--as-group GROUP]")
			}
			words = append(words, args[i])
			continue
		}
		if !joined {
			if i++; i >= len(args) {
				return nil, fault.Usagef("%s needs a name", name)
			}
			value = args[i]
		}
		if name == "--as" {
			user = value
		} else {
			groups = append(groups, value)
		}
	}
	if len(words) == 1 && strings.HasPrefix(words[0], "/") {
		words = []string{"GET", words[0]}
	}
	if len(words) != 2 || !strings.HasPrefix(words[1], "/") {
		return nil, fault.WithHint(fault.Usagef("route needs a verb and a path"), "route GET /api/v1/namespaces/default/pods --as alice")
	}
	if len(groups) > 0 && user == "" {
		return nil, fault.Usagef("--as-group needs --as")
	}
	at := page.At("route", "", "verb", words[0], "path", words[1], "user", user)
	for _, group := range groups {
		at.Query.Add("groups", group)
	}
	return a.enter(at), nil
}

func (a *app) contextCommand(args []string) (tea.Cmd, error) {
	switch {
	case a.options.Replay != nil:
		return nil, fault.Usagef("a recording is shown, which has no contexts")
	case len(args) != 1:
		return nil, fault.WithHint(fault.Usagef("ctx needs the name of a context"), "there are: %s", strings.Join(a.contexts(), ", "))
	case len(a.contexts()) > 0 && !slices.Contains(a.contexts(), args[0]):
		return nil, fault.WithHint(fault.Usagef("there is no context %q", args[0]), "%s", near.Hint(args[0], a.contexts()))
	}
	return tea.Batch(a.connect(args[0]), a.say("connecting to %s", args[0])), nil
}

func (a *app) contexts() []string {
	if a.options.Contexts == nil {
		return nil
	}
	return a.options.Contexts()
}

func (a *app) themeCommand(args []string) (tea.Cmd, error) {
	if len(args) != 1 {
		return nil, fault.WithHint(fault.Usagef("theme needs a name"), "there are: %s", strings.Join(a.themeNames(), ", "))
	}
	return nil, a.setTheme(args[0])
}

// snapshotCommand writes what `kapi inspect snapshot` does.
func (a *app) snapshotCommand(args []string) (tea.Cmd, error) {
	if len(args) != 1 {
		return nil, fault.Usagef("snapshot needs the name of a file")
	}
	if a.session == nil || a.session.client.Server() == nil {
		return nil, fault.Usagef("there is no server to take a snapshot of")
	}
	s, name := a.session, args[0]
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.ctx, 6*workTime)
		defer cancel()
		summary, err := writeSnapshot(ctx, s, name)
		if err != nil {
			return effectMsg(page.Effect{Toast: errorText(err), Bad: true})
		}
		return effectMsg(page.Effect{Toast: fmt.Sprintf("%s: %d objects", name, summary)})
	}, nil
}

// writeSnapshot never replaces a file.
func writeSnapshot(ctx context.Context, s *session, name string) (int, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("writing the snapshot: %w", err)
	}
	summary, err := recorded.Take(ctx, s.client.Server(), file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(name) // half a snapshot is none
		return 0, fmt.Errorf("writing the snapshot: %w", err)
	}
	objects := 0
	for _, count := range summary.Counts {
		objects += count.Objects
	}
	return objects, nil
}

func (a *app) deleteCommand(args []string) (tea.Cmd, error) {
	if len(args) == 0 {
		if !a.isReal() {
			return nil, fault.Usagef("nothing is selected that could be deleted")
		}
		return a.askDelete(), nil
	}
	if len(args) < 2 || a.session == nil {
		return nil, fault.WithHint(fault.Usagef("delete needs a resource and a name"), "delete configmap web -n default")
	}
	namespace := ""
	if len(args) == 4 && args[2] == "-n" {
		namespace = args[3]
	} else if len(args) != 2 {
		return nil, fault.WithHint(fault.Usagef("delete does not take %q", strings.Join(args[2:], " ")), "delete RESOURCE NAME [-n NAMESPACE]")
	}
	for _, r := range a.session.resources {
		if !slices.Contains(resourceNames(r), strings.ToLower(args[0])) {
			continue
		}
		if r.Namespaced && namespace == "" {
			return nil, fault.Usagef("%s are in namespaces: name one with -n", r.Resource)
		}
		a.confirmDelete(page.Subject{Kind: r.Kind, Name: args[1], Resource: r.GroupVersionResource, Namespace: namespace})
		return nil, nil
	}
	return nil, fault.Usagef("%q is no resource of this server", args[0])
}
