package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func authKinds() []Kind {
	type authenticator = *v1alpha1.Authenticator
	type authorizer = *v1alpha1.Authorizer
	type plugin = *v1alpha1.AdmissionPlugin
	return []Kind{
		{
			Resource: "authenticators", Singular: "authenticator", Kind: "Authenticator", ShortNames: []string{"authn"},
			New:     func() runtime.Object { return &v1alpha1.Authenticator{} },
			NewList: func() runtime.Object { return &v1alpha1.AuthenticatorList{} },
			Columns: []Column{
				column("Order", "integer", "Place among all authenticators", func(o authenticator) any { return int64(o.Spec.Order) }),
				column("Type", "string", "What it looks at", func(o authenticator) any { return o.Spec.Type }),
				column("Authenticated", "integer", "Requests whose user it knew", func(o authenticator) any { return o.Status.Authenticated }),
				column("Errors", "integer", "Requests whose credentials it refused", func(o authenticator) any { return o.Status.Errors }),
				column("P99", "string", "99th percentile of the time it took", func(o authenticator) any { return Took(o.Status.Latency.P99) }),
				column("Configured-By", "string", "Flag or file that turned it on", func(o authenticator) any { return o.Spec.ConfiguredBy }),
				wide("Source", "string", "File or URL that it reads", func(o authenticator) any { return o.Spec.Source }),
				wide("No-Opinion", "integer", "Requests that held nothing for it", func(o authenticator) any { return o.Status.NoOpinion }),
			},
			Fields: map[string]func(Object) string{
				"spec.type": field(func(o authenticator) string { return o.Spec.Type }),
			},
		},
		{
			Resource: "authorizers", Singular: "authorizer", Kind: "Authorizer", ShortNames: []string{"authz"},
			New:     func() runtime.Object { return &v1alpha1.Authorizer{} },
			NewList: func() runtime.Object { return &v1alpha1.AuthorizerList{} },
			Columns: []Column{
				column("Order", "integer", "Place among all authorizers", func(o authorizer) any { return int64(o.Spec.Order) }),
				column("Type", "string", "How it decides", func(o authorizer) any { return o.Spec.Type }),
				column("Allowed", "integer", "Requests that it allowed", func(o authorizer) any { return o.Status.Allowed }),
				column("Denied", "integer", "Requests that it denied", func(o authorizer) any { return o.Status.Denied }),
				column("No-Opinion", "integer", "Requests that it left to the next", func(o authorizer) any { return o.Status.NoOpinion }),
				column("P99", "string", "99th percentile of the time it took", func(o authorizer) any { return Took(o.Status.Latency.P99) }),
				column("Configured-By", "string", "Flag or file that turned it on", func(o authorizer) any { return o.Spec.ConfiguredBy }),
				wide("Source", "string", "File or URL that it reads", func(o authorizer) any { return o.Spec.Source }),
				wide("Errors", "integer", "Requests that it could not decide", func(o authorizer) any { return o.Status.Errors }),
			},
			Fields: map[string]func(Object) string{
				"spec.type": field(func(o authorizer) string { return o.Spec.Type }),
			},
		},
		{
			Resource: "admissionplugins", Singular: "admissionplugin", Kind: "AdmissionPlugin", ShortNames: []string{"admission"},
			New:     func() runtime.Object { return &v1alpha1.AdmissionPlugin{} },
			NewList: func() runtime.Object { return &v1alpha1.AdmissionPluginList{} },
			Columns: []Column{
				column("Order", "integer", "Place among all plugins", func(o plugin) any { return int64(o.Spec.Order) }),
				column("Enabled", "boolean", "Whether the plugin runs", func(o plugin) any { return o.Spec.Enabled }),
				column("Phase", "string", "Whether it may change objects, refuse them, or both", func(o plugin) any { return phase(o.Spec) }),
				column("Admitted", "integer", "Calls that let the change pass", func(o plugin) any { return o.Status.Admitted }),
				column("Rejected", "integer", "Calls that refused it", func(o plugin) any { return o.Status.Rejected }),
				column("P99", "string", "99th percentile of the time of a call", func(o plugin) any { return Took(o.Status.Latency.P99) }),
				column("Configured-By", "string", "Flag that turned it on or off", func(o plugin) any { return o.Spec.ConfiguredBy }),
				since("Last-Rejection", "Time since it last refused a change", func(o plugin) *metav1.MicroTime { return o.Status.LastRejection }).wide(),
			},
			Fields: map[string]func(Object) string{
				"spec.enabled": field(func(o plugin) string { return toString(o.Spec.Enabled) }),
			},
		},
	}
}

func phase(spec v1alpha1.AdmissionPluginSpec) string {
	switch {
	case spec.Mutating && spec.Validating:
		return "both"
	case spec.Mutating:
		return "mutating"
	case spec.Validating:
		return "validating"
	}
	return ""
}
