package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RequestTrace is the way of one request through the handler chain and the
// layers. It never holds a body or a token; of the headers it holds User-Agent,
// Audit-ID and the user that is impersonated, of the query the well-known
// parameters only. A client's own requests for this group are left out, unless
// they failed or a label selector names kapi.dev/inspect.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type RequestTrace struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is what was asked for.
	Spec RequestTraceSpec `json:"spec"`
	// status is what happened.
	Status RequestTraceStatus `json:"status"`
}

// RequestTraceSpec is what was asked for.
type RequestTraceSpec struct {
	// auditID is the request's ID in audit logs and in the Audit-ID header of the answer.
	AuditID string `json:"auditID,omitempty"`
	// verb is the Kubernetes verb ("list"); of a request that is not for a resource, the HTTP method in lower case.
	Verb string `json:"verb"`
	// method is the HTTP method.
	Method string `json:"method"`
	// path is the URL's path.
	Path string `json:"path"`
	// query holds the well-known parameters (limit, watch, resourceVersion and the like).
	Query string `json:"query,omitempty"`
	// requestInfo is how the server understood method and path; absent when the request did not come that far.
	RequestInfo *RequestInfo `json:"requestInfo,omitempty"`
	// user is who asked, as far as it is known.
	User *RequestUser `json:"user,omitempty"`
	// userAgent is what the client calls itself, cut at 120 characters.
	UserAgent string `json:"userAgent,omitempty"`
	// sourceIP is the address that the connection came from.
	SourceIP string `json:"sourceIP,omitempty"`
	// protocol is the version of HTTP ("HTTP/2.0").
	Protocol string `json:"protocol"`
	// longRunning says that the request is a watch, a proxy or the like, without a deadline.
	LongRunning bool `json:"longRunning,omitempty"`
}

// RequestInfo is how a server understands method and path.
type RequestInfo struct {
	// isResourceRequest tells requests for API resources from all others.
	IsResourceRequest bool `json:"isResourceRequest"`
	// verb is the Kubernetes verb, or the HTTP method in lower case.
	Verb string `json:"verb"`
	// apiPrefix is "api" or "apis".
	APIPrefix string `json:"apiPrefix,omitempty"`
	// apiGroup is the API group; empty for core.
	APIGroup string `json:"apiGroup,omitempty"`
	// apiVersion is the version in the group.
	APIVersion string `json:"apiVersion,omitempty"`
	// namespace is the namespace, if there is one.
	Namespace string `json:"namespace,omitempty"`
	// resource is the plural name.
	Resource string `json:"resource,omitempty"`
	// subresource is the part after the object's name.
	Subresource string `json:"subresource,omitempty"`
	// name is the object's name, if one is named.
	Name string `json:"name,omitempty"`
}

// RequestUser is who asked.
type RequestUser struct {
	// name is the user name that the request was authorized as.
	Name string `json:"name"`
	// groups are the user's groups.
	// +listType=atomic
	Groups []string `json:"groups,omitempty"`
	// impersonatedBy is the user who asked to be taken for the one above.
	ImpersonatedBy string `json:"impersonatedBy,omitempty"`
}

// EndedByKind is the kind of thing that ended a request.
type EndedByKind string

// What can end a request.
const (
	// EndedByFilter is a filter of the handler chain: the request reached no layer, or the filter answered in its place.
	EndedByFilter EndedByKind = "Filter"
	// EndedByAdmission is an admission plugin that refused the change.
	EndedByAdmission EndedByKind = "AdmissionPlugin"
	// EndedByBodyLimit is the limit of a request's body.
	EndedByBodyLimit EndedByKind = "BodyLimit"
	// EndedByLayer is the layer that answered.
	EndedByLayer EndedByKind = "Layer"
	// EndedByConnection is a connection that was given up before an answer.
	EndedByConnection EndedByKind = "Connection"
)

// EndedBy is what ended a request.
type EndedBy struct {
	// kind is Filter, AdmissionPlugin, BodyLimit, Layer or Connection.
	Kind EndedByKind `json:"kind"`
	// name is the name of the filter, plugin or layer.
	Name string `json:"name"`
}

