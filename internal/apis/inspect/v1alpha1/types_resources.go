package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// APIResourceRegistration is one resource that a layer has registered in one
// version, or would have registered if it were not turned off.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type APIResourceRegistration struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is what was registered.
	Spec APIResourceRegistrationSpec `json:"spec"`
}

// APIResourceRegistrationSpec is what was registered.
type APIResourceRegistrationSpec struct {
	// group is the API group; empty for core.
	Group string `json:"group"`
	// version is the version in the group.
	Version string `json:"version"`
	// resource is the plural name.
	Resource string `json:"resource"`
	// kind is the kind of its objects.
	Kind string `json:"kind,omitempty"`
	// namespaced says whether its objects are in namespaces.
	Namespaced bool `json:"namespaced"`
	// verbs are what can be done with it.
	// +listType=atomic
	Verbs []string `json:"verbs,omitempty"`
	// subresources are the names after the slash ("status", "scale").
	// +listType=atomic
	Subresources []string `json:"subresources,omitempty"`
	// shortNames are what kubectl takes in place of the plural.
	// +listType=atomic
	ShortNames []string `json:"shortNames,omitempty"`
	// categories are what kubectl takes for several resources ("all").
	// +listType=atomic
	Categories []string `json:"categories,omitempty"`
	// layer is the layer that serves it.
	Layer string `json:"layer"`
	// apiService is the aggregated server that it is proxied to, if it is.
	APIService string `json:"apiService,omitempty"`
	// storageVersion is the group and version that its objects are written as ("apps/v1").
	StorageVersion string `json:"storageVersion,omitempty"`
	// etcdPrefix is where its objects are in etcd ("/registry/deployments").
	EtcdPrefix string `json:"etcdPrefix,omitempty"`
	// deprecatedIn is the Kubernetes version that began to warn ("1.29").
	DeprecatedIn string `json:"deprecatedIn,omitempty"`
	// removedIn is the Kubernetes version that no longer serves it.
	RemovedIn string `json:"removedIn,omitempty"`
	// served says whether the server answers for it.
	Served bool `json:"served"`
	// disabledBy says why it is not served, and what would turn it on.
	DisabledBy string `json:"disabledBy,omitempty"`
}

// APIResourceRegistrationList is a list of registrations.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type APIResourceRegistrationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the registrations.
	Items []APIResourceRegistration `json:"items"`
}

// ResourceStorage is what is stored and cached of one resource.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ResourceStorage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is where the resource is stored.
	Spec ResourceStorageSpec `json:"spec"`
	// status is what is there.
	Status ResourceStorageStatus `json:"status"`
}

// ResourceStorageSpec is where a resource is stored.
type ResourceStorageSpec struct {
	// group is the API group; empty for core.
	Group string `json:"group"`
	// resource is the plural name.
	Resource string `json:"resource"`
	// etcdPrefix is where its objects are in etcd.
	EtcdPrefix string `json:"etcdPrefix"`
	// encryptedBy is the provider that new objects are encrypted with; empty means stored as they are.
	EncryptedBy string `json:"encryptedBy,omitempty"`
}

// ResourceStorageStatus is what is stored and cached.
type ResourceStorageStatus struct {
	// objects is how many are stored; -1 if it is not known yet.
	Objects int64 `json:"objects"`
	// bytes is their size as stored, in bytes; -1 if it is not known yet.
	Bytes int64 `json:"bytes"`
	// bytesPerHour is how fast the size grows, in bytes, over the time that is remembered.
	BytesPerHour int64 `json:"bytesPerHour"`
	// watchCache is the cache in front of the store, if there is one.
	WatchCache *WatchCache `json:"watchCache,omitempty"`
	// watchers is how many watches of the resource are open.
	Watchers int64 `json:"watchers"`
	// listRequests is how many lists were answered since the server started.
	ListRequests int64 `json:"listRequests"`
	// etcdLatency is the time that requests to etcd took.
	EtcdLatency Latency `json:"etcdLatency"`
}

