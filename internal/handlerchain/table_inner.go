package handlerchain

import (
	"net/http"

	"k8s.io/apiserver/pkg/endpoints/filterlatency"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/filters/impersonation"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	flowcontrolrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"
)

// tracked puts upstream's clock around a filter: its own time on the way in is in
// apiserver_request_filter_duration_seconds under this name, and a span of a trace.
func (t table) tracked(name string, wrap func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return filterlatency.TrackStarted(wrap(filterlatency.TrackCompleted(h)), t.c.TracerProvider, name)
	}
}

// identity is who asks, from where, and as whom.
func (t table) identity() []Filter {
	c := t.c
	return []Filter{
		{
			Name: "cors",
			Doc: "Lets pages of the allowed origins read answers. Answers the browser's question in advance (OPTIONS) " +
				"with 204.",
			Enabled: len(c.CorsAllowedOriginList) > 0,
			Reason:  "--cors-allowed-origins is empty",
			Wrap: func(h http.Handler) http.Handler {
				return genericfilters.WithCORS(h, c.CorsAllowedOriginList, nil, nil, nil, "true")
			},
			builder: builder{constructor: "WithCORS"},
			always:  true,
		},
		{
			Name: "authentication",
			Doc: "Finds out who asks: client certificate, token, front proxy, or nobody (anonymous). " +
				"Answers 401 when what was presented is not valid.",
			Enabled: c.Authentication.Authenticator != nil,
			Reason:  "no authenticator is configured",
			Wrap:    t.tracked("authentication", t.authentication),
			builder: builder{
				constructor: "WithAuthentication", latency: "authentication",
				failed: []string{"Unauthorized", "WithFailedAuthenticationAudit", "TrackCompleted"},
			},
			always: true,
		},
		{
			Name: "tracing",
			Doc: "Starts or continues a trace of OpenTelemetry, and passes its context on even where none is exported. " +
				"Ends no request.",
			Enabled: true,
			Wrap:    func(h http.Handler) http.Handler { return genericapifilters.WithTracing(h, c.TracerProvider) },
			builder: builder{constructor: "WithTracing"},
		},
		{
			Name: "audit",
			Doc: "Writes what the audit policy asks for: when the request came, when the answer began, when it ended. " +
				"Answers 500 when an event that must be written cannot be.",
			Enabled: c.AuditBackend != nil && c.AuditPolicyRuleEvaluator != nil,
			Reason:  "no audit backend is configured: --audit-policy-file, with --audit-log-path or --audit-webhook-config-file",
			Wrap: t.tracked("audit", func(h http.Handler) http.Handler {
				return genericapifilters.WithAudit(h, c.AuditBackend, c.AuditPolicyRuleEvaluator, c.LongRunningFunc)
			}),
			builder: builder{constructor: "WithAudit", latency: "audit"},
			always:  true,
		},
		{
			Name: "constrained-impersonation",
			Doc: "Lets a caller act as somebody else, if it may impersonate that identity and may do this very action for it. " +
				"Answers 403 when it may not.",
			Enabled: t.constrained,
			Reason:  "the feature gate ConstrainedImpersonation is off: the filter impersonation stands here",
			Wrap: t.tracked("constrainedimpersonation", func(h http.Handler) http.Handler {
				return impersonation.WithConstrainedImpersonation(h, c.Authorization.Authorizer, c.Serializer)
			}),
			builder: builder{
				constructor: "WithConstrainedImpersonation", latency: "constrainedimpersonation",
				when: "c.FeatureGate.Enabled(genericfeatures.ConstrainedImpersonation)",
			},
		},
		{
			Name: "impersonation",
			Doc: "Lets a caller act as somebody else, if it may impersonate that user, group or service account. " +
				"Answers 403 when it may not.",
			Enabled: !t.constrained,
			Reason:  "the feature gate ConstrainedImpersonation is on: the filter constrained-impersonation stands here",
			Wrap: t.tracked("impersonation", func(h http.Handler) http.Handler {
				return impersonation.WithImpersonation(h, c.Authorization.Authorizer, c.Serializer)
			}),
			builder: builder{
				constructor: "WithImpersonation", latency: "impersonation",
				when: "!(c.FeatureGate.Enabled(genericfeatures.ConstrainedImpersonation))",
			},
		},
	}
}

