package handlerchain

import (
	"net/http"

	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/routine"
)

// arrival is what gives a request its identity in logs and metrics, before anything
// can refuse it.
func (t table) arrival() []Filter {
	c := t.c
	return []Filter{
		{
			Name:    "audit-init",
			Doc:     "Gives the request an audit ID, or takes the caller's, and sends it back in a header. Ends no request.",
			Enabled: true,
			Wrap:    genericapifilters.WithAuditInit,
			builder: builder{constructor: "WithAuditInit"},
		},
		{
			Name: "panic-recovery",
			Doc: "Catches what panics further in, logs it and answers 500, if nothing was answered yet. " +
				"A handler that aborts its connection on purpose is let through without an answer.",
			Enabled: true,
			Wrap:    func(h http.Handler) http.Handler { return genericfilters.WithPanicRecovery(h, c.RequestInfoResolver) },
			builder: builder{constructor: "WithPanicRecovery"},
		},
		{
			Name: "mux-and-discovery-complete",
			Doc: "Marks requests that came before all paths were installed, so that a path not found is answered " +
				"503 instead of 404. Ends no request itself.",
			Enabled: true,
			Wrap: func(h http.Handler) http.Handler {
				return genericapifilters.WithMuxAndDiscoveryComplete(h, t.o.MuxAndDiscoveryComplete)
			},
			builder: builder{constructor: "WithMuxAndDiscoveryComplete"},
		},
		{
			Name:    "request-received-timestamp",
			Doc:     "Notes when the request arrived; deadlines, audit and latencies count from then. Ends no request.",
			Enabled: true,
			Wrap:    genericapifilters.WithRequestReceivedTimestamp,
			builder: builder{constructor: "WithRequestReceivedTimestamp"},
		},
		{
			Name: "request-info",
			Doc: "Reads verb, group, version, resource, namespace and name from method and path. " +
				"Answers 500 when it cannot make sense of them.",
			Enabled: true,
			Wrap:    func(h http.Handler) http.Handler { return genericapifilters.WithRequestInfo(h, c.RequestInfoResolver) },
			builder: builder{constructor: "WithRequestInfo"},
		},
		{
			Name: "routine",
			Doc: "Prepares a long-running request in a goroutine of its own and serves it here, so that a watch does not " +
				"keep the stack of its preparation. Ends no request.",
			Enabled: t.routine,
			Reason:  "the feature gate APIServingWithRoutine is off",
			Wrap:    func(h http.Handler) http.Handler { return routine.WithRoutine(h, c.LongRunningFunc) },
			builder: builder{constructor: "WithRoutine", when: "c.FeatureGate.Enabled(genericfeatures.APIServingWithRoutine)"},
			defers:  true,
		},
		{
			Name:    "latency-trackers",
			Doc:     "Attaches the clocks that split a request's time into authentication, admission, storage and more. Ends no request.",
			Enabled: true,
			Wrap:    genericapifilters.WithLatencyTrackers,
			builder: builder{constructor: "WithLatencyTrackers"},
		},
		{
			Name:    "http-logging",
			Doc:     "Writes one line of log a request from verbosity 3 on, and the stack of those that failed. Ends no request.",
			Enabled: true,
			Wrap:    genericfilters.WithHTTPLogging,
			builder: builder{constructor: "WithHTTPLogging"},
		},
	}
}

