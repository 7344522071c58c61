package kinds

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// What a controller does, in a word.
const (
	// ControllerRunning: it runs in this server.
	ControllerRunning = "running"
	// ControllerStuck: it runs, and its queue does not get shorter.
	ControllerStuck = "stuck"
	// ControllerStarting: it is about to run.
	ControllerStarting = "starting"
	// ControllerStandby: another server runs it, or none does yet.
	ControllerStandby = "standby"
	// ControllerFailed: it should run, and can't.
	ControllerFailed = "failed"
	// ControllerOff: it was left out, or something that it needs is off.
	ControllerOff = "off"
)

// ControllerState is one of these words.
func ControllerState(o *v1alpha1.Controller) string {
	running := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionRunning)
	switch {
	case running != nil && running.Reason == v1alpha1.ControllerFailed:
		return ControllerFailed
	case !o.Spec.Enabled:
		return ControllerOff
	case running == nil:
		return ControllerStarting // nothing has been said of it yet
	case running.Status == metav1.ConditionTrue && meta.IsStatusConditionFalse(o.Status.Conditions, v1alpha1.ConditionHealthy):
		return ControllerStuck
	case running.Status == metav1.ConditionTrue:
		return ControllerRunning
	case running.Reason == v1alpha1.ControllerNotLeader:
		return ControllerStandby
	case running.Reason == v1alpha1.ControllerStarting:
		return ControllerStarting
	}
	return ControllerOff
}

// ControllerWhy is why a controller does not do its work; "" where it does.
func ControllerWhy(o *v1alpha1.Controller) string {
	for _, kind := range []string{v1alpha1.ConditionRunning, v1alpha1.ConditionHealthy} {
		if c := meta.FindStatusCondition(o.Status.Conditions, kind); c != nil && c.Status != metav1.ConditionTrue {
			return cmp.Or(c.Message, o.Spec.Reason, c.Reason)
		}
	}
	return o.Spec.Reason
}

func controllers() Kind {
	type object = *v1alpha1.Controller
	return Kind{
		Resource: "controllers", Singular: "controller", Kind: "Controller",
		New:     func() runtime.Object { return &v1alpha1.Controller{} },
		NewList: func() runtime.Object { return &v1alpha1.ControllerList{} },
		Columns: []Column{
			column("State", "string", "running, starting, stuck, failed, standby or off", func(o object) any { return ControllerState(o) }),
			column("Queue", "integer", "Keys that wait", func(o object) any { return o.Status.QueueDepth }),
			column("Retries", "integer", "Keys that were put back", func(o object) any { return o.Status.Retries }),
			column("Errors", "integer", "Errors that it has reported", func(o object) any { return o.Status.Errors }),
			column("Last-Error", "string", "The last of them, or why it failed", func(o object) any { return short(controllerError(o), 60) }),
			wide("Set", "string", "Sets that it is in", func(o object) any { return list(o.Spec.Sets) }),
			wide("Identity", "string", "User that it acts as", func(o object) any { return o.Spec.Identity }),
			since("Since", "Time since it began to run", func(o object) *metav1.MicroTime {
				if o.Status.StartedAt == nil {
					return nil
				}
				return &metav1.MicroTime{Time: o.Status.StartedAt.Time}
			}).wide(),
			wide("Holder", "string", "Server that runs it", func(o object) any { return o.Status.Holder }),
		},
		Fields: map[string]func(Object) string{
			"spec.enabled":  field(func(o object) string { return toString(o.Spec.Enabled) }),
			"spec.identity": field(func(o object) string { return o.Spec.Identity }),
			"status.leader": field(func(o object) string { return toString(o.Status.Leader) }),
		},
	}
}

// controllerError is what is wrong now or, where nothing is, the last error.
func controllerError(o *v1alpha1.Controller) string {
	switch ControllerState(o) {
	case ControllerFailed:
		return cmp.Or(ControllerWhy(o), o.Status.LastError)
	default:
		return o.Status.LastError
	}
}

// ControllerHolder says which server runs a controller, as a person reads it; "" where
// none does.
func ControllerHolder(c *v1alpha1.Controller) string {
	switch {
	case ControllerState(c) == ControllerFailed:
		return ""
	case c.Status.Leader && (c.Status.Holder == "" || c.Status.Holder == c.ServerID):
		return "this server"
	case c.Status.Leader:
		return "this server, as " + c.Status.Holder
	case c.Status.Holder != "":
		return "another server: " + c.Status.Holder
	default:
		return ""
	}
}

// TimeOf returns a time that may be missing, zero where it is.
func TimeOf(at *metav1.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.Time
}
