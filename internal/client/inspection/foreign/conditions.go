package foreign

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// transitions finds the last change of each condition: the one that the condition
// itself tells of.
func (s *Server) transitions(ctx context.Context, _ inspection.Query) (*finding, error) {
	f := &finding{}
	ofDefinitions := s.definitionTransitions(ctx, f)
	ofServices := s.serviceTransitions(ctx, f)
	switch {
	case ofDefinitions != nil && ofServices != nil:
		return nil, ofDefinitions
	case ofDefinitions != nil:
		f.gap("of CustomResourceDefinitions: "+whyNot(ofDefinitions, "list", definitionsResource), "Object")
	case ofServices != nil:
		f.gap("of APIServices: "+whyNot(ofServices, "list", servicesResource), "Object")
	}
	// A server without namespaces has nothing to tell of them.
	if err := s.namespaceTransitions(ctx, f); err != nil && !notFound(err) {
		f.gap("of Namespaces: "+whyNot(err, "list", namespacesResource), "Object")
	}
	slices.SortStableFunc(f.objects, func(a, b kinds.Object) int {
		return cmp.Or(timeOf(a).Compare(timeOf(b).Time), strings.Compare(a.GetName(), b.GetName()))
	})
	f.gap("this server keeps no history: each condition tells of its last change only", "From", "Held-For")
	f.gap("this server does not note when a resource came into discovery", "To-Served")
	f.emptyFor("no CustomResourceDefinition is established", "To-Established")
	f.emptyFor("no condition gives a reason", "Reason")
	f.emptyFor("no condition has a message", "Message")
	return f, nil
}

func timeOf(object kinds.Object) metav1.MicroTime {
	if transition, ok := object.(*v1alpha1.ConditionTransition); ok {
		return transition.Spec.At
	}
	return metav1.MicroTime{}
}

func (s *Server) definitionTransitions(ctx context.Context, f *finding) error {
	for definition, err := range s.Definitions(ctx) {
		if err != nil {
			return err
		}
		for i := range definition.Status.Conditions {
			condition := definitionCondition(&definition.Status.Conditions[i])
			object := transition("CustomResourceDefinition", &definition.ObjectMeta, condition)
			if isTrue(condition, string(apiextensionsv1.Established)) {
				took := max(condition.LastTransitionTime.Sub(definition.CreationTimestamp.Time), 0)
				object.Spec.TimeToEstablished = &metav1.Duration{Duration: took}
			}
			f.add(object)
		}
	}
	return nil
}

func (s *Server) serviceTransitions(ctx context.Context, f *finding) error {
	for service, err := range s.APIServices(ctx) {
		if err != nil {
			return err
		}
		for i := range service.Status.Conditions {
			f.add(transition("APIService", &service.ObjectMeta, serviceCondition(&service.Status.Conditions[i])))
		}
	}
	return nil
}

// namespaceTransitions finds what keeps namespaces that are being deleted.
func (s *Server) namespaceTransitions(ctx context.Context, f *finding) error {
	for namespace, err := range s.TerminatingNamespaces(ctx) {
		if err != nil {
			return err
		}
		for i := range namespace.Status.Conditions {
			if c := &namespace.Status.Conditions[i]; c.Status != corev1.ConditionFalse {
				f.add(transition("Namespace", &namespace.ObjectMeta, metav1.Condition{
					Type: string(c.Type), Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
					LastTransitionTime: c.LastTransitionTime,
				}))
			}
		}
	}
	return nil
}

func isTrue(condition metav1.Condition, kind string) bool {
	return condition.Type == kind && condition.Status == metav1.ConditionTrue
}

func transition(kind string, of *metav1.ObjectMeta, condition metav1.Condition) *v1alpha1.ConditionTransition {
	return &v1alpha1.ConditionTransition{
		ObjectMeta: metav1.ObjectMeta{
			Name: of.Name + "." + strings.ToLower(condition.Type), CreationTimestamp: condition.LastTransitionTime,
		},
		Spec: v1alpha1.ConditionTransitionSpec{
			Object: v1alpha1.ObservedObject{Kind: kind, Name: of.Name, UID: string(of.UID)},
			Type:   condition.Type, To: string(condition.Status), Reason: condition.Reason, Message: condition.Message,
			At: metav1.NewMicroTime(condition.LastTransitionTime.Time),
		},
	}
}