// RequestTraceStatus is what happened.
type RequestTraceStatus struct {
	// receivedAt is when the request entered the handler chain.
	ReceivedAt metav1.MicroTime `json:"receivedAt"`
	// duration is the time until the chain was done with it.
	Duration metav1.Duration `json:"duration"`
	// code is the HTTP status code; 101 for an upgrade, 0 if nothing was answered.
	Code int32 `json:"code"`
	// terminatedBy is what ended the request.
	TerminatedBy EndedBy `json:"terminatedBy"`
	// answeredBy is the layer that answered; empty when a filter did.
	AnsweredBy string `json:"answeredBy,omitempty"`
	// flowSchema is the flow schema that priority and fairness put it in.
	FlowSchema string `json:"flowSchema,omitempty"`
	// priorityLevel is the priority level that goes with it.
	PriorityLevel string `json:"priorityLevel,omitempty"`
	// filters are the filters that it came through, outermost first.
	// +listType=atomic
	Filters []FilterSpan `json:"filters,omitempty"`
	// hops are the layers that it came through, outermost first.
	// +listType=atomic
	Hops []LayerHop `json:"hops,omitempty"`
	// proxiedTo is the aggregated server that it was sent on to.
	ProxiedTo *ProxiedTo `json:"proxiedTo,omitempty"`
	// bytesRead is how much of the body was read, in bytes.
	BytesRead int64 `json:"bytesRead"`
	// bytesWritten is the size of the answer's body, in bytes.
	BytesWritten int64 `json:"bytesWritten"`
	// slow says that it took longer than the server's threshold for slow requests.
	Slow bool `json:"slow,omitempty"`
	// failed says that the code is 500 or more, or nothing was answered.
	Failed bool `json:"failed,omitempty"`
	// panicked says that a handler panicked, and that the answer is that of the filter that caught it.
	Panicked bool `json:"panicked,omitempty"`
	// upgraded says that the connection was taken over for another protocol.
	Upgraded bool `json:"upgraded,omitempty"`
}

// FilterSpan is the time that a request spent in one filter's own work.
type FilterSpan struct {
	// name is the filter's.
	Name string `json:"name"`
	// at is when the request entered it, counted from receivedAt.
	At metav1.Duration `json:"at"`
	// in is the filter's own work before it handed the request on.
	In metav1.Duration `json:"in"`
	// back is its own work after the answer.
	Back metav1.Duration `json:"back"`
}

// LayerHop is the entry of a request into a layer.
type LayerHop struct {
	// layer is the layer's name.
	Layer string `json:"layer"`
	// at is when the request entered it, counted from receivedAt.
	At metav1.Duration `json:"at"`
	// passedOn says that the layer passed it on to its delegate.
	PassedOn bool `json:"passedOn,omitempty"`
}

// ProxiedTo is an aggregated server.
type ProxiedTo struct {
	// apiService is the APIService that it answers for.
	APIService string `json:"apiService"`
	// address is the host and port that the request was sent to, if that was found.
	Address string `json:"address,omitempty"`
}

// RequestTraceList is a list of traces.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type RequestTraceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the traces, oldest first.
	Items []RequestTrace `json:"items"`
}

// FlowState is one priority level of priority and fairness, as it is now.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type FlowState struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is how the level is configured.
	Spec FlowStateSpec `json:"spec"`
	// status is what it holds now.
	Status FlowStateStatus `json:"status"`
}

// FlowStateSpec is how a priority level is configured.
type FlowStateSpec struct {
	// type is Limited or Exempt.
	Type string `json:"type"`
	// queues is how many queues it has; 0 means that what finds no seat is refused at once.
	Queues int32 `json:"queues,omitempty"`
	// flowSchemas are the flow schemas that lead to it.
	// +listType=atomic
	FlowSchemas []string `json:"flowSchemas,omitempty"`
}

// FlowStateStatus is what a priority level holds now.
type FlowStateStatus struct {
	// seatsInUse is how many seats running requests take.
	SeatsInUse int64 `json:"seatsInUse"`
	// seatsNominal is the level's configured share of all seats; 0 for Exempt, which has no limit.
	SeatsNominal int64 `json:"seatsNominal"`
	// seatsLimit is how many it may take now, with what it has borrowed or lent.
	SeatsLimit int64 `json:"seatsLimit"`
	// executing is how many requests run.
	Executing int64 `json:"executing"`
	// queued is how many wait.
	Queued int64 `json:"queued"`
	// dispatched is how many were let run since the server started.
	Dispatched int64 `json:"dispatched"`
	// rejected is how many were refused since the server started.
	Rejected int64 `json:"rejected"`
	// flows are the same by flow schema.
	// +listType=map
	// +listMapKey=flowSchema
	Flows []Flow `json:"flows,omitempty"`
	// users are those with the most requests among the traces that are kept.
	// +listType=map
	// +listMapKey=name
	Users []FlowUser `json:"users,omitempty"`
}

