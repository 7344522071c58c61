package trace

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// Verdict is how a request ended, in a sentence: "ended by filter authorization with
// 403 Forbidden after 1.18ms".
func Verdict(t *v1alpha1.RequestTrace) string {
	status := &t.Status
	answered := "with " + Code(status.Code)
	if status.Code == 0 {
		answered = "without an answer"
	}
	verb := "ended by "
	if status.TerminatedBy.Kind == v1alpha1.EndedByLayer && !status.Failed {
		verb = "answered by "
	}
	return verb + Ended(status.TerminatedBy) + " " + answered + " after " + kit.Took(status.Duration.Duration)
}

// Ended names what has ended a request: "filter authorization".
func Ended(by v1alpha1.EndedBy) string {
	switch by.Kind {
	case v1alpha1.EndedByFilter:
		return "filter " + by.Name
	case v1alpha1.EndedByLayer:
		return "layer " + by.Name
	case v1alpha1.EndedByAdmission:
		return "admission plugin " + by.Name
	case v1alpha1.EndedByBodyLimit:
		return "the limit of a request's body"
	case v1alpha1.EndedByConnection:
		return "the end of the connection"
	}
	return "something unknown"
}

// EndedShort is the name of what has ended a request, in a word.
func EndedShort(by v1alpha1.EndedBy) string {
	switch by.Kind {
	case v1alpha1.EndedByBodyLimit:
		return "body limit"
	case v1alpha1.EndedByConnection:
		return "connection"
	default:
		return by.Name
	}
}

// EndedAt is the page of what has ended a request; the zero location if it has none.
func EndedAt(by v1alpha1.EndedBy) page.Location {
	switch by.Kind {
	case v1alpha1.EndedByFilter:
		return page.At("chain", by.Name)
	case v1alpha1.EndedByLayer:
		return page.At("chain", "layer/"+by.Name)
	case v1alpha1.EndedByAdmission:
		return page.At("auth", "")
	case v1alpha1.EndedByBodyLimit, v1alpha1.EndedByConnection:
	}
	return page.Location{}
}

// Understood says how the server understood a request: "list pods in namespace default".
func Understood(info *v1alpha1.RequestInfo) string {
	if info == nil {
		return ""
	}
	if !info.IsResourceRequest {
		return info.Verb + " of a path that is no resource"
	}
	return info.Verb + " " + what(info)
}

// what names what a request for a resource is for.
func what(info *v1alpha1.RequestInfo) string {
	said := info.Resource
	if info.Subresource != "" {
		said += "/" + info.Subresource
	}
	if info.APIGroup != "" {
		said += "." + info.APIGroup
	}
	if info.Name != "" {
		said += " " + info.Name
	}
	if info.Namespace != "" {
		said += " in namespace " + info.Namespace
	}
	return said
}

// Why is the reason of the end of a request, a sentence without an end; empty where
// the verdict says it all.
func Why(t *v1alpha1.RequestTrace) string {
	by := t.Status.TerminatedBy
	switch {
	case t.Status.Panicked:
		return "a handler panicked; filter " + by.Name + " caught it and answered in its place"
	case t.Status.Upgraded:
		return "the connection was taken over for another protocol"
	}
	switch by.Kind {
	case v1alpha1.EndedByFilter:
		return whyFilter(t)
	case v1alpha1.EndedByAdmission:
		return fmt.Sprintf("admission plugin %s refused the change of %s", by.Name, asked(t))
	case v1alpha1.EndedByBodyLimit:
		return "the body of the request is larger than the server takes"
	case v1alpha1.EndedByConnection:
		return "the client, or something between, gave up the connection before there was an answer"
	case v1alpha1.EndedByLayer:
		return whyLayer(t)
	}
	return ""
}

// asked is what a request was for.
func asked(t *v1alpha1.RequestTrace) string {
	if info := t.Spec.RequestInfo; info != nil && info.IsResourceRequest {
		return what(info)
	}
	return t.Spec.Path
}

func whyFilter(t *v1alpha1.RequestTrace) string {
	name, code := t.Status.TerminatedBy.Name, t.Status.Code
	user := UserName(t)
	if user == "" {
		user = "whoever asked"
	}
	switch {
	case name == "authorization" && code == http.StatusForbidden:
		return fmt.Sprintf("%s may not %s %s", user, t.Spec.Verb, asked(t))
	case strings.Contains(name, "impersonation") && code == http.StatusForbidden:
		return fmt.Sprintf("%s may not be somebody else", user)
	case code == http.StatusUnauthorized:
		return "no authenticator knows who asked: the credentials are missing, wrong or expired"
	case code == http.StatusTooManyRequests && t.Status.PriorityLevel != "":
		return fmt.Sprintf("priority level %s had no seat and no room in its queues", t.Status.PriorityLevel)
	case code == http.StatusTooManyRequests:
		return "too many requests were under way"
	case name == "timeout":
		return "the layers had not answered when the time for it was over"
	case code == http.StatusServiceUnavailable:
		return "the server was starting or stopping, or what it needs could not be reached"
	}
	return ""
}

func whyLayer(t *v1alpha1.RequestTrace) string {
	layer, code := t.Status.TerminatedBy.Name, t.Status.Code
	to := t.Status.ProxiedTo
	switch {
	case to != nil && code >= 500 && to.Address == "":
		return fmt.Sprintf("no address was found for APIService %s", to.APIService)
	case to != nil && code >= 500:
		return fmt.Sprintf("the server of APIService %s at %s has failed or can't be reached", to.APIService, to.Address)
	case to != nil:
		return fmt.Sprintf("the server of APIService %s at %s answered", to.APIService, to.Address)
	case code == http.StatusNotFound && layer == "not-found":
		return "no layer knows the path"
	case code == http.StatusNotFound:
		return fmt.Sprintf("layer %s has no %s", layer, asked(t))
	case code == http.StatusConflict:
		return "the object is another one by now, or there is one of that name already"
	case code == http.StatusUnprocessableEntity:
		return "the object is not valid"
	case code == http.StatusGone:
		return "the resourceVersion is too old: the client has to list again"
	case t.Spec.LongRunning && code < 400:
		return "a long-running request (a watch, a proxy or the like), which has ended"
	case t.Status.Slow:
		return "that is longer than the server calls slow"
	}
	return ""
}
