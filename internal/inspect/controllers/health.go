package controllers

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

const (
	// patience is how long a queue may be as long as it is, or longer.
	patience = time.Minute
	// forgotten is how old the sample before may be. Samples are taken when somebody
	// looks, or scrapes: what happened in a longer time without one is not known.
	forgotten = 2 * time.Minute
)

// observed is what is remembered of a controller.
type observed struct {
	// sampled is when the queue was last read, last what it was; zero when nothing is
	// known that counts.
	sampled time.Time
	last    queue
	// sunk is when the queue was last seen to be empty, to get shorter, or to be
	// worked on without getting longer.
	sunk time.Time
	// left is what stood in the queue when this server last did not run the
	// controller: the metric of a queue that was given up keeps its value.
	left int64

	// healthy is the condition as it was last told.
	healthy metav1.Condition
}

// join fills in the status, and the condition Healthy where it means something.
func (o *observed) join(one *v1alpha1.Controller, q queue, read, now time.Time) {
	one.Status.Retries = q.retries
	switch reasonOf(one) {
	case v1alpha1.ControllerFailed:
		o.forget()
		failed := meta.FindStatusCondition(one.Status.Conditions, v1alpha1.ConditionRunning)
		o.tell(one, metav1.ConditionFalse, v1alpha1.ControllerFailedToStart, failed.Message, now)
		return
	case v1alpha1.ControllerNotLeader:
		o.left = q.depth
	}
	if !runs(one) {
		o.notRunning(one, now)
		return
	}
	q.depth = max(0, q.depth-o.left)
	one.Status.QueueDepth = q.depth
	if read.After(o.sampled) {
		o.sample(q, read)
	}
	if q.depth > 0 && !o.sunk.IsZero() && o.sampled.Sub(o.sunk) > patience {
		o.tell(one, metav1.ConditionFalse, v1alpha1.ControllerQueueNotShrinking,
			fmt.Sprintf("keys wait since %s, and have not become fewer", o.sunk.UTC().Format(time.TimeOnly+" UTC")), now)
		return
	}
	o.tell(one, metav1.ConditionTrue, "QueueShrinks", "", now)
}

// notRunning is the condition of what does not run in this server, as it should not.
// Of what is still to start nothing can be said.
func (o *observed) notRunning(one *v1alpha1.Controller, now time.Time) {
	o.forget()
	switch reasonOf(one) {
	case v1alpha1.ControllerNotSelected, v1alpha1.ControllerDisabled, v1alpha1.ControllerNotLeader:
		o.tell(one, metav1.ConditionTrue, "NotRunning", "", now)
	default:
		o.healthy = metav1.Condition{}
	}
}

// runs tells whether the controller runs in this server.
func runs(one *v1alpha1.Controller) bool {
	return meta.IsStatusConditionTrue(one.Status.Conditions, v1alpha1.ConditionRunning)
}

// reasonOf is why it runs here or does not.
func reasonOf(one *v1alpha1.Controller) string {
	if running := meta.FindStatusCondition(one.Status.Conditions, v1alpha1.ConditionRunning); running != nil {
		return running.Reason
	}
	return ""
}

func (o *observed) forget() { o.sampled, o.sunk, o.last = time.Time{}, time.Time{}, queue{} }

// sample compares with the sample before.
func (o *observed) sample(q queue, at time.Time) {
	worked := q.taken > o.last.taken && q.depth <= o.last.depth
	if o.sampled.IsZero() || at.Sub(o.sampled) > forgotten || q.depth == 0 || q.depth < o.last.depth || worked {
		o.sunk = at
	}
	o.sampled, o.last = at, q
}

// tell sets the condition, with the time at which its status changed.
func (o *observed) tell(one *v1alpha1.Controller, status metav1.ConditionStatus, reason, message string, now time.Time) {
	changed := o.healthy.LastTransitionTime
	if o.healthy.Status != status {
		changed = metav1.NewTime(now).Rfc3339Copy()
	}
	o.healthy = metav1.Condition{
		Type: v1alpha1.ConditionHealthy, Status: status, Reason: reason, Message: message, LastTransitionTime: changed,
	}
	one.Status.Conditions = append(one.Status.Conditions, o.healthy)
}
