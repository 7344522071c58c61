package apiservices

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

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
	"apiserviceprobes":         {"Failing-Step", "503s", "Last-Probe"},
	"conditiontransitions":     {"From"},
	"apiresourceregistrations": {"Served"},
	"discoverystates":          {"Freshness"},
}

// order is that of joins.
var order = []string{"apiserviceprobes", "conditiontransitions", "apiresourceregistrations", "discoverystates"}

// detail is the page of one APIService.
func detail(env page.Env, name string) page.Page {
	needs := []data.Key{data.APIServices}
	for _, resource := range order {
		needs = append(needs, data.Of(resource))
	}
	needs = append(needs, data.Of("requesttraces"), data.Terminating)
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: needs,
		Gone:  "there is no APIService " + name,
		Render: func(frame data.Frame) doc.Render {
			facts, ok := factsOf(frame, name)
			if !ok {
				return nil
			}
			return facts.whole
		},
		Subject: func(frame data.Frame) (page.Subject, bool) {
			object, ok := data.Find[*apiregistrationv1.APIService](frame, data.APIServices, name)
			return subject(env, name, object), ok
		},
		Extra: map[page.ActionID]func(data.Frame) page.Effect{
			page.Requests: func(frame data.Frame) page.Effect {
				object, ok := data.Find[*apiregistrationv1.APIService](frame, data.APIServices, name)
				if !ok {
					return page.Effect{}
				}
				return page.Effect{Open: requests(object.Spec.Group, object.Spec.Version)}
			},
		},
	})
}

// beside is what stands beside the list about one APIService: the same without what
// can be left for later.
func beside(r row, frame data.Frame) doc.Render {
	facts, ok := factsOf(frame, r.Name)
	if !ok {
		return nil
	}
	return facts.short
}

// facts are what is drawn of an APIService.
type facts struct {
	joined.APIService
	now     time.Time
	refused []*v1alpha1.RequestTrace
}

// factsOf joins an APIService; false if there is none of that name.
func factsOf(frame data.Frame, name string) (facts, bool) {
	object, ok := data.Find[*apiregistrationv1.APIService](frame, data.APIServices, name)
	if !ok {
		return facts{}, false
	}
	all := joined.JoinAPIService(joined.APIServiceParts{
		APIService:    object,
		Probes:        data.Objects[*v1alpha1.APIServiceProbe](frame, data.Of("apiserviceprobes")),
		Transitions:   data.Objects[*v1alpha1.ConditionTransition](frame, data.Of("conditiontransitions")),
		Registrations: data.Objects[*v1alpha1.APIResourceRegistration](frame, data.Of("apiresourceregistrations")),
		Discovery:     data.Objects[*v1alpha1.DiscoveryState](frame, data.Of("discoverystates")),
		Namespaces:    data.Objects[*corev1.Namespace](frame, data.Terminating),
		Missing:       sheet.Missing(frame, joins, order...),
	})
	f := facts{APIService: all, now: frame.Now}
	f.refused = refused(data.Objects[*v1alpha1.RequestTrace](frame, data.Of("requesttraces")), all)
	return f, true
}

// head is what is wrong, why, and what to do.
func (f facts) head(paper ink.Paper) []doc.Line {
	state := f.State
	if len(f.Steps) > 0 && f.FailingStep != "" {
		state.Why = "" // the way to the server says it where it happens
	}
	lines := sheet.State(paper, f.Name, state, f.now)
	lines = f.way(lines, paper)
	return sheet.Hint(lines, paper, f.Hint)
}

// short is for beside a list.
func (f facts) short(paper ink.Paper) []doc.Line {
	lines := f.clients(f.head(paper), paper)
	lines = sheet.Section(lines, "What it is")
	return f.what(lines, paper)
}

// whole is the page.
func (f facts) whole(paper ink.Paper) []doc.Line {
	lines := f.clients(f.head(paper), paper)
	lines = f.kept(lines, paper)
	lines = f.links(lines, paper)
	lines = sheet.Section(lines, "What it is")
	lines = f.what(lines, paper)
	lines = sheet.Conditions(lines, paper, f.Conditions, f.now)
	lines = sheet.History(lines, paper, f.Transitions, f.Earlier, f.now)
	return sheet.NotShown(lines, paper, f.Missing)
}

