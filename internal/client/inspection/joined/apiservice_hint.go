package joined

import (
	"fmt"
	"strings"

	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// hint says how to mend what keeps the APIService from working.
func (a *APIService) hint() string {
	if a.Service == "" {
		return ""
	}
	reference, port, _ := strings.Cut(a.Service, ":")
	namespace, name, _ := strings.Cut(reference, "/")
	h := hinting{service: a.Service, reference: reference, namespace: namespace, name: name, port: port, address: a.detail(v1alpha1.ProbeDial, v1alpha1.ProbeEndpoint)}
	if step, ok := a.failed(); ok {
		h.step, h.err = step.Name, step.Error
	} else {
		// No probe has failed: the reason of the condition tells the step.
		c := Find(a.Conditions, string(apiregistrationv1.Available))
		if c.Status != "False" {
			return ""
		}
		if len(a.Probes) > 0 {
			return "The last probe reached it, so the condition should turn within half a minute."
		}
		h.step, h.err = stepOf(c)
	}
	for _, rule := range hints() {
		if rule.step == h.step && (rule.part == "" || strings.Contains(h.err, rule.part)) {
			return rule.say(h)
		}
	}
	return ""
}

// detail returns what was found at the first of these steps that succeeded.
func (a *APIService) detail(names ...v1alpha1.ProbeStepName) string {
	for _, name := range names {
		for _, step := range a.Steps {
			if step.Name == name && step.OK {
				return step.Detail
			}
		}
	}
	return "its address"
}

// stepOf tells from the Available condition which step has failed. The reasons are
// those of k8s.io/kube-aggregator/pkg/controllers/status/remote.
func stepOf(c Condition) (step v1alpha1.ProbeStepName, err string) {
	switch c.Reason {
	case "ServiceNotFound", "ServicePortError", "ServiceAccessError":
		return v1alpha1.ProbeService, c.Message
	case "EndpointsNotFound", "EndpointsAccessError", "MissingEndpoints":
		return v1alpha1.ProbeEndpoint, c.Message
	case "FailedDiscoveryCheck":
		switch {
		case strings.Contains(c.Message, "x509:"), strings.Contains(c.Message, "tls:"):
			return v1alpha1.ProbeTLS, c.Message
		case strings.Contains(c.Message, "bad status"):
			return v1alpha1.ProbeStatus, c.Message
		default:
			return v1alpha1.ProbeDial, c.Message
		}
	default:
		return "", c.Message
	}
}

// hinting is what a hint can speak of.
type hinting struct {
	step                                v1alpha1.ProbeStepName
	err                                 string
	service, reference, namespace, name string
	port                                string
	address                             string
}

func (h hinting) tlsName() string { return h.name + "." + h.namespace + ".svc" }

// hints are tried in order: the first whose step has failed with an error that holds
// the part is the one.
func hints() []struct {
	step v1alpha1.ProbeStepName
	part string
	say  func(hinting) string
} {
	return []struct {
		step v1alpha1.ProbeStepName
		part string
		say  func(hinting) string
	}{
		{v1alpha1.ProbeService, "port", func(h hinting) string {
			return fmt.Sprintf("Add port %s to Service %s, or correct spec.service.port of the APIService.", h.port, h.reference)
		}},
		{v1alpha1.ProbeService, "", func(h hinting) string {
			return fmt.Sprintf("Create Service %s, or on a kapi map it: kapi serve --map-service %s=HOST:PORT.", h.reference, h.service)
		}},
		{v1alpha1.ProbeEndpoint, "", func(h hinting) string {
			return fmt.Sprintf("Start what Service %s selects (kubectl -n %s get endpointslices -l kubernetes.io/service-name=%s), or on a kapi map it: kapi serve --map-service %s=HOST:PORT.",
				h.reference, h.namespace, h.name, h.service)
		}},
		{v1alpha1.ProbeDial, "refused", func(h hinting) string {
			return fmt.Sprintf("Nothing listens at %s: start the aggregated server, or correct the port.", h.address)
		}},
		{v1alpha1.ProbeDial, "", func(h hinting) string {
			return fmt.Sprintf("Check that %s can be reached from this server: routes, firewalls, network policies.", h.address)
		}},
		{v1alpha1.ProbeTLS, "unknown authority", func(hinting) string {
			return "Set spec.caBundle of the APIService to the authority that issued the certificate."
		}},
		{v1alpha1.ProbeTLS, "caBundle", func(hinting) string {
			return "Set spec.caBundle of the APIService to a PEM certificate."
		}},
		{v1alpha1.ProbeTLS, "expired", func(hinting) string {
			return "Renew the certificate of the aggregated server, or correct the clock."
		}},
		{v1alpha1.ProbeTLS, "not yet valid", func(hinting) string {
			return "Correct the clock, or the certificate of the aggregated server."
		}},
		{v1alpha1.ProbeTLS, "x509: certificate", func(h hinting) string {
			return fmt.Sprintf("Issue the aggregated server a certificate for %s, with an authority that spec.caBundle names.", h.tlsName())
		}},
		{v1alpha1.ProbeTLS, "", func(h hinting) string {
			return fmt.Sprintf("Check that %s speaks TLS 1.2 or newer and accepts the proxy client certificate.", h.address)
		}},
		{v1alpha1.ProbeStatus, ": 40", refusedHint},
		{v1alpha1.ProbeStatus, "", func(hinting) string {
			return "Read the log of the aggregated server: it was reached, and failed by itself."
		}},
	}
}

func refusedHint(h hinting) string {
	if strings.Contains(h.err, "404") {
		return "The aggregated server does not serve this group version: correct the APIService, or the server."
	}
	return "The aggregated server refused kapi: it must trust the request header authority (ConfigMap kube-system/extension-apiserver-authentication)."
}
