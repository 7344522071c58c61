package crds

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// joins are the feeds that a detail is joined from, with the columns that are worth
// a word where a server does not fill them.
var joins = map[string][]string{
	"conditiontransitions":     {"From", "To-Established", "To-Served"},
	"resourcestorages":         {"Objects", "Size"},
	"apiresourceregistrations": {"Served"},
	"discoverystates":          {"Freshness"},
}

// order is that of joins.
var order = []string{"conditiontransitions", "resourcestorages", "apiresourceregistrations", "discoverystates"}

// detail is the page of one definition.
func detail(env page.Env, name string) page.Page {
	needs := []data.Key{data.Definitions}
	for _, resource := range order {
		needs = append(needs, data.Of(resource))
	}
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: needs,
		Gone:  "there is no CustomResourceDefinition " + name,
		Render: func(frame data.Frame) doc.Render {
			f, ok := factsOf(frame, name)
			if !ok {
				return nil
			}
			return f.whole
		},
		Subject: func(frame data.Frame) (page.Subject, bool) {
			f, ok := factsOf(frame, name)
			return subject(env, name, f.object, established(f.Conditions)), ok
		},
		Extra: map[page.ActionID]func(data.Frame) page.Effect{
			page.Requests: func(frame data.Frame) page.Effect {
				f, ok := factsOf(frame, name)
				if !ok {
					return page.Effect{}
				}
				return page.Effect{Open: requests(name, f.StorageVersion)}
			},
		},
	})
}

// facts are what is drawn of a definition.
type facts struct {
	joined.Definition
	object *apiextensionsv1.CustomResourceDefinition
	prefix string
	now    time.Time
}

// factsOf joins a definition; false if there is none of that name.
func factsOf(frame data.Frame, name string) (facts, bool) {
	object, ok := data.Find[*apiextensionsv1.CustomResourceDefinition](frame, data.Definitions, name)
	if !ok {
		return facts{}, false
	}
	// The join takes registrations as those of the group: one that is not among them
	// is not answered.
	var registrations []*v1alpha1.APIResourceRegistration
	f := facts{object: object, now: frame.Now}
	for _, r := range data.Objects[*v1alpha1.APIResourceRegistration](frame, data.Of("apiresourceregistrations")) {
		if r.Spec.Group != object.Spec.Group {
			continue
		}
		registrations = append(registrations, r)
		if r.Spec.Resource == object.Spec.Names.Plural && r.Spec.EtcdPrefix != "" {
			f.prefix = r.Spec.EtcdPrefix
		}
	}
	f.Definition = joined.JoinDefinition(joined.DefinitionParts{
		Definition:    object,
		Transitions:   data.Objects[*v1alpha1.ConditionTransition](frame, data.Of("conditiontransitions")),
		Storages:      data.Objects[*v1alpha1.ResourceStorage](frame, data.Of("resourcestorages")),
		Registrations: registrations,
		Discovery:     data.Objects[*v1alpha1.DiscoveryState](frame, data.Of("discoverystates")),
		Missing:       sheet.Missing(frame, joins, order...),
	}, frame.Now)
	return f, true
}

// head is what is wrong, why, and what to do.
func (f facts) head(paper ink.Paper) []doc.Line {
	state := f.State
	if len(f.Problems) > 0 && state.Word != "Terminating" {
		state.Why = "" // the problems say it
	}
	lines := sheet.State(paper, f.Name, state, f.now)
	problems := f.Problems
	for _, v := range f.Versions {
		if notAnswered(v) {
			reason := strings.TrimSuffix("version "+v.Name+" is not answered: "+v.NotAnswered, ": ")
			problems = append(problems[:len(problems):len(problems)], reason)
		}
	}
	if len(problems) > 0 {
		lines = sheet.Section(lines, "What is wrong")
		for _, problem := range problems {
			lines = sheet.Bullet(lines, paper, ink.T(ink.Bad, paper.Glyphs.Bad), problem)
		}
	}
	return sheet.Hint(lines, paper, f.Hint)
}

// short is for beside a list.
func (f facts) short(paper ink.Paper) []doc.Line {
	lines := f.versions(f.head(paper), paper)
	lines = sheet.Section(lines, "What it is")
	lines = f.what(lines, paper)
	return sheet.Conditions(lines, paper, f.Conditions, f.now)
}

