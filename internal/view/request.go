package view

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
)

// Request prints the way of one request: who asked for what, how it ended, and a
// waterfall of the filters and layers that it came through, outermost first. now is
// what its age counts up to, and its location the time zone. The error is the writer's.
func Request(w io.Writer, s text.Screen, trace *v1alpha1.RequestTrace, now time.Time) error {
	page := text.NewPage(w, s)
	spec, status := trace.Spec, trace.Status
	page.Text(0, text.Heading, strings.ToUpper(spec.Verb)+" "+pathOf(spec))
	page.Text(0, codeTone(status.Code), codeText(status.Code)+" after "+kinds.Took(status.Duration))
	page.Blank()
	page.Pairs(requestFacts(trace, now)...)
	page.Blank()
	if len(status.Filters) == 0 && len(status.Hops) == 0 {
		page.Text(0, text.Dim, "Nothing is known of its way through filters and layers.")
		return page.Close()
	}
	way := newJourney(trace)
	page.Pairs(way.summary()...)
	page.Blank()
	page.Waterfall(way.waterfall())
	return page.Close()
}

// codeText writes a status code with its name; 0 is no answer.
func codeText(code int32) string {
	if code == 0 {
		return "no answer"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(int(code))))
}

func codeTone(code int32) text.Tone {
	switch {
	case code == 0 || code >= 500:
		return text.Bad
	case code >= 400:
		return text.Warning
	default:
		return text.Good
	}
}

func pathOf(spec v1alpha1.RequestTraceSpec) string {
	if spec.Query == "" {
		return spec.Path
	}
	return spec.Path + "?" + spec.Query
}

func requestFacts(trace *v1alpha1.RequestTrace, now time.Time) []text.Pair {
	spec, status := trace.Spec, trace.Status
	pairs := []text.Pair{
		{Key: "Ended by", Value: endedBy(status), Tone: codeTone(status.Code)},
		{Key: "User", Value: userText(spec.User)},
		{Key: "Groups", Value: groupsText(spec.User)},
		{Key: "Understood as", Value: infoText(spec.RequestInfo)},
		{Key: "Client", Value: spec.UserAgent},
		{Key: "From", Value: join(" over ", spec.SourceIP, spec.Protocol)},
		{Key: "Received", Value: moment(status.ReceivedAt.Time, now)},
		{Key: "Audit ID", Value: spec.AuditID},
		{Key: "Flow schema", Value: join(", priority level ", status.FlowSchema, status.PriorityLevel)},
		{Key: "Bytes", Value: kinds.Size(status.BytesRead) + " read, " + kinds.Size(status.BytesWritten) + " written"},
		{Key: "Marks", Value: marks(trace)},
	}
	if to := status.ProxiedTo; to != nil {
		pairs = append(pairs, text.Pair{Key: "Proxied to", Value: proxiedText(to)})
	}
	return pairs
}

// endedBy says what ended a request: "filter authorization, which answered 403".
func endedBy(status v1alpha1.RequestTraceStatus) string {
	return endText(status.TerminatedBy, status.Code, status.Panicked)
}

func endText(by v1alpha1.EndedBy, code int32, panicked bool) string {
	answered := ""
	if code != 0 {
		answered = fmt.Sprintf(", with %d", code)
	}
	switch by.Kind {
	case v1alpha1.EndedByFilter:
		if panicked {
			return "filter " + by.Name + ", after a handler panicked" + answered
		}
		return "filter " + by.Name + answered
	case v1alpha1.EndedByLayer:
		return "layer " + by.Name + answered
	case v1alpha1.EndedByAdmission:
		return "admission plugin " + by.Name + ", which refused the change" + answered
	case v1alpha1.EndedByBodyLimit:
		return "the limit of a request's body" + answered
	case v1alpha1.EndedByConnection:
		return "the connection, which was given up before an answer"
	default:
		return "something unknown" + answered
	}
}

func userText(user *v1alpha1.RequestUser) string {
	switch {
	case user == nil:
		return "unknown"
	case user.ImpersonatedBy != "":
		return user.Name + ", impersonated by " + user.ImpersonatedBy
	default:
		return user.Name
	}
}

func groupsText(user *v1alpha1.RequestUser) string {
	if user == nil {
		return ""
	}
	return strings.Join(user.Groups, ", ")
}

// infoText says how a server understands a request: "list secrets of v1 in namespace default".
func infoText(info *v1alpha1.RequestInfo) string {
	if info == nil {
		return ""
	}
	if !info.IsResourceRequest {
		return info.Verb + " of a path that is no resource"
	}
	resource := info.Resource
	if info.Subresource != "" {
		resource += "/" + info.Subresource
	}
	said := info.Verb + " " + resource + " of " + strings.TrimPrefix(info.APIGroup+"/"+info.APIVersion, "/")
	if info.Name != "" {
		said += ", named " + info.Name
	}
	if info.Namespace != "" {
		said += ", in namespace " + info.Namespace
	}
	return said
}

func proxiedText(to *v1alpha1.ProxiedTo) string {
	if to.Address == "" {
		return "an address that was not found, for APIService " + to.APIService
	}
	return to.Address + ", for APIService " + to.APIService
}

func marks(trace *v1alpha1.RequestTrace) string {
	var set []string
	for _, mark := range []struct {
		on   bool
		name string
	}{
		{trace.Spec.LongRunning, "long-running"},
		{trace.Status.Slow, "slow"},
		{trace.Status.Failed, "failed"},
		{trace.Status.Panicked, "panicked"},
		{trace.Status.Upgraded, "upgraded"},
	} {
		if mark.on {
			set = append(set, mark.name)
		}
	}
	return strings.Join(set, ", ")
}

// join joins two texts if there are both.
func join(between, a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + between + b
}

// took writes a duration as every view does.
func took(d time.Duration) string { return kinds.Took(metav1.Duration{Duration: d}) }
