package foreign

import (
	"context"
	"fmt"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// The metrics of authentication and authorization. Source:
// k8s.io/apiserver/pkg/endpoints/filters and pkg/authorization/metrics.
const (
	authenticationTime     = "authentication_duration_seconds"
	authorizationTime      = "authorization_duration_seconds"
	authorizationDecisions = "apiserver_authorization_decisions_total"
)

// byFlag are the authenticators and the flags that turn them on, in the order in
// which they are asked. off is a value that does not.
// Source: k8s.io/kubernetes/pkg/kubeapiserver/authenticator/config.go.
func byFlag() []struct{ name, kind, flag, off string } {
	return []struct{ name, kind, flag, off string }{
		{"loopback", "Loopback", "", ""}, // the token by which every server talks to itself
		{"request-header", "RequestHeader", "requestheader-client-ca-file", ""},
		{"client-certificate", "ClientCertificate", "client-ca-file", ""},
		{"token-file", "TokenFile", "token-auth-file", ""},
		{"service-account", "ServiceAccount", "service-account-key-file", "[]"},
		{"bootstrap-token", "BootstrapToken", "enable-bootstrap-token-auth", "false"},
		{"jwt", "JWT", "oidc-issuer-url", ""},
		{"jwt-by-file", "JWT", "authentication-config", ""},
		{"webhook", "Webhook", "authentication-token-webhook-config-file", ""},
		{"anonymous", "Anonymous", "anonymous-auth", "false"},
	}
}

// authenticators finds those that the server's flags turn on. Where the flags are
// not to be had, one object stands for all of them together.
func (s *Server) authenticators(ctx context.Context, _ inspection.Query) (*finding, error) {
	metrics, noMetrics := s.metrics(ctx, authenticationAttempts, authenticationTime)
	flags, noFlags := s.flags(ctx)
	if noMetrics != nil && noFlags != nil {
		return nil, noMetrics
	}
	f := &finding{}
	f.gap("this server does not count it", "No-Opinion")
	total := authenticated(metrics)
	if noFlags != nil {
		f.add(&v1alpha1.Authenticator{ObjectMeta: named("all"), Spec: v1alpha1.AuthenticatorSpec{Type: "All"}, Status: total})
		f.gap(why(noFlags, flagsPath), "Type", "Order", "Configured-By", "Source")
		return f, nil
	}
	for _, one := range byFlag() {
		value := flags[one.flag]
		if one.flag != "" && (value == "" || value == one.off) {
			continue
		}
		object := &v1alpha1.Authenticator{
			ObjectMeta: named(one.name),
			Spec:       v1alpha1.AuthenticatorSpec{Order: int32(len(f.objects)), Type: one.kind},
		}
		if object.Spec.ConfiguredBy = "--" + one.flag; one.flag == "" {
			object.Spec.ConfiguredBy = "default"
		}
		if value != "true" {
			object.Spec.Source = withoutCredentials(strings.Trim(value, "[]"))
		}
		f.add(object)
	}
	together := fmt.Sprintf("all authenticators are counted together: %d requests authenticated, %d refused, p99 %s",
		total.Authenticated, total.Errors, kinds.Took(total.Latency.P99))
	if noMetrics != nil {
		together = why(noMetrics, metricsPath)
	}
	f.gap(together, "Authenticated", "Errors", "P99")
	return f, nil
}

func authenticated(metrics families.Families) v1alpha1.AuthenticatorStatus {
	results := metrics.Sum(authenticationAttempts, "result")
	var latency families.Distribution
	for _, metric := range metrics[authenticationTime] {
		latency.Add(metric.GetHistogram())
	}
	return v1alpha1.AuthenticatorStatus{
		Authenticated: results["success"], Errors: results["failure"] + results["error"], Latency: latency.Latency(),
		Counted: "all authenticators together",
	}
}

// authorizers finds those that the server's flags name, and those that have
// decided something.
func (s *Server) authorizers(ctx context.Context, _ inspection.Query) (*finding, error) {
	metrics, noMetrics := s.metrics(ctx, authorizationDecisions, authorizationAttempts, authorizationTime)
	flags, noFlags := s.flags(ctx)
	if noMetrics != nil && noFlags != nil {
		return nil, noMetrics
	}
	f := &finding{}
	objects := map[string]*v1alpha1.Authorizer{}
	add := func(name, kind, configuredBy, source string) *v1alpha1.Authorizer {
		if objects[name] == nil {
			object := &v1alpha1.Authorizer{ObjectMeta: named(name), Spec: v1alpha1.AuthorizerSpec{Order: int32(len(objects)), Type: kind}}
			object.Spec.ConfiguredBy, object.Spec.Source = configuredBy, source
			objects[name] = object
			f.add(object)
		}
		return objects[name]
	}
	if noFlags == nil {
		add("system-privileged-group", "PrivilegedGroups", "default", "")
		for _, mode := range listed(flags["authorization-mode"]) {
			add(strings.ToLower(mode), mode, "--authorization-mode", sourceOfMode(mode, flags))
		}
	}
	for _, metric := range metrics[authorizationDecisions] {
		object := add(families.Label(metric, "name"), families.Label(metric, "type"), flags["authorization-config"], "")
		switch families.Label(metric, "decision") {
		case "allowed":
			object.Status.Allowed += int64(families.Value(metric))
		case "denied":
			object.Status.Denied += int64(families.Value(metric))
		}
	}
	if len(f.objects) == 0 {
		f.gap(why(noFlags, flagsPath)+", and none has decided anything yet", "")
	}
	authorizerGaps(f, metrics, noMetrics, noFlags)
	return f, nil
}

func authorizerGaps(f *finding, metrics families.Families, noMetrics, noFlags error) {
	if noFlags != nil {
		f.gap(why(noFlags, flagsPath), "Order", "Configured-By", "Source")
	}
	f.emptyFor("no authorizer reads a file", "Source")
	if noMetrics != nil {
		f.gap(why(noMetrics, metricsPath), "Allowed", "Denied", "No-Opinion", "P99", "Errors")
		return
	}
	f.gap("this server does not count what it allows the group system:masters", "Allowed")
	results := metrics.Sum(authorizationAttempts, "result")
	var latency families.Distribution
	for _, metric := range metrics[authorizationTime] {
		latency.Add(metric.GetHistogram())
	}
	f.gap("this server counts what an authorizer decides, not what it leaves to the next", "No-Opinion")
	f.gap(fmt.Sprintf("all authorizers are timed together: p99 %s", kinds.Took(latency.Latency().P99)), "P99")
	f.gap(fmt.Sprintf("the errors of all authorizers are counted together: %d", results["error"]), "Errors")
}

// sourceOfMode is the file that an authorizer reads.
func sourceOfMode(mode string, flags map[string]string) string {
	switch mode {
	case "ABAC":
		return flags["authorization-policy-file"]
	case "Webhook":
		return flags["authorization-webhook-config-file"]
	}
	return ""
}