// probes finds what the Available condition of each APIService says.
func (s *Server) probes(ctx context.Context, _ inspection.Query) (*finding, error) {
	const terminations = "apiserver_request_terminations_total"
	f := &finding{}
	metrics, noMetrics := s.metrics(ctx, terminations)
	for service, err := range s.APIServices(ctx) {
		if err != nil {
			return nil, err
		}
		object := &v1alpha1.APIServiceProbe{
			ObjectMeta: metav1.ObjectMeta{Name: service.Name},
			Spec:       v1alpha1.APIServiceProbeSpec{Group: service.Spec.Group, Version: service.Spec.Version, Service: serviceOf(service)},
			Status:     v1alpha1.APIServiceProbeStatus{Available: string(metav1.ConditionUnknown)},
		}
		for i := range service.Status.Conditions {
			condition := serviceCondition(&service.Status.Conditions[i])
			object.Status.Conditions = append(object.Status.Conditions, condition)
			if condition.Type != string(apiregistrationv1.Available) {
				continue
			}
			object.Status.Available = string(condition.Status)
			if condition.Status != metav1.ConditionTrue {
				object.Status.FailingStep, object.Status.Error = failingStep(condition), condition.Message
			}
		}
		if service.Spec.Service != nil {
			object.Status.UnavailableAnswers = unavailable(metrics, terminations, service)
		}
		f.add(object)
	}
	f.emptyFor("every APIService is available; this server keeps no earlier errors", "Failing-Step", "Error")
	f.gap("this server does not tell of its probes; what is shown is the APIService's condition", "Last-Probe")
	if noMetrics != nil {
		f.gap(why(noMetrics, metricsPath), "503s")
	}
	return f, nil
}

// unavailable is how many requests for an APIService the aggregator has answered 503.
func unavailable(metrics families.Families, family string, service *apiregistrationv1.APIService) int64 {
	var sum int64
	for _, metric := range metrics[family] {
		if families.Label(metric, "component") == "aggregator" && families.Label(metric, "code") == "503" &&
			families.Label(metric, "group") == service.Spec.Group && families.Label(metric, "version") == service.Spec.Version {
			sum += int64(families.Value(metric))
		}
	}
	return sum
}

// failingStep is the step at which an unavailable APIService is stuck.
// The reasons are those of k8s.io/kube-aggregator/pkg/controllers/status/remote.
func failingStep(condition metav1.Condition) v1alpha1.ProbeStepName {
	switch condition.Reason {
	case "ServiceNotFound", "ServicePortError", "ServiceAccessError":
		return v1alpha1.ProbeService
	case "EndpointsNotFound", "EndpointsAccessError", "MissingEndpoints":
		return v1alpha1.ProbeEndpoint
	case "FailedDiscoveryCheck":
		return failedAt(condition.Message)
	}
	return ""
}

// failedAt tells by the words of an error how far a request came. They are Go's.
func failedAt(message string) v1alpha1.ProbeStepName {
	for _, sign := range []struct {
		words string
		step  v1alpha1.ProbeStepName
	}{
		{"bad status", v1alpha1.ProbeStatus},
		{"x509: ", v1alpha1.ProbeTLS},
		{"tls: ", v1alpha1.ProbeTLS},
		{"gave HTTP response to HTTPS client", v1alpha1.ProbeTLS},
		{"no such host", v1alpha1.ProbeEndpoint},
		{"dial tcp", v1alpha1.ProbeDial},
		{"connection refused", v1alpha1.ProbeDial},
	} {
		if strings.Contains(message, sign.words) {
			return sign.step
		}
	}
	return v1alpha1.ProbeStatus
}

// serviceOf writes the service of an APIService as "namespace/name:port"; empty
// for one that this server answers for itself.
func serviceOf(service *apiregistrationv1.APIService) string {
	reference := service.Spec.Service
	if reference == nil {
		return ""
	}
	port := int32(443)
	if reference.Port != nil {
		port = *reference.Port
	}
	return fmt.Sprintf("%s/%s:%d", reference.Namespace, reference.Name, port)
}
