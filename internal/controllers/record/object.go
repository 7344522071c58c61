package record

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// described says of each phase how condition Running puts it.
var described = map[Phase]struct {
	status          metav1.ConditionStatus
	reason, message string
}{
	Unselected: {metav1.ConditionFalse, v1alpha1.ControllerNotSelected, "It is not among --controllers."},
	Standby:    {metav1.ConditionFalse, v1alpha1.ControllerNotLeader, "This server does not run the controllers now."},
	Starting:   {metav1.ConditionFalse, v1alpha1.ControllerStarting, "It is being started."},
	Running:    {metav1.ConditionTrue, v1alpha1.ControllerRunning, "It runs in this server."},
	Off:        {metav1.ConditionFalse, v1alpha1.ControllerDisabled, "It has nothing to do in this server."},
	Failed:     {metav1.ConditionFalse, v1alpha1.ControllerFailed, "It does not run."},
}

// refused is what one that runs says when none of its requests is let through.
const refused = "The lease was not renewed in time, and another server may lead: nothing is sent."

// Object returns the controller as it is now. holder is who runs the controllers, if
// that is known, and self this server's identity among those that could; fenced says
// that this one may lead no more, though it has not ended yet. What its queues hold,
// and the server's identity in the API, is left open.
func (r *Record) Object(holder, self string, fenced bool) *v1alpha1.Controller {
	r.mu.Lock()
	defer r.mu.Unlock()
	phase := r.phase
	if fenced = fenced && phase == Running; fenced {
		phase = Standby
	}
	o := &v1alpha1.Controller{ObjectMeta: metav1.ObjectMeta{Name: r.Name}}
	o.Spec = v1alpha1.ControllerSpec{
		Enabled: r.Enabled && r.phase != Off, Sets: []string{string(r.Set)}, Identity: r.User(), Queues: r.Queues, Doc: r.Doc,
	}
	running := described[phase]
	message := running.message
	switch {
	case !r.Enabled:
		o.Spec.Reason = message
	case r.phase == Off:
		o.Spec.Reason, message = r.why, r.why
	case r.why != "":
		message = r.why
	case fenced:
		message = refused
	case phase == Standby && holder != "" && holder != self:
		message = "The server " + holder + " runs the controllers."
	}
	o.Status = v1alpha1.ControllerStatus{
		Leader: phase == Running, Errors: r.errors, LastError: r.last, LastErrorAt: at(r.lastAt), StartedAt: at(r.since),
		Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionRunning, Status: running.status, Reason: running.reason, Message: message, LastTransitionTime: metav1.NewTime(r.changed),
		}},
	}
	if o.Spec.Enabled {
		o.Status.Holder = holder
	}
	return o
}

// at returns a time as the API writes it, nil for none.
func at(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}
