package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/etcd/stored"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// subject is what is selected on the page that is seen.
func (a *app) subject() (page.Subject, bool) {
	v := a.top()
	if v == nil || v.err != nil {
		return page.Subject{}, false
	}
	selecter, ok := v.page.(page.Selecter)
	if !ok {
		return page.Subject{}, false
	}
	var s page.Subject
	a.guard(v, func() { s, ok = selecter.Selected() })
	return s, ok
}

func (a *app) hasSubject() bool {
	_, ok := a.subject()
	return ok
}

// isReal tells whether a real object is selected: one that kubectl has too.
func (a *app) isReal() bool {
	s, ok := a.subject()
	return ok && s.Resource.Resource != "" && s.Name != ""
}

func (a *app) hasYAML() bool {
	s, ok := a.subject()
	return ok && (s.Object != nil || s.Resource.Resource != "" && s.Name != "")
}

// showYAML, showDescription and showStored open what is selected in another way. A
// page that does so itself is asked.
func (a *app) showYAML() tea.Cmd {
	if a.pageOffers(page.Yaml) {
		return a.pageAct(page.Yaml)
	}
	s, _ := a.subject()
	if s.Resource.Resource != "" {
		return a.enter(objectPlace(s, "yaml"))
	}
	return a.enterPage(newYAMLPage(s))
}

func (a *app) showDescription() tea.Cmd { return a.showObject(page.Describe, "describe") }
func (a *app) showStored() tea.Cmd      { return a.showObject(page.EtcdKey, "etcd") }

func (a *app) showObject(id page.ActionID, view string) tea.Cmd {
	if a.pageOffers(id) {
		return a.pageAct(id)
	}
	s, _ := a.subject()
	return a.enter(objectPlace(s, view))
}

// objectPlace is where an object is shown.
func objectPlace(s page.Subject, view string) page.Location {
	name := strings.TrimSuffix(s.Resource.Resource+"."+s.Resource.Group, ".") + "/" + s.Name
	return page.At("object", name, "version", s.Resource.Version, "namespace", s.Namespace, "view", view)
}

// newYAMLPage shows an object of the inspect API, which stays as it was when the
// key was pressed.
func newYAMLPage(s page.Subject) page.Page {
	render, err := doc.YAML(s.Object)
	return kit.NewText(kit.TextConfig{
		Title: s.Name + " yaml",
		Render: func(data.Frame) doc.Render {
			if err != nil {
				return doc.Text("writing it as YAML: " + err.Error())
			}
			return render
		},
		Subject: func(data.Frame) (page.Subject, bool) { return s, true },
	})
}

// enterPage puts a page on the stack that has no place of its own.
func (a *app) enterPage(p page.Page) tea.Cmd {
	top := a.top()
	a.remember(top)
	a.visits++
	v := &visit{id: a.visits, at: top.at, page: p}
	a.stack = append(a.stack, v)
	return a.seen(v)
}

func (a *app) copyName() tea.Cmd {
	s, _ := a.subject()
	return a.copy(s.Name, s.Kind+" "+s.Name)
}

// openCopyAs offers the command lines that show the same elsewhere.
func (a *app) openCopyAs() tea.Cmd {
	s, _ := a.subject()
	p := &choicePanel{title: "copy " + s.Kind + " " + s.Name + " as"}
	for _, line := range a.commandLines(s) {
		p.choices = append(p.choices, choice{text: line, run: func(a *app) tea.Cmd { return a.copy(line, "the command line") }})
	}
	if s.Object != nil {
		p.choices = append(p.choices, choice{key: "y", text: "its YAML", run: func(a *app) tea.Cmd {
			text, err := doc.YAMLText(s.Object)
			if err != nil {
				return a.complain(err)
			}
			return a.copy(text, "the YAML")
		}})
	}
	if len(p.choices) == 0 {
		return a.copyName()
	}
	a.panel = p
	return nil
}

// addressed is a command line that reaches the server on the screen, and no other.
func (a *app) addressed(line string) string {
	var flags strings.Builder
	for _, flag := range a.session.target.Flags {
		flags.WriteString(" " + page.Quote(flag))
	}
	for _, command := range []string{"kubectl", "(kubectl", a.options.Command + " inspect", "kapi inspect"} {
		if rest, ok := strings.CutPrefix(line, command+" "); ok {
			return command + flags.String() + " " + rest
		}
	}
	return line
}

// commandLines are the command lines that show the same elsewhere.
func (a *app) commandLines(s page.Subject) []string {
	lines := a.linesOf(s)
	for i, line := range lines {
		lines[i] = a.addressed(line)
	}
	return lines
}

