package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ServerLayer is one server of the server chain. Requests enter the layer of
// order 0; what a layer does not know it passes on to its delegate.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ServerLayer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is how the layer was built.
	Spec ServerLayerSpec `json:"spec"`
	// status is what it has done.
	Status ServerLayerStatus `json:"status"`
}

// ServerLayerSpec is how a layer was built.
type ServerLayerSpec struct {
	// order is the place in the chain; 0 is the outermost layer.
	Order int32 `json:"order"`
	// delegate is the layer that unknown requests are passed on to; empty at the end of the chain.
	Delegate string `json:"delegate,omitempty"`
	// groupVersions are the API groups and versions that the layer serves itself ("v1", "apps/v1").
	// +listType=atomic
	GroupVersions []string `json:"groupVersions,omitempty"`
	// listedPaths are the paths that the layer lists at /.
	// +listType=atomic
	ListedPaths []string `json:"listedPaths,omitempty"`
	// webServices are the root paths of its REST services.
	// +listType=atomic
	WebServices []string `json:"webServices,omitempty"`
}

// ServerLayerStatus is what a layer has done since the server started. At all
// times requestsReceived is the sum of those answered, passed on, abandoned and in flight.
type ServerLayerStatus struct {
	// requestsReceived is how many requests have entered the layer.
	RequestsReceived int64 `json:"requestsReceived"`
	// requestsAnswered is how many of them the layer has answered itself.
	RequestsAnswered int64 `json:"requestsAnswered"`
	// requestsPassedOn is how many it has passed on to its delegate.
	RequestsPassedOn int64 `json:"requestsPassedOn"`
	// requestsAbandoned is how many were in the layer when a filter answered for it
	// (a timeout), or the connection was given up.
	RequestsAbandoned int64 `json:"requestsAbandoned"`
	// requestsProxied is how many of the answered ones came from an aggregated server.
	RequestsProxied int64 `json:"requestsProxied,omitempty"`
	// requestsInFlight is how many are in the layer, or further in, now.
	RequestsInFlight int64 `json:"requestsInFlight"`
	// answers counts what the layer has answered by status code.
	// +listType=atomic
	Answers []StatusCount `json:"answers,omitempty"`
	// lastError is the last answer with a status of 500 or more.
	LastError *LayerError `json:"lastError,omitempty"`
	// conditions: Healthy is false while a hook of the layer has failed or hangs.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// LayerError is an answer that tells of a fault of the server.
type LayerError struct {
	// at is when it was given.
	At metav1.MicroTime `json:"at"`
	// code is its HTTP status code.
	Code int32 `json:"code"`
	// auditID names the request; its trace, if it is still kept, says more.
	AuditID string `json:"auditID,omitempty"`
}

// ServerLayerList is a list of layers.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ServerLayerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the layers, outermost first.
	Items []ServerLayer `json:"items"`
}

// Filter is one filter of the handler chain, which every request goes through
// before it reaches the first layer.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Filter struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is how the chain was built.
	Spec FilterSpec `json:"spec"`
	// status is what the filter has done.
	Status FilterStatus `json:"status"`
}

// FilterSpec is how the chain was built.
type FilterSpec struct {
	// order is the place in the chain; 0 is the outermost filter.
	Order int32 `json:"order"`
	// doc says what the filter does, and how it can end a request.
	Doc string `json:"doc"`
	// enabled says whether the filter is part of the chain.
	Enabled bool `json:"enabled"`
	// reason says why a filter is not enabled, and what would enable it.
	Reason string `json:"reason,omitempty"`
}

// FilterStatus is what a filter has done since the server started. At rest
// requests is the sum of passedOn, abandoned and all terminated.
type FilterStatus struct {
	// requests is how many requests have entered the filter.
	Requests int64 `json:"requests"`
	// inFlight is how many are in the filter, or further in, now.
	InFlight int64 `json:"inFlight"`
	// passedOn is how many were answered further in.
	PassedOn int64 `json:"passedOn"`
	// abandoned is how many were still here or further in when a filter further
	// out answered for them (a timeout), or the connection was given up.
	Abandoned int64 `json:"abandoned"`
	// terminated counts the requests that the filter has ended itself, by status code.
	// +listType=atomic
	Terminated []StatusCount `json:"terminated,omitempty"`
	// in is the filter's own work on the way in, before it hands the request on.
	In Latency `json:"in"`
	// back is the filter's own work on the way back, after the answer.
	Back Latency `json:"back"`
}

// FilterList is a list of filters.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type FilterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the filters, outermost first.
	Items []Filter `json:"items"`
}
