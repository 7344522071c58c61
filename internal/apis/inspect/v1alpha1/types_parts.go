package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EtcdMember is one member of the store.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type EtcdMember struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is where the member is.
	Spec EtcdMemberSpec `json:"spec"`
	// status is how it is.
	Status EtcdMemberStatus `json:"status"`
}

// EtcdMemberSpec is where a member is.
type EtcdMemberSpec struct {
	// embedded says that it runs inside kapi.
	Embedded bool `json:"embedded"`
	// endpoint is how this server reaches it.
	Endpoint string `json:"endpoint"`
	// memberID is its ID in hexadecimal.
	MemberID string `json:"memberID,omitempty"`
	// peers are the names of the other members.
	// +listType=atomic
	Peers []string `json:"peers,omitempty"`
}

// EtcdMemberStatus is how a member is.
type EtcdMemberStatus struct {
	// version is etcd's.
	Version string `json:"version,omitempty"`
	// leader says whether it leads.
	Leader bool `json:"leader"`
	// learner says whether it has no vote yet.
	Learner bool `json:"learner,omitempty"`
	// raftTerm counts elections.
	RaftTerm int64 `json:"raftTerm,omitempty"`
	// raftIndex is the last entry of its log.
	RaftIndex int64 `json:"raftIndex,omitempty"`
	// revision counts changes of the store.
	Revision int64 `json:"revision,omitempty"`
	// dbSize is the size of the database file, in bytes.
	DBSize int64 `json:"dbSize"`
	// dbSizeInUse is how much of it holds data, in bytes; defragmenting gives back the rest.
	DBSizeInUse int64 `json:"dbSizeInUse"`
	// quota is the size at which writes are refused, in bytes.
	Quota int64 `json:"quota,omitempty"`
	// bytesPerHour is how fast the data grows, in bytes, over the time that is remembered.
	BytesPerHour int64 `json:"bytesPerHour"`
	// noSpaceAt is when the quota will be reached at that speed; absent when it never will.
	NoSpaceAt *metav1.MicroTime `json:"noSpaceAt,omitempty"`
	// alarms are those that are raised ("NOSPACE", "CORRUPT").
	// +listType=atomic
	Alarms []string `json:"alarms,omitempty"`
	// fsync is the time that a sync of the log took.
	Fsync *Latency `json:"fsync,omitempty"`
	// commit is the time that a commit of the database took.
	Commit *Latency `json:"commit,omitempty"`
	// lastDefrag is when it was last defragmented, as far as this process knows.
	LastDefrag *metav1.MicroTime `json:"lastDefrag,omitempty"`
	// lastSnapshot is when a snapshot was last saved, as far as this process knows.
	LastSnapshot *metav1.MicroTime `json:"lastSnapshot,omitempty"`
	// error is why the member could not be asked.
	Error string `json:"error,omitempty"`
	// conditions: Healthy is false when it can't be asked, has no leader, or an alarm is raised.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// EtcdMemberList is a list of members.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type EtcdMemberList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the members.
	Items []EtcdMember `json:"items"`
}

// Controller is a controller that runs inside the server.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Controller struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// serverID is the identity of the API server that this was seen in.
	ServerID string `json:"serverID"`
	// spec is how it is configured.
	Spec ControllerSpec `json:"spec"`
	// status is how it does.
	Status ControllerStatus `json:"status"`
}

// ControllerSpec is how a controller is configured.
type ControllerSpec struct {
	// enabled says whether it was selected, and could be.
	Enabled bool `json:"enabled"`
	// reason is why it is off ("--controllers=-job"); empty when it is enabled.
	Reason string `json:"reason,omitempty"`
	// sets are those that it is in: "api", "workloads" or "nodes".
	// +listType=set
	Sets []string `json:"sets,omitempty"`
	// identity is the user that it acts as.
	Identity string `json:"identity,omitempty"`
	// queues are its work queues, as they are named in the metrics workqueue_*.
	// +listType=set
	Queues []string `json:"queues,omitempty"`
	// doc says what it does.
	Doc string `json:"doc,omitempty"`
}

// ControllerStatus is how a controller does. Its queue, retries and errors are those
// in this server.
type ControllerStatus struct {
	// leader says whether this server is the one that runs it.
	Leader bool `json:"leader"`
	// holder is the identity of the server that runs it; empty when none does.
	Holder string `json:"holder,omitempty"`
	// startedAt is when it began to run in this server; absent while it does not.
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// queueDepth is how many keys wait.
	QueueDepth int64 `json:"queueDepth"`
	// retries is how many keys were put back: after an error, or to wait.
	Retries int64 `json:"retries"`
	// errors is how many errors it has reported.
	Errors int64 `json:"errors"`
	// lastError is the last of them.
	LastError string `json:"lastError,omitempty"`
	// lastErrorAt is when it was reported.
	LastErrorAt *metav1.Time `json:"lastErrorAt,omitempty"`
	// conditions: Running says whether it runs in this server; its reason is Running,
	// Starting, NotSelected, NotLeader, Disabled or Failed. Healthy is false when keys
	// wait and their number has not sunk for more than a minute (QueueNotShrinking),
	// or when it could not be started (FailedToStart); it is true of what is off, too.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Reasons of the condition Running of a controller; its message says more.
const (
	// ControllerRunning: it runs in this server. The condition is true.
	ControllerRunning = "Running"
	// ControllerStarting: it is about to run.
	ControllerStarting = "Starting"
	// ControllerNotSelected: the configuration leaves it out.
	ControllerNotSelected = "NotSelected"
	// ControllerDisabled: it was selected, but something that it needs is off.
	ControllerDisabled = "Disabled"
	// ControllerNotLeader: another server runs it, or none does yet.
	ControllerNotLeader = "NotLeader"
	// ControllerFailed: it could not be started, or has ended by itself.
	ControllerFailed = "Failed"
)

// Reasons of the condition Healthy of a controller, where it is false.
const (
	// ControllerQueueNotShrinking: keys wait, and do not get fewer.
	ControllerQueueNotShrinking = "QueueNotShrinking"
	// ControllerFailedToStart: it does not run, and should.
	ControllerFailedToStart = "FailedToStart"
)

// ControllerList is a list of controllers.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type ControllerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the controllers.
	Items []Controller `json:"items"`
}
