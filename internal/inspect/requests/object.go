package requests

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Labels of traces. A label whose value is not known, or is none that a label can
// have, is absent.
const (
	// LabelInspect is "true" on requests for inspect.kapi.dev itself.
	LabelInspect = "kapi.dev/inspect"
	// LabelVerb is the Kubernetes verb.
	LabelVerb = "kapi.dev/verb"
	// LabelCodeClass is the class of the status code: "2xx" to "5xx", or "none".
	LabelCodeClass = "kapi.dev/code-class"
	// LabelLayer is the layer that answered.
	LabelLayer = "kapi.dev/layer"
	// LabelResource is the resource with its group ("deployments.apps", "pods").
	LabelResource = "kapi.dev/resource"
)

// inspectPath is where the API group that shows all this is served.
var inspectPath = "/apis/" + v1alpha1.SchemeGroupVersion.Group

// Object implements store.Entry.
func (t *trace) Object() store.Object {
	object := &v1alpha1.RequestTrace{ServerID: t.observer.cfg.ServerID, Spec: t.spec(), Status: t.status()}
	object.Name = t.Name()
	object.UID = types.UID(object.Name)
	object.CreationTimestamp = metav1.NewTime(t.record.Start()).Rfc3339Copy()
	object.Labels = t.labels()
	return object
}

func (t *trace) verb() string {
	if t.info.verb != "" { // upstream has none for some methods, as OPTIONS of a resource
		return t.info.verb
	}
	return strings.ToLower(t.asked.method)
}

func (t *trace) spec() v1alpha1.RequestTraceSpec {
	spec := v1alpha1.RequestTraceSpec{
		AuditID: t.auditID, Verb: t.verb(), Method: t.asked.method, Path: t.asked.path, Query: t.asked.query,
		UserAgent: t.asked.userAgent, SourceIP: t.asked.sourceIP, Protocol: t.asked.protocol, LongRunning: t.long,
	}
	if i := t.info; i.known {
		spec.RequestInfo = &v1alpha1.RequestInfo{
			IsResourceRequest: i.resourceRequest, Verb: i.verb, APIPrefix: i.prefix, APIGroup: i.group,
			APIVersion: i.version, Namespace: i.namespace, Resource: i.resource, Subresource: i.subresource, Name: i.name,
		}
	}
	if who := t.user; who.name != "" || len(who.groups) > 0 {
		spec.User = &v1alpha1.RequestUser{
			Name: who.name, Groups: slices.Clone(who.groups), ImpersonatedBy: who.impersonatedBy,
		}
	}
	return spec
}

func (t *trace) status() v1alpha1.RequestTraceStatus {
	record := t.record
	status := v1alpha1.RequestTraceStatus{
		ReceivedAt: metav1.NewMicroTime(record.Start()), Duration: metav1.Duration{Duration: record.Duration()},
		Code: int32(record.Status()), TerminatedBy: t.endedBy(),
		FlowSchema: t.flowSchema, PriorityLevel: t.priorityLevel,
		Filters: t.spans(), BytesRead: record.BytesRead(), BytesWritten: record.BytesWritten(),
		Slow: t.slow, Failed: t.failed(), Panicked: record.Panicked() && t.filter >= 0, Upgraded: record.Upgraded(),
	}
	if t.answeredBy != nil {
		status.AnsweredBy = t.answeredBy.Name
	}
	for i, hop := range t.entered() {
		status.Hops = append(status.Hops, v1alpha1.LayerHop{
			Layer: hop.layer.Name, At: metav1.Duration{Duration: hop.at}, PassedOn: i+1 < t.hopped,
		})
	}
	if t.apiService != "" {
		status.ProxiedTo = &v1alpha1.ProxiedTo{APIService: t.apiService, Address: t.address}
	}
	return status
}

// endedBy names what ended the request.
func (t *trace) endedBy() v1alpha1.EndedBy {
	code := t.record.Status()
	limit := t.observer.cfg.MaxRequestBodyBytes
	switch {
	case t.filter >= 0:
		return v1alpha1.EndedBy{Kind: v1alpha1.EndedByFilter, Name: t.observer.chain.Load().name(t.filter)}
	case t.record.Panicked():
		return v1alpha1.EndedBy{Kind: v1alpha1.EndedByConnection, Name: t.innermost()}
	case t.rejectedBy != "" && code >= http.StatusBadRequest:
		return v1alpha1.EndedBy{Kind: v1alpha1.EndedByAdmission, Name: t.rejectedBy}
	case limit > 0 && code == http.StatusRequestEntityTooLarge && t.record.BytesRead() > limit:
		return v1alpha1.EndedBy{Kind: v1alpha1.EndedByBodyLimit, Name: t.innermost()}
	default:
		return v1alpha1.EndedBy{Kind: v1alpha1.EndedByLayer, Name: t.innermost()}
	}
}

// spans are the filters that the request came through.
func (t *trace) spans() []v1alpha1.FilterSpan {
	observed := t.observer.chain.Load()
	if observed == nil {
		return nil
	}
	spans := make([]v1alpha1.FilterSpan, 0, len(observed.names))
	for i, name := range observed.names {
		if span := t.record.Span(i); span.Entered {
			spans = append(spans, v1alpha1.FilterSpan{
				Name: name, At: metav1.Duration{Duration: span.At},
				In: metav1.Duration{Duration: span.In}, Back: metav1.Duration{Duration: span.Back},
			})
		}
	}
	return spans
}

func (t *trace) labels() map[string]string {
	labels := map[string]string{
		LabelVerb: t.verb(), LabelCodeClass: codeClass(t.record.Status()), LabelResource: t.info.resource,
	}
	if t.info.resource != "" && t.info.group != "" {
		labels[LabelResource] += "." + t.info.group
	}
	if t.answeredBy != nil {
		labels[LabelLayer] = t.answeredBy.Name
	}
	if t.forInspect() {
		labels[LabelInspect] = "true"
	}
	for key, value := range labels {
		if value == "" || len(validation.IsValidLabelValue(value)) > 0 {
			delete(labels, key)
		}
	}
	return labels
}

func (t *trace) forInspect() bool {
	rest, ok := strings.CutPrefix(t.asked.path, inspectPath)
	return ok && (rest == "" || rest[0] == '/')
}

func codeClass(code int) string {
	if code == 0 {
		return "none"
	}
	return strconv.Itoa(code/100) + "xx"
}