// WatchCache is the state of a watch cache.
type WatchCache struct {
	// ready says whether the cache answers.
	Ready bool `json:"ready"`
	// capacity is how many events it remembers at most.
	Capacity int64 `json:"capacity"`
	// resourceVersion is how far it has come.
	ResourceVersion int64 `json:"resourceVersion,omitempty"`
	// resourceVersionLag is how many revisions of the whole store it has not seen yet.
	// Revisions of other resources count, so some lag is usual.
	ResourceVersionLag int64 `json:"resourceVersionLag"`
}

// ResourceStorageList is a list of stored resources.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ResourceStorageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the stored resources.
	Items []ResourceStorage `json:"items"`
}

// ObservedObject names an object whose conditions are remembered.
type ObservedObject struct {
	// kind is CustomResourceDefinition or APIService.
	Kind string `json:"kind"`
	// name is the object's name.
	Name string `json:"name"`
	// uid tells an object from one of the same name before it.
	UID string `json:"uid,omitempty"`
}

// ConditionTransition is one change of one condition of a CustomResourceDefinition,
// an APIService or a Namespace. Conditions of a Namespace that come and go in their
// good state, as they do in each deletion, are left out.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ConditionTransition struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is what changed.
	Spec ConditionTransitionSpec `json:"spec"`
}

// ConditionTransitionSpec is a change of a condition.
type ConditionTransitionSpec struct {
	// object is what the condition belongs to.
	Object ObservedObject `json:"object"`
	// type is the condition's type ("Established", "Available").
	Type string `json:"type"`
	// from is the status before; empty when the condition is new.
	From string `json:"from,omitempty"`
	// to is the status after; empty when the condition or the object is gone.
	To string `json:"to,omitempty"`
	// reason is the condition's reason after the change.
	Reason string `json:"reason,omitempty"`
	// message is the condition's message after the change.
	Message string `json:"message,omitempty"`
	// at is when the change was seen.
	At metav1.MicroTime `json:"at"`
	// heldFor is how long the status before had lasted.
	HeldFor *metav1.Duration `json:"heldFor,omitempty"`
	// timeToEstablished is the time from the creation of a definition until it was
	// established, on that transition.
	TimeToEstablished *metav1.Duration `json:"timeToEstablished,omitempty"`
	// timeToServed is the time from the creation of a definition until its
	// resource was in discovery, on the transition to established once it is known.
	TimeToServed *metav1.Duration `json:"timeToServed,omitempty"`
}

// ConditionTransitionList is a list of transitions.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ConditionTransitionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the transitions, oldest first.
	Items []ConditionTransition `json:"items"`
}

// APIServiceProbe shows why an APIService is available or not: the way to its
// server, tried step by step.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type APIServiceProbe struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is what is probed.
	Spec APIServiceProbeSpec `json:"spec"`
	// status is what was found.
	Status APIServiceProbeStatus `json:"status"`
}

// APIServiceProbeSpec is what is probed.
type APIServiceProbeSpec struct {
	// group and version are served by the APIService.
	Group string `json:"group"`
	// version is served by the APIService.
	Version string `json:"version"`
	// service is the service of an aggregated server ("namespace/name:port"); empty
	// for a group version that a layer of this server serves.
	Service string `json:"service,omitempty"`
}

// ProbeStepName is a step on the way to an aggregated server.
type ProbeStepName string

// The steps of a probe, in order. A step is not tried when one before it has failed.
const (
	// ProbeService looks for the Service and its port.
	ProbeService ProbeStepName = "service"
	// ProbeEndpoint resolves the address.
	ProbeEndpoint ProbeStepName = "endpoint"
	// ProbeDial opens a connection.
	ProbeDial ProbeStepName = "dial"
	// ProbeTLS checks the certificate.
	ProbeTLS ProbeStepName = "tls"
	// ProbeStatus asks for the group version.
	ProbeStatus ProbeStepName = "status"
)

