package controllers

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Objects returns all controllers as they are now, those that are off among them, in
// the order of the catalog. What their queues hold, and the server's identity, is
// left open.
func (m *Manager) Objects() []*v1alpha1.Controller {
	m.mu.Lock()
	holder := m.holder
	m.mu.Unlock()
	objects := make([]*v1alpha1.Controller, 0, len(m.records))
	for _, r := range m.records {
		objects = append(objects, r.object(holder, m.identity()))
	}
	return objects
}

// identity names this server among those that could lead; empty where it is the only one.
func (m *Manager) identity() string {
	if m.cfg.Election == nil {
		return ""
	}
	return m.cfg.Election.Identity
}

// described says of each phase how condition Running puts it.
var described = map[phase]struct {
	status          metav1.ConditionStatus
	reason, message string
}{
	phaseUnselected: {metav1.ConditionFalse, "NotSelected", "It is not among --controllers."},
	phaseStandby:    {metav1.ConditionFalse, "NotLeader", "This server does not run the controllers now."},
	phaseStarting:   {metav1.ConditionFalse, "Starting", "It is being started."},
	phaseRunning:    {metav1.ConditionTrue, "Running", "It runs in this server."},
	phaseOff:        {metav1.ConditionFalse, "Disabled", "It has nothing to do in this server."},
	phaseFailed:     {metav1.ConditionFalse, "Failed", "It could not be started."},
}

func (r *record) object(holder, self string) *v1alpha1.Controller {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &v1alpha1.Controller{ObjectMeta: metav1.ObjectMeta{Name: r.Name}}
	o.Spec = v1alpha1.ControllerSpec{
		Enabled: r.enabled && r.phase != phaseOff, Sets: []string{string(r.Set)}, Identity: r.User(), Queues: r.Queues, Doc: r.Doc,
	}
	running := described[r.phase]
	message := running.message
	switch {
	case !r.enabled:
		o.Spec.Reason = message
	case r.phase == phaseOff:
		o.Spec.Reason, message = r.why, r.why
	case r.why != "":
		message = r.why
	case r.phase == phaseStandby && holder != "" && holder != self:
		message = "The server " + holder + " runs the controllers."
	}
	o.Status = v1alpha1.ControllerStatus{
		Leader: r.phase == phaseRunning, Errors: r.errors, LastError: r.last, LastErrorAt: at(r.lastAt), StartedAt: at(r.since),
		Conditions: []metav1.Condition{{
			Type: "Running", Status: running.status, Reason: running.reason, Message: message, LastTransitionTime: metav1.NewTime(r.changed),
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