// shutdown is what keeps requests and the end of the server apart, and what is set
// on every answer on the way.
func (t table) shutdown() []Filter {
	c := t.c
	return []Filter{
		{
			Name: "retry-after",
			Doc: "Answers 429 with Retry-After and closes the connection once the server takes no new requests. " +
				"Health checks, metrics and the server's own requests still pass.",
			Enabled: c.ShutdownSendRetryAfter,
			Reason:  "--shutdown-send-retry-after is off",
			Wrap:    func(h http.Handler) http.Handler { return genericfilters.WithRetryAfter(h, t.o.NotAcceptingNewRequest) },
			builder: builder{constructor: "WithRetryAfter", when: "c.ShutdownSendRetryAfter"},
		},
		{
			Name:    "hsts",
			Doc:     "Tells browsers to come back over HTTPS only (Strict-Transport-Security). Ends no request.",
			Enabled: len(c.HSTSDirectives) > 0,
			Reason:  "--strict-transport-security-directives is empty",
			Wrap:    func(h http.Handler) http.Handler { return genericfilters.WithHSTS(h, c.HSTSDirectives) },
			builder: builder{constructor: "WithHSTS"},
			always:  true,
		},
		{
			Name:    "cache-control",
			Doc:     "Forbids caches to keep the answer, as it depends on who asks. Ends no request.",
			Enabled: true,
			Wrap:    genericapifilters.WithCacheControl,
			builder: builder{constructor: "WithCacheControl"},
		},
		{
			Name: "goaway",
			Doc: "Closes the HTTP/2 connection of a request chosen at random after its answer, so that clients spread " +
				"over several servers again. Ends no request.",
			Enabled: c.SecureServing != nil && !c.SecureServing.DisableHTTP2 && c.GoawayChance > 0,
			Reason:  "--goaway-chance is 0, or HTTP/2 is off (--disable-http2-serving)",
			Wrap:    func(h http.Handler) http.Handler { return genericfilters.WithProbabilisticGoaway(h, c.GoawayChance) },
			builder: builder{
				constructor: "WithProbabilisticGoaway",
				when:        "c.SecureServing != nil && !c.SecureServing.DisableHTTP2 && c.GoawayChance > 0",
			},
		},
		{
			Name: "watch-termination",
			Doc: "Counts watches, and tells them to end when the server shuts down. Answers 503 to a watch that comes " +
				"after that.",
			Enabled: c.ShutdownWatchTerminationGracePeriod > 0,
			Reason:  "--shutdown-watch-termination-grace-period is 0",
			Wrap: func(h http.Handler) http.Handler {
				return genericfilters.WithWatchTerminationDuringShutdown(h, t.shuttingDown(), c.WatchRequestWaitGroup)
			},
			builder: builder{constructor: "WithWatchTerminationDuringShutdown", when: "c.ShutdownWatchTerminationGracePeriod > 0"},
		},
		{
			Name: "wait-group",
			Doc: "Counts requests that are not long-running, so that a stop can wait for them. Answers 503 to a request " +
				"that comes after the wait began.",
			Enabled: true,
			Wrap: func(h http.Handler) http.Handler {
				return genericfilters.WithWaitGroup(h, c.LongRunningFunc, c.NonLongRunningRequestWaitGroup)
			},
			builder: builder{constructor: "WithWaitGroup"},
		},
		{
			Name: "request-deadline",
			Doc: "Sets the deadline of a request that is not long-running: its timeout parameter, at most --request-timeout. " +
				"Answers 400 when the parameter is no duration.",
			Enabled: true,
			Wrap: func(h http.Handler) http.Handler {
				return genericapifilters.WithRequestDeadline(h, c.AuditBackend, c.AuditPolicyRuleEvaluator,
					c.LongRunningFunc, c.Serializer, c.RequestTimeout)
			},
			builder: builder{constructor: "WithRequestDeadline"},
		},
		{
			Name: "timeout",
			Doc: "Serves a request that is not long-running in a goroutine of its own. Answers 504 when the deadline is over " +
				"or the client is gone; if an answer was begun, it aborts the connection.",
			Enabled: true,
			Wrap: func(h http.Handler) http.Handler {
				return genericfilters.WithTimeoutForNonLongRunningRequests(h, c.LongRunningFunc)
			},
			builder:  builder{constructor: "WithTimeoutForNonLongRunningRequests"},
			detaches: true,
		},
		{
			Name:    "warning-recorder",
			Doc:     "Collects the warnings that the answer carries as headers, such as for deprecated versions. Ends no request.",
			Enabled: true,
			Wrap:    genericapifilters.WithWarningRecorder,
			builder: builder{constructor: "WithWarningRecorder"},
		},
	}
}

// shutdownSignal is what a watch asks for the end of the server.
type shutdownSignal <-chan struct{}

// ShuttingDown returns the channel that is closed when watches have to end.
func (s shutdownSignal) ShuttingDown() <-chan struct{} { return s }

func (t table) shuttingDown() shutdownSignal {
	if t.o.ShuttingDown == nil {
		return shutdownSignal(t.o.NotAcceptingNewRequest)
	}
	return shutdownSignal(t.o.ShuttingDown)
}