// ProbeStep is the outcome of one step.
type ProbeStep struct {
	// name is the step: service, endpoint, dial, tls or status.
	Name ProbeStepName `json:"name"`
	// ok says whether it succeeded.
	OK bool `json:"ok"`
	// detail is what was found: an address, a certificate's names and end, a status.
	Detail string `json:"detail,omitempty"`
	// error is why it failed.
	Error string `json:"error,omitempty"`
	// duration is how long it took.
	Duration metav1.Duration `json:"duration"`
}

// Probe is one try.
type Probe struct {
	// at is when it began.
	At metav1.MicroTime `json:"at"`
	// ok says whether all steps succeeded.
	OK bool `json:"ok"`
	// steps are the steps that were tried, in order.
	// +listType=atomic
	Steps []ProbeStep `json:"steps"`
}

// APIServiceProbeStatus is what was found.
type APIServiceProbeStatus struct {
	// available is the Available condition of the APIService: True, False or Unknown.
	Available string `json:"available"`
	// failingStep is the step at which the last probe failed; empty if it did not.
	FailingStep ProbeStepName `json:"failingStep,omitempty"`
	// error is that step's error.
	Error string `json:"error,omitempty"`
	// probes are the last 20, newest first.
	// +listType=atomic
	Probes []Probe `json:"probes,omitempty"`
	// unavailableAnswers is how many requests of clients were answered 503 in its place.
	UnavailableAnswers int64 `json:"unavailableAnswers"`
	// conditions are those of the APIService, and Healthy for the last probe.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// APIServiceProbeList is a list of probed APIServices.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type APIServiceProbeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the probed APIServices.
	Items []APIServiceProbe `json:"items"`
}

// DiscoveryState is how far discovery and OpenAPI know one group version.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type DiscoveryState struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is the group version.
	Spec DiscoveryStateSpec `json:"spec"`
	// status is what is known of it.
	Status DiscoveryStateStatus `json:"status"`
}

// DiscoveryStateSpec is the group version.
type DiscoveryStateSpec struct {
	// group is the API group; empty for core.
	Group string `json:"group"`
	// version is the version in the group.
	Version string `json:"version"`
	// source is what it comes from: "local", or the service of an aggregated server.
	Source string `json:"source"`
}

// DiscoveryFreshness says whether aggregated discovery has what the server has.
type DiscoveryFreshness string

// The values of freshness.
const (
	// DiscoveryCurrent has the latest.
	DiscoveryCurrent DiscoveryFreshness = "Current"
	// DiscoveryStale has an older state, since the source could not be asked.
	DiscoveryStale DiscoveryFreshness = "Stale"
	// DiscoveryMissing has nothing of it.
	DiscoveryMissing DiscoveryFreshness = "Missing"
)

// DiscoveryStateStatus is what is known.
type DiscoveryStateStatus struct {
	// freshness is Current, Stale or Missing.
	Freshness DiscoveryFreshness `json:"freshness"`
	// resources is how many resources are listed.
	Resources int32 `json:"resources"`
	// lastFetch is when the freshness was last looked at.
	LastFetch *metav1.MicroTime `json:"lastFetch,omitempty"`
	// error is why it is not current.
	Error string `json:"error,omitempty"`
	// openAPIV2 says whether the merged OpenAPI v2 document has paths of the group version.
	OpenAPIV2 OpenAPIState `json:"openAPIV2"`
	// openAPIV3 is its own OpenAPI v3 document.
	OpenAPIV3 OpenAPIState `json:"openAPIV3"`
}

// OpenAPIState is the state of a document.
type OpenAPIState struct {
	// listed says whether the document has the group version.
	Listed bool `json:"listed"`
	// lastBuild is when it was last seen to change.
	LastBuild *metav1.MicroTime `json:"lastBuild,omitempty"`
	// cost is how long it took to get it then.
	Cost *metav1.Duration `json:"cost,omitempty"`
	// bytes is its size in JSON; 0 until a discovery state is read by its name.
	Bytes int64 `json:"bytes"`
	// hash names its content.
	Hash string `json:"hash,omitempty"`
	// error is why it could not be had.
	Error string `json:"error,omitempty"`
}

// DiscoveryStateList is a list of group versions.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type DiscoveryStateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the group versions.
	Items []DiscoveryState `json:"items"`
}