// whole is the page.
func (f facts) whole(paper ink.Paper) []doc.Line {
	lines := f.versions(f.head(paper), paper)
	lines = f.links(lines, paper)
	lines = sheet.Section(lines, "What it is")
	lines = f.what(lines, paper)
	lines = sheet.Conditions(lines, paper, f.Conditions, f.now)
	lines = sheet.History(lines, paper, f.Transitions, f.Earlier, f.now)
	lines = f.schema(lines, paper)
	return sheet.NotShown(lines, paper, f.Missing)
}

func (f facts) what(lines []doc.Line, paper ink.Paper) []doc.Line {
	fact := func(label string, token ink.Token, value string) {
		lines = kit.Fact(lines, paper, label, ink.L(token, value))
	}
	fact("defines", ink.Text, f.defines())
	fact("objects", ink.Text, f.objects())
	token := ink.Text
	if len(f.ToMigrate) > 0 {
		token = ink.Warning
	}
	fact("stored as", token, f.stored())
	fact("conversion", ink.Text, f.Conversion)
	fact("established", ink.Text, f.established())
	fact("created", ink.Text, sheet.At(f.CreatedAt, f.now))
	fact("last change", ink.Text, sheet.At(f.LastChange, f.now))
	if f.Deletion != nil {
		text := "asked for " + sheet.At(f.Deletion.At, f.now)
		if len(f.Deletion.Finalizers) > 0 {
			text += "; waits for " + strings.Join(f.Deletion.Finalizers, ", ")
		}
		fact("deletion", kit.Tone(f.State.Severity), text)
	}
	return lines
}

func (f facts) defines() string {
	text := f.Plural + "." + f.Group + ", kind " + f.Kind
	if f.Scope == "Cluster" {
		text += ", cluster-scoped"
	} else {
		text += ", " + strings.ToLower(f.Scope)
	}
	if len(f.ShortNames) > 0 {
		text += ", short " + strings.Join(f.ShortNames, " ")
	}
	if len(f.Categories) > 0 {
		text += ", in " + strings.Join(f.Categories, " ")
	}
	return text
}

func (f facts) objects() string {
	switch {
	case f.Objects < 0:
		return "not known"
	case f.Objects == 0:
		return "none"
	}
	return strconv.FormatInt(f.Objects, 10) + ", " + kinds.Size(f.Bytes) + " as stored"
}

func (f facts) stored() string {
	if len(f.ToMigrate) == 0 {
		return f.StorageVersion
	}
	return fmt.Sprintf("%s, and maybe still %s: write the objects again, then take it out of status.storedVersions",
		f.StorageVersion, strings.Join(f.ToMigrate, ", "))
}

func (f facts) established() string {
	text := elapsed(f.TimeToEstablished)
	if text == "" {
		return ""
	}
	text = "after " + text
	if served := elapsed(f.TimeToServed); served != "" {
		text += ", in discovery after " + served
	}
	return text
}

// links are where what belongs to it can be seen.
func (f facts) links(lines []doc.Line, paper ink.Paper) []doc.Line {
	lines = sheet.Section(lines, "Go to")
	count := ""
	if f.Objects >= 0 {
		count = " (" + strconv.FormatInt(f.Objects, 10) + ")"
	}
	version := f.StorageVersion
	for _, v := range f.Versions {
		if v.Served && (version == "" || !f.serves(version)) {
			version = v.Name
		}
	}
	lines = sheet.Link(lines, paper, "objects", ink.T(ink.Value, f.Name+count), page.At("object", f.Name, "version", version))
	if f.prefix != "" {
		lines = sheet.Link(lines, paper, "stored under", ink.T(ink.Value, f.prefix),
			page.At("etcd", "", "prefix", strings.TrimSuffix(f.prefix, "/")+"/"))
	}
	lines = sheet.Link(lines, paper, "requests", ink.T(ink.Value, "for "+f.Plural), requests(f.Name, version))
	for _, v := range f.Versions {
		if v.Discovery == "" {
			continue
		}
		lines = sheet.Link(lines, paper, "APIService", ink.T(ink.Value, v.Name+"."+f.Group), page.At("apiservices", v.Name+"."+f.Group))
	}
	if c := f.object.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil && c.Webhook.ClientConfig.Service != nil {
		service := c.Webhook.ClientConfig.Service
		lines = sheet.Link(lines, paper, "webhook", ink.T(ink.Value, "Service "+service.Namespace+"/"+service.Name),
			page.At("object", "services/"+service.Name, "version", "v1", "namespace", service.Namespace))
	}
	return lines
}

// serves tells whether clients can use a version.
func (f facts) serves(version string) bool {
	for _, v := range f.Versions {
		if v.Name == version {
			return v.Served
		}
	}
	return false
}
