package metrics

// Values of the label phase of kapi_filter_duration_seconds.
const (
	phaseIn   = "in"
	phaseBack = "back"
)

// kind is the type of a metric.
type kind int

const (
	counter kind = iota
	gauge
	duration // a histogram of seconds
)

// family is one metric.
type family struct {
	name   string
	kind   kind
	labels []string
	help   string
}

// The names, for the code that fills them; families says what they mean.
const (
	filterDuration     = "kapi_filter_duration_seconds"
	filterRequests     = "kapi_filter_requests_total"
	filterTerminations = "kapi_filter_terminations_total"
	filterAbandoned    = "kapi_filter_abandoned_requests_total"
	filterInFlight     = "kapi_filter_inflight_requests"

	layerAnswers  = "kapi_layer_answers_total"
	layerPassedOn = "kapi_layer_requests_passed_on_total" //nolint:gosec // a name; "pass" in it is no password
	layerProxied  = "kapi_layer_requests_proxied_total"
	layerInFlight = "kapi_layer_inflight_requests"

	hookDuration = "kapi_post_start_hook_duration_seconds"
	hooksByState = "kapi_post_start_hooks"
	bootDuration = "kapi_boot_step_duration_seconds"

	conditionAge = "kapi_condition_age_seconds"
	conditions   = "kapi_conditions"

	etcdSize        = "kapi_etcd_db_size_bytes"
	etcdInUse       = "kapi_etcd_db_size_in_use_bytes"
	etcdQuota       = "kapi_etcd_db_quota_bytes"
	etcdGrowth      = "kapi_etcd_db_growth_bytes_per_second"
	etcdNoSpace     = "kapi_etcd_nospace_forecast_seconds"
	etcdAlarmRaised = "kapi_etcd_alarm_raised"

	controllerEnabled = "kapi_controller_enabled"
	controllerLeader  = "kapi_controller_leader"
	controllerQueue   = "kapi_controller_queue_depth"
	controllerRetries = "kapi_controller_retries_total"
	controllerErrors  = "kapi_controller_errors_total"

	tracedRequests = "kapi_traced_requests_total"
	tracedSlow     = "kapi_traced_slow_requests_total"
	tracedFailed   = "kapi_traced_failed_requests_total"
	tracesKept     = "kapi_request_traces"
)

// families returns all metrics.
func families() []family {
	return []family{
		{filterDuration, duration, []string{"filter", "phase"}, "Own time of a filter of the handler chain, before it hands a request on (in) and after the answer (back)."},
		{filterRequests, counter, []string{"filter"}, "Requests that have entered a filter of the handler chain."},
		{filterTerminations, counter, []string{"filter", "code"}, "Requests that a filter of the handler chain has ended itself, by HTTP status code."},
		{filterAbandoned, counter, []string{"filter"}, "Requests that a filter further out has answered meanwhile, or whose connection was given up."},
		{filterInFlight, gauge, []string{"filter"}, "Requests that are in a filter of the handler chain, or further in."},

		{layerAnswers, counter, []string{"layer", "code"}, "Requests that a layer of the server chain has answered, by HTTP status code."},
		{layerPassedOn, counter, []string{"layer"}, "Requests that a layer of the server chain has passed on to its delegate."},
		{layerProxied, counter, []string{"layer"}, "Requests that a layer of the server chain has answered through an aggregated server."},
		{layerInFlight, gauge, []string{"layer"}, "Requests that are in a layer of the server chain, or further in."},

		{hookDuration, gauge, []string{"layer", "hook"}, "Time that a post-start hook has taken, or has been running."},
		{hooksByState, gauge, []string{"layer", "state"}, "Post-start hooks by state."},
		{bootDuration, gauge, []string{"component"}, "Time that a component took to be ready at this start of the process."},

		{conditionAge, gauge, []string{"kind", "name", "type", "status"}, "Time for which a condition has not been in its good state. Conditions in their good state are only in kapi_conditions, and of very many others only the oldest are here."},
		{conditions, gauge, []string{"kind", "type", "status"}, "Conditions by status."},

		{etcdSize, gauge, []string{"member"}, "Size of the database file of an etcd member."},
		{etcdInUse, gauge, []string{"member"}, "Bytes of the database file of an etcd member that hold data."},
		{etcdQuota, gauge, []string{"member"}, "Size of the database at which an etcd member refuses writes."},
		{etcdGrowth, gauge, []string{"member"}, "Growth of the data of an etcd member."},
		{etcdNoSpace, gauge, []string{"member"}, "Time until an etcd member will refuse writes if its data grows on as it does. Absent while it does not grow."},
		{etcdAlarmRaised, gauge, []string{"member", "alarm"}, "Whether an alarm of an etcd member is raised: 1 for each that is."},

		{controllerEnabled, gauge, []string{"controller"}, "Whether a controller of the process is on."},
		{controllerLeader, gauge, []string{"controller"}, "Whether this server is the one that runs a controller. Only of those that are on."},
		{controllerQueue, gauge, []string{"controller"}, "Keys that wait in the work queues of a controller."},
		{controllerRetries, counter, []string{"controller"}, "Keys that were put back into the work queues of a controller."},
		{controllerErrors, counter, []string{"controller"}, "Errors that a controller has reported."},

		{tracedRequests, counter, nil, "Requests that were traced."},
		{tracedSlow, counter, nil, "Traced requests that were slow."},
		{tracedFailed, counter, nil, "Traced requests that have failed."},
		{tracesKept, gauge, nil, "Request traces that are kept."},
	}
}

// Names returns the names of all metrics. Some have no series until there is
// something to tell, as those of alarms.
func Names() []string {
	all := families()
	names := make([]string, 0, len(all))
	for _, f := range all {
		names = append(names, f.name)
	}
	return names
}