// Flow is what came through one flow schema.
type Flow struct {
	// flowSchema is the flow schema's name.
	FlowSchema string `json:"flowSchema"`
	// executing is how many of its requests run.
	Executing int64 `json:"executing"`
	// queued is how many wait.
	Queued int64 `json:"queued"`
	// dispatched is how many were let run.
	Dispatched int64 `json:"dispatched"`
	// rejected is how many were refused.
	Rejected int64 `json:"rejected"`
}

// FlowUser is a user of a priority level.
type FlowUser struct {
	// name is the user name.
	Name string `json:"name"`
	// requests is how many of the kept traces are theirs.
	Requests int64 `json:"requests"`
}

// FlowStateList is a list of priority levels.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type FlowStateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the priority levels.
	Items []FlowState `json:"items"`
}

// RouteExplanation is a dry run of one request: create one with the spec filled
// in, and the answer has the status. Nothing is stored and nothing is sent.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type RouteExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID,omitempty"`
	// spec is the request that is to be explained.
	Spec RouteExplanationSpec `json:"spec"`
	// status is what would happen to it.
	Status RouteExplanationStatus `json:"status,omitempty"`
}

// RouteExplanationSpec is the request that is to be explained.
type RouteExplanationSpec struct {
	// verb is an HTTP method (GET), or a Kubernetes verb that stands for one (get, list, watch, create, update, patch, delete, deletecollection).
	Verb string `json:"verb"`
	// path is the URL's path, with a query if it matters ("/api/v1/pods?watch=1").
	Path string `json:"path"`
	// user is who would ask; empty means whoever asks for the explanation.
	User string `json:"user,omitempty"`
	// groups are the groups of user. system:authenticated is added unless the user is system:anonymous.
	// +listType=atomic
	Groups []string `json:"groups,omitempty"`
}

// RouteExplanationStatus is what would happen.
type RouteExplanationStatus struct {
	// requestInfo is how the server would understand verb and path.
	RequestInfo *RequestInfo `json:"requestInfo,omitempty"`
	// user is who the request would be authorized as.
	User *RequestUser `json:"user,omitempty"`
	// filters are those that the request would come through, outermost first.
	// +listType=atomic
	Filters []ExplainedFilter `json:"filters,omitempty"`
	// authorization is what the authorizers would decide.
	Authorization *ExplainedAuthorization `json:"authorization,omitempty"`
	// flowSchema is the flow schema that would take it.
	FlowSchema string `json:"flowSchema,omitempty"`
	// priorityLevel is the priority level that goes with it.
	PriorityLevel string `json:"priorityLevel,omitempty"`
	// layer is the layer that would answer.
	Layer string `json:"layer,omitempty"`
	// hops are the layers that it would come through, outermost first.
	// +listType=atomic
	Hops []string `json:"hops,omitempty"`
	// apiService is the APIService of its group version.
	APIService string `json:"apiService,omitempty"`
	// service is where an aggregated server would be found ("namespace/name:port").
	Service string `json:"service,omitempty"`
	// admissionPlugins are those that would look at the change, in order.
	// +listType=atomic
	AdmissionPlugins []string `json:"admissionPlugins,omitempty"`
	// storageKey is the key in etcd that the object, or the collection, is under.
	StorageKey string `json:"storageKey,omitempty"`
	// outcome says in a sentence what would happen.
	Outcome string `json:"outcome,omitempty"`
	// terminatedBy is what would end the request: a filter, or the layer that answers.
	TerminatedBy *EndedBy `json:"terminatedBy,omitempty"`
	// code is the HTTP status code, where it is certain without running the request (401, 403, 404 of an unknown path); else 0.
	Code int32 `json:"code,omitempty"`
}

// ExplainedFilter is what one filter would do.
type ExplainedFilter struct {
	// name is the filter's.
	Name string `json:"name"`
	// ends says that it would end the request.
	Ends bool `json:"ends,omitempty"`
	// note says what it would add or decide, where that is not always the same.
	Note string `json:"note,omitempty"`
}

// ExplainedAuthorization is what the authorizers would decide.
type ExplainedAuthorization struct {
	// allowed says whether the request would be allowed.
	Allowed bool `json:"allowed"`
	// authorizer is the one that would decide; empty when none has an opinion, which is a denial.
	Authorizer string `json:"authorizer,omitempty"`
	// reason is its reason: for RBAC the binding and the role.
	Reason string `json:"reason,omitempty"`
	// error is why one of them could not decide.
	Error string `json:"error,omitempty"`
}