// linesOf are the page's own, then those that can be told from the subject.
func (a *app) linesOf(s page.Subject) []string {
	lines := slices.Clone(s.Commands)
	// What the page has a line for it knows better.
	add := func(mark, line string) {
		if !slices.ContainsFunc(s.Commands, func(own string) bool { return strings.Contains(own, mark) }) {
			lines = append(lines, line)
		}
	}
	if s.Inspect != "" {
		if kind, ok := kinds.ByName(s.Inspect); ok {
			add(" inspect ", fmt.Sprintf("%s inspect %s %s", a.options.Command, kind.Singular, page.Quote(s.Name)))
			add("kubectl get", fmt.Sprintf("kubectl get %s.%s %s -o yaml", kind.Resource, v1alpha1.GroupName, page.Quote(s.Name)))
			if s.Path == "" {
				s.Path = "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/" + kind.Resource + "/" + s.Name
			}
		}
	}
	if s.Resource.Resource != "" {
		namespace := ""
		if s.Namespace != "" {
			namespace = " -n " + page.Quote(s.Namespace)
		}
		add("kubectl get", fmt.Sprintf("kubectl get %s%s -o yaml", page.Quote(strings.TrimSuffix(s.Resource.Resource+"."+s.Resource.Group, ".")+"/"+s.Name), namespace))
		if s.Path == "" {
			s.Path = objectPath(s)
		}
	}
	if s.Path != "" {
		add("--raw", "kubectl get --raw "+page.Quote(s.Path))
		add("curl ", a.curl(s.Path))
	}
	if line := a.etcdctl(s); line != "" {
		add("etcdctl", line)
	}
	return lines
}

// objectPath is the path of an object in the API.
func objectPath(s page.Subject) string {
	root := "/apis/" + s.Resource.Group + "/" + s.Resource.Version
	if s.Resource.Group == "" {
		root = "/api/" + s.Resource.Version
	}
	if s.Namespace != "" {
		root += "/namespaces/" + s.Namespace
	}
	return root + "/" + s.Resource.Resource + "/" + s.Name
}

// curl is a line for curl. No credential stands in it: files are named, and where
// the kubeconfig holds them itself a proxy of kubectl lends them.
func (a *app) curl(path string) string {
	config := a.session.target.Config
	if config == nil || config.CertFile == "" || config.KeyFile == "" {
		return "(kubectl proxy --port 8001 & sleep 1; curl -s " + page.Quote("http://127.0.0.1:8001"+path) + "; kill $!)"
	}
	line := "curl -s"
	if config.CAFile != "" {
		line += " --cacert " + page.Quote(config.CAFile)
	}
	line += " --cert " + page.Quote(config.CertFile) + " --key " + page.Quote(config.KeyFile)
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return line + " " + page.Quote(config.Host+path)
	}
	return line + " " + page.Quote(strings.TrimSuffix(base.String(), "/")+path)
}

// etcdctl is a line for etcdctl, where the key and the endpoint are known.
func (a *app) etcdctl(s page.Subject) string {
	if s.Resource.Resource == "" {
		return ""
	}
	registrations := data.Objects[*v1alpha1.APIResourceRegistration](a.frame, data.Of("apiresourceregistrations"))
	prefix, why := stored.Prefix(s.Resource, registrations, false)
	if why != "" {
		return "" // it is not there
	}
	if prefix == "" {
		prefix = stored.Conventional(s.Resource.GroupResource())
	}
	line := "etcdctl"
	if members := data.Objects[*v1alpha1.EtcdMember](a.frame, data.Of("etcdmembers")); len(members) > 0 && members[0].Spec.Endpoint != "" {
		line += " --endpoints " + page.Quote(members[0].Spec.Endpoint)
	}
	return line + " get " + page.Quote(stored.Join(prefix, s.Namespace, s.Name))
}

// askDelete asks for the name of what is selected before it is deleted.
func (a *app) askDelete() tea.Cmd {
	s, _ := a.subject()
	a.confirmDelete(s)
	return nil
}

func (a *app) confirmDelete(s page.Subject) {
	where := ""
	if s.Namespace != "" {
		where = " in namespace " + s.Namespace
	}
	a.panel = &confirmPanel{
		typed: newTyped(""), title: "delete", want: s.Name,
		text: []string{
			fmt.Sprintf("%s %s%s will be deleted from %s, and what it owns with it.", s.Kind, s.Name, where, a.session.target.Name),
			"This can't be undone. Type its name to go on.",
		},
		run: func(a *app) tea.Cmd { return a.delete(s) },
	}
}

func (a *app) delete(s page.Subject) tea.Cmd {
	if a.options.ReadOnly { // whoever came here: not without being allowed
		return a.toast(true, readOnlyText("delete"))
	}
	session := a.session
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(session.ctx, workTime)
		defer cancel()
		if err := session.client.Delete(ctx, s.Resource, s.Namespace, s.Name, s.UID); err != nil {
			return effectMsg(page.Effect{Toast: errorText(err), Bad: true})
		}
		return effectMsg(page.Effect{Toast: s.Kind + " " + s.Name + " is deleted"})
	}
}