// authentication includes the handler for requests that fail it: these are audited
// although they never reach the filter audit.
func (t table) authentication(h http.Handler) http.Handler {
	c := t.c
	failed := genericapifilters.Unauthorized(c.Serializer)
	failed = genericapifilters.WithFailedAuthenticationAudit(failed, c.AuditBackend, c.AuditPolicyRuleEvaluator)
	failed = filterlatency.TrackCompleted(failed)
	return genericapifilters.WithAuthentication(h, c.Authentication.Authenticator, failed,
		c.Authentication.APIAudiences, c.Authentication.RequestHeaderConfig)
}

// admission is whether the server has room for the request, whether the caller may,
// and whether this server is the one to answer.
func (t table) admission() []Filter {
	c := t.c
	fair := c.FlowControl != nil
	limited := c.MaxRequestsInFlight != 0 || c.MaxMutatingRequestsInFlight != 0
	noLimit := "--enable-priority-and-fairness is on: the filter priority-and-fairness stands here"
	if !fair {
		noLimit = "--max-requests-inflight and --max-mutating-requests-inflight are 0"
	}
	return []Filter{
		{
			Name: "priority-and-fairness",
			Doc: "Sorts requests by flow schema into priority levels with a share of the seats each, and queues what has to wait. " +
				"Answers 429 when the queue is full or the wait too long.",
			Enabled: fair,
			Reason:  "--enable-priority-and-fairness is off: the filter max-in-flight stands here",
			Wrap:    t.tracked("priorityandfairness", t.priorityAndFairness),
			builder: builder{constructor: "WithPriorityAndFairness", latency: "priorityandfairness", when: "c.FlowControl != nil"},
		},
		{
			Name: "max-in-flight",
			Doc: "Limits how many requests are served at once, reading and writing ones apart. " +
				"Answers 429 above the limit, but not to system:masters.",
			Enabled: !fair && limited,
			Reason:  noLimit,
			Wrap: func(h http.Handler) http.Handler {
				return genericfilters.WithMaxInFlightLimit(h, c.MaxRequestsInFlight, c.MaxMutatingRequestsInFlight, c.LongRunningFunc)
			},
			builder: builder{constructor: "WithMaxInFlightLimit", when: "!(c.FlowControl != nil)"},
		},
		{
			Name: "authorization",
			Doc: "Asks the configured authorizers in order whether the caller may do this. " +
				"Answers 403 when none allows it, 500 when they cannot tell.",
			Enabled: c.Authorization.Authorizer != nil,
			Reason:  "no authorizer is configured (--authorization-mode)",
			Wrap: t.tracked("authorization", func(h http.Handler) http.Handler {
				return genericapifilters.WithAuthorization(h, c.Authorization.Authorizer, c.Serializer)
			}),
			builder: builder{constructor: "WithAuthorization", latency: "authorization"},
			always:  true,
		},
		{
			Name: "storage-version-precondition",
			Doc: "Holds back writes of built-in resources until the versions that this server stores are registered. " +
				"Answers 503 until then.",
			Enabled: t.o.StorageVersionPrecondition && c.StorageVersionManager != nil,
			Reason:  "the feature gates StorageVersionAPI and APIServerIdentity are not both on",
			Wrap: func(h http.Handler) http.Handler {
				return genericapifilters.WithStorageVersionPrecondition(h, c.StorageVersionManager, c.Serializer)
			},
			builder: builder{
				constructor: "WithStorageVersionPrecondition",
				when: "utilfeature.DefaultFeatureGate.Enabled(genericfeatures.StorageVersionAPI) && " +
					"utilfeature.DefaultFeatureGate.Enabled(genericfeatures.APIServerIdentity)",
			},
		},
		{
			Name: "peer-proxy",
			Doc: "Hands a request for a resource that only another server of the cluster knows to that server, and returns its answer. " +
				"Answers 503 when that server cannot be found or reached.",
			Enabled: t.o.PeerProxy != nil,
			Reason:  "the feature gate UnknownVersionInteroperabilityProxy is off, or --peer-ca-file is not given",
			Wrap:    func(h http.Handler) http.Handler { return t.o.PeerProxy.WrapHandler(h) },
			builder: builder{constructor: "WrapHandler", when: "peerProxy != nil"},
		},
	}
}

func (t table) priorityAndFairness(h http.Handler) http.Handler {
	c := t.c
	estimator := flowcontrolrequest.NewWorkEstimator(c.StorageObjectCountTracker.Get, c.FlowControl.GetInterestedWatchCount,
		flowcontrolrequest.DefaultWorkEstimatorConfig(), c.FlowControl.GetMaxSeats)
	// A request waits at most a quarter of its time, so that some is left to serve it.
	return genericfilters.WithPriorityAndFairness(h, c.LongRunningFunc, c.FlowControl, estimator, c.RequestTimeout/4)
}
