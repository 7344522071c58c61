package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RunState is how far something that runs once has come.
type RunState string

// The states of hooks and boot steps.
const (
	// RunPending has not begun.
	RunPending RunState = "Pending"
	// RunRunning has begun and has not ended.
	RunRunning RunState = "Running"
	// RunDone has ended well.
	RunDone RunState = "Done"
	// RunFailed has ended with an error.
	RunFailed RunState = "Failed"
)

// PostStartHook is a function that a layer runs once the server listens. The
// server is ready when all have ended.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PostStartHook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is where the hook comes from.
	Spec PostStartHookSpec `json:"spec"`
	// status is how it went.
	Status PostStartHookStatus `json:"status"`
}

// PostStartHookSpec is where a hook comes from.
type PostStartHookSpec struct {
	// layer is the layer that runs the hook.
	Layer string `json:"layer"`
	// registeredAt is the function that registered it, with file and line.
	RegisteredAt string `json:"registeredAt,omitempty"`
}

// PostStartHookStatus is how a hook went.
type PostStartHookStatus struct {
	// state is Pending, Running, Done or Failed.
	State RunState `json:"state"`
	// startedAt is when it began.
	StartedAt *metav1.MicroTime `json:"startedAt,omitempty"`
	// finishedAt is when it ended.
	FinishedAt *metav1.MicroTime `json:"finishedAt,omitempty"`
	// duration is the time between the two, or up to now while it runs.
	Duration metav1.Duration `json:"duration"`
	// error is why it failed.
	Error string `json:"error,omitempty"`
	// stack is where a hook that has run for more than five seconds is now.
	Stack string `json:"stack,omitempty"`
	// conditions: Done says whether the hook has ended well.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PostStartHookList is a list of hooks.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PostStartHookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the hooks.
	Items []PostStartHook `json:"items"`
}

// BootStep is one component on the way from the start of the process until it
// was ready. Those of the last ten starts are kept in the data directory.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type BootStep struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is the step's place.
	Spec BootStepSpec `json:"spec"`
	// status is how it went.
	Status BootStepStatus `json:"status"`
}

// BootStepSpec is the place of a step.
type BootStepSpec struct {
	// boot numbers the starts on this data directory; the highest is this one's.
	Boot int64 `json:"boot"`
	// bootedAt is when the process of that start began.
	BootedAt metav1.MicroTime `json:"bootedAt"`
	// order is the place in the start.
	Order int32 `json:"order"`
	// component is what was started.
	Component string `json:"component"`
	// dependsOn are the components that had to be ready before.
	// +listType=atomic
	DependsOn []string `json:"dependsOn,omitempty"`
}

// BootStepStatus is how a step went.
type BootStepStatus struct {
	// state is Pending, Running, Done or Failed.
	State RunState `json:"state"`
	// startedAt is when the component began to start.
	StartedAt *metav1.MicroTime `json:"startedAt,omitempty"`
	// readyAt is when it was ready, or had failed.
	ReadyAt *metav1.MicroTime `json:"readyAt,omitempty"`
	// duration is the time between the two, or up to now while it starts.
	Duration metav1.Duration `json:"duration"`
	// error is why it failed, or how the process ended because of it later.
	Error string `json:"error,omitempty"`
}

// BootStepList is a list of boot steps.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type BootStepList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the steps, those of the newest start first.
	Items []BootStep `json:"items"`
}

// HealthState is the outcome of a health check.
type HealthState string

// The outcomes of a health check.
const (
	// HealthOK means that the check has passed.
	HealthOK HealthState = "OK"
	// HealthFailed means that it has not.
	HealthFailed HealthState = "Failed"
	// HealthUnknown means that it has not been made yet.
	HealthUnknown HealthState = "Unknown"
)

// HealthCheck is one check of /livez, /readyz and /healthz, with the reason for
// a failure that those endpoints withhold.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type HealthCheck struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is where the check counts.
	Spec HealthCheckSpec `json:"spec"`
	// status is its outcome.
	Status HealthCheckStatus `json:"status"`
}

// HealthCheckSpec is where a check counts.
type HealthCheckSpec struct {
	// check is the name that the endpoints give it ("poststarthook/rbac/bootstrap-roles").
	Check string `json:"check"`
	// endpoints are those of livez, readyz and healthz that it is part of.
	// +listType=atomic
	Endpoints []string `json:"endpoints"`
}

// HealthCheckStatus is the outcome of a check.
type HealthCheckStatus struct {
	// state is OK, Failed or Unknown.
	State HealthState `json:"state"`
	// lastError is why the check last failed, also when it passes now.
	LastError string `json:"lastError,omitempty"`
	// lastErrorAt is when that was.
	LastErrorAt *metav1.MicroTime `json:"lastErrorAt,omitempty"`
	// since is when it was first seen in this state: a check is made only when somebody asks.
	Since *metav1.MicroTime `json:"since,omitempty"`
	// duration is how long the check itself took: a recent value, replaced when another
	// one is of a millisecond or more and differs by a factor of two.
	Duration metav1.Duration `json:"duration"`
	// conditions: Healthy is the state as a condition.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// HealthCheckList is a list of health checks.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type HealthCheckList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the checks.
	Items []HealthCheck `json:"items"`
}