// kept are the namespaces that wait for it; each leads to the object.
func (f facts) kept(lines []doc.Line, paper ink.Paper) []doc.Line {
	if len(f.Namespaces) == 0 {
		return lines
	}
	lines = sheet.Section(lines, "Namespaces that wait for it")
	lines = sheet.Para(lines, paper, 1, ink.Bad, "Their deletion goes on when it is available, or deleted.")
	for _, name := range f.Namespaces {
		lines = sheet.Link(lines, paper, "namespace", ink.T(ink.Value, name), page.At("object", "namespaces/"+name, "version", "v1", "view", "describe"))
	}
	return lines
}

func (f facts) what(lines []doc.Line, paper ink.Paper) []doc.Line {
	fact := func(label, value string) {
		lines = kit.Fact(lines, paper, label, ink.L(ink.Text, value))
	}
	fact("answers for", strings.TrimPrefix(f.Group+"/"+f.Version, "/"))
	fact("answered by", f.answerer())
	fact("certificate", f.certificate())
	fact("priority", fmt.Sprintf("group %d, version %d", f.GroupPriority, f.VersionPriority))
	fact("created", sheet.At(f.CreatedAt, f.now))
	fact("last change", sheet.At(f.LastChange, f.now))
	return lines
}

func (f facts) answerer() string {
	if f.Service != "" {
		return "the aggregated server behind Service " + f.Service
	}
	if len(f.Resources) > 0 && f.Resources[0].Layer != "" {
		return "this server, in layer " + f.Resources[0].Layer
	}
	return "this server"
}

func (f facts) certificate() string {
	switch {
	case f.Service == "":
		return ""
	case f.InsecureSkipTLSVerify:
		return "not verified: insecureSkipTLSVerify is set"
	case f.CABundle:
		return "verified with the caBundle"
	}
	return "verified with the authorities of the server's machine, as there is no caBundle"
}

// links are where what belongs to it can be seen.
func (f facts) links(lines []doc.Line, paper ink.Paper) []doc.Line {
	lines = sheet.Section(lines, "Go to")
	if reference, _, ok := strings.Cut(f.Service, ":"); ok {
		namespace, name, _ := strings.Cut(reference, "/")
		lines = sheet.Link(lines, paper, "Service", ink.T(ink.Value, reference),
			page.At("object", "services/"+name, "version", "v1", "namespace", namespace))
		lines = sheet.Link(lines, paper, "EndpointSlices", ink.T(ink.Value, "of "+reference),
			page.At("object", "endpointslices.discovery.k8s.io", "version", "v1", "namespace", namespace,
				"filter", "-l kubernetes.io/service-name="+name))
	}
	lines = sheet.Link(lines, paper, "requests", ink.T(ink.Value, "to "+path(f.Group, f.Version)), requests(f.Group, f.Version))
	if f.Discovery != nil {
		lines = sheet.Link(lines, paper, "discovery", f.discovery(paper),
			page.At("discovery", cmp.Or(f.Group, "core")+"."+f.Version))
	}
	for _, r := range f.Resources {
		value := ink.T(ink.Value, strings.TrimSuffix(r.Name+"."+f.Group, "."))
		if !r.Served {
			value = ink.T(ink.Muted, paper.Glyphs.Off+" "+value.Text+" is off")
		}
		lines = sheet.Link(lines, paper, "resource", value,
			page.At("object", strings.TrimSuffix(r.Name+"."+f.Group, "."), "version", f.Version))
	}
	return lines
}

// discovery is how far discovery knows the group version.
func (f facts) discovery(paper ink.Paper) ink.Span {
	text := string(f.Discovery.Freshness)
	if f.State.Severity != joined.Bad && f.Discovery.Error != "" {
		text += ": " + f.Discovery.Error // of one that is unavailable it is the same error
	}
	if f.Discovery.Freshness == v1alpha1.DiscoveryCurrent {
		return kit.Mark(paper.Glyphs, joined.OK, text)
	}
	return kit.Mark(paper.Glyphs, joined.Warning, text)
}
