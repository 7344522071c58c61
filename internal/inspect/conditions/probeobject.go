package conditions

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// defaultPort is the port of an APIService's service that names none.
const defaultPort = 443

// object makes the object of an APIService; the lock is held. An APIService that
// a layer of this server answers for has no steps.
func (p *Probes) object(service *apiregistrationv1.APIService) *v1alpha1.APIServiceProbe {
	object := &v1alpha1.APIServiceProbe{
		ObjectMeta: metav1.ObjectMeta{Name: service.Name},
		ServerID:   p.config.ServerID,
		Spec:       v1alpha1.APIServiceProbeSpec{Group: service.Spec.Group, Version: service.Spec.Version},
		Status:     v1alpha1.APIServiceProbeStatus{Available: availableOf(service)},
	}
	for i := range service.Status.Conditions {
		c := &service.Status.Conditions[i]
		object.Status.Conditions = append(object.Status.Conditions, metav1.Condition{
			Type: string(c.Type), Status: metav1.ConditionStatus(c.Status),
			Reason: c.Reason, Message: cut(c.Message), LastTransitionTime: c.LastTransitionTime,
		})
	}
	if service.Spec.Service == nil {
		return object
	}
	namespace, name, port := reference(service)
	object.Spec.Service = fmt.Sprintf("%s/%s:%d", namespace, name, port)
	if p.config.UnavailableAnswers != nil {
		object.Status.UnavailableAnswers = p.config.UnavailableAnswers(service.Name)
	}
	known := p.probed[service.Name]
	if known == nil || len(known.probes) == 0 {
		return object
	}
	object.Status.Probes = known.probes
	object.Status.FailingStep, object.Status.Error = failure(&known.probes[0])
	object.Status.Conditions = append(object.Status.Conditions, known.healthy.condition)
	return object
}

func reference(service *apiregistrationv1.APIService) (namespace, name string, port int32) {
	r := service.Spec.Service
	if port = defaultPort; r.Port != nil {
		port = *r.Port
	}
	return r.Namespace, r.Name, port
}

// availableOf is the status of the Available condition; Unknown until there is one.
func availableOf(service *apiregistrationv1.APIService) string {
	for i := range service.Status.Conditions {
		if c := &service.Status.Conditions[i]; c.Type == apiregistrationv1.Available {
			return string(c.Status)
		}
	}
	return string(apiregistrationv1.ConditionUnknown)
}

// failure returns the step that a probe failed at, which is its last one.
func failure(probe *v1alpha1.Probe) (v1alpha1.ProbeStepName, string) {
	if probe.OK || len(probe.Steps) == 0 {
		return "", ""
	}
	last := &probe.Steps[len(probe.Steps)-1]
	return last.Name, last.Error
}

// healthy is the condition of that name, with the time of its last change.
type healthy struct{ condition metav1.Condition }

func (h *healthy) set(probe *v1alpha1.Probe, now time.Time) {
	next := metav1.Condition{
		Type: v1alpha1.ConditionHealthy, Status: metav1.ConditionTrue,
		Reason: "Reached", Message: "all steps of the last probe succeeded", LastTransitionTime: h.condition.LastTransitionTime,
	}
	if !probe.OK {
		step, message := failure(probe)
		next.Status, next.Reason, next.Message = metav1.ConditionFalse, reasons()[step], message
	}
	if next.Status != h.condition.Status {
		next.LastTransitionTime = metav1.NewTime(now)
	}
	h.condition = next
}

// reasons are those of Healthy while a step fails.
func reasons() map[v1alpha1.ProbeStepName]string {
	return map[v1alpha1.ProbeStepName]string{
		v1alpha1.ProbeService:  "ServiceMissing",
		v1alpha1.ProbeEndpoint: "NoEndpoint",
		v1alpha1.ProbeDial:     "NotListening",
		v1alpha1.ProbeTLS:      "TLSFailed",
		v1alpha1.ProbeStatus:   "BadStatus",
	}
}
