package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Configured says where a part of the server comes from.
type Configured struct {
	// configuredBy is the flag or configuration file that turned it on ("--client-ca-file"); "default" if none did.
	ConfiguredBy string `json:"configuredBy"`
	// source is the file or URL that it reads, without credentials.
	Source string `json:"source,omitempty"`
}

// Authenticator is one way to find out who a request is from. They are asked in
// order until one knows.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Authenticator struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is how it is configured.
	Spec AuthenticatorSpec `json:"spec"`
	// status is what it has decided.
	Status AuthenticatorStatus `json:"status"`
}

// AuthenticatorSpec is how an authenticator is configured.
type AuthenticatorSpec struct {
	// order is the place among all authenticators; the one of order 0 is asked first.
	Order int32 `json:"order"`
	// type is what it looks at: RequestHeader, ClientCertificate, TokenFile, ServiceAccount,
	// BootstrapToken, JWT, Webhook, Anonymous, or Loopback: the token by which the server talks to itself.
	Type       string `json:"type"`
	Configured `json:",inline"`
}

// AuthenticatorStatus is what an authenticator has decided since the server started.
type AuthenticatorStatus struct {
	// authenticated is how many requests it knew the user of.
	Authenticated int64 `json:"authenticated"`
	// noOpinion is how many requests held nothing for it.
	NoOpinion int64 `json:"noOpinion"`
	// errors is how many held credentials that it refused.
	Errors int64 `json:"errors"`
	// latency is the time that it took.
	Latency Latency `json:"latency"`
	// counted says what the numbers above are of, where they are not of this authenticator alone.
	Counted string `json:"counted,omitempty"`
}

// AuthenticatorList is a list of authenticators.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type AuthenticatorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the authenticators, in the order in which they are asked.
	Items []Authenticator `json:"items"`
}

// Authorizer is one way to decide whether a user may do something. They are
// asked in order until one allows or denies.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Authorizer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is how it is configured.
	Spec AuthorizerSpec `json:"spec"`
	// status is what it has decided.
	Status AuthorizerStatus `json:"status"`
}

// AuthorizerSpec is how an authorizer is configured.
type AuthorizerSpec struct {
	// order is the place among all authorizers; the one of order 0 is asked first.
	Order int32 `json:"order"`
	// type is Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny or PrivilegedGroups.
	Type       string `json:"type"`
	Configured `json:",inline"`
}

// AuthorizerStatus is what an authorizer has decided since the server started.
type AuthorizerStatus struct {
	// allowed is how many requests it allowed.
	Allowed int64 `json:"allowed"`
	// denied is how many it denied.
	Denied int64 `json:"denied"`
	// noOpinion is how many it left to the next.
	NoOpinion int64 `json:"noOpinion"`
	// errors is how many it could not decide.
	Errors int64 `json:"errors"`
	// latency is the time that it took.
	Latency Latency `json:"latency"`
}

// AuthorizerList is a list of authorizers.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type AuthorizerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the authorizers, in the order in which they are asked.
	Items []Authorizer `json:"items"`
}

// AdmissionPlugin is one admission plugin. Those that are enabled see each
// change in order: first all mutating ones, then all validating ones.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type AdmissionPlugin struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is how it is configured.
	Spec AdmissionPluginSpec `json:"spec"`
	// status is what it has decided.
	Status AdmissionPluginStatus `json:"status"`
}

// AdmissionPluginSpec is how an admission plugin is configured.
type AdmissionPluginSpec struct {
	// order is the place among all plugins; the one of order 0 is asked first.
	Order int32 `json:"order"`
	// enabled says whether the plugin runs.
	Enabled bool `json:"enabled"`
	// mutating says that it may change an object.
	Mutating bool `json:"mutating"`
	// validating says that it may refuse an object.
	Validating bool `json:"validating"`
	Configured `json:",inline"`
}

// AdmissionPluginStatus is what a plugin has decided since the server started.
type AdmissionPluginStatus struct {
	// admitted is how many calls of it let the change pass.
	Admitted int64 `json:"admitted"`
	// rejected is how many refused it.
	Rejected int64 `json:"rejected"`
	// lastRejection is when it last refused a change.
	LastRejection *metav1.MicroTime `json:"lastRejection,omitempty"`
	// latency is the time of a call.
	Latency Latency `json:"latency"`
}

// AdmissionPluginList is a list of admission plugins.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type AdmissionPluginList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the plugins, in order.
	Items []AdmissionPlugin `json:"items"`
}
