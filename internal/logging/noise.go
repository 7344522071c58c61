package logging

// KnownNoise returns the demotions that are in force by default: lines of a
// normal start or stop that sound like trouble and are none, and those about a
// client's mistake, which the client is told and which print what it has sent.
// Each row needs a reason, and goes when the line has gone upstream.
func KnownNoise() []Demotion {
	return []Demotion{
		{ComponentKube, "because it has no resources.", "a version without enabled resources is skipped, as configured (genericapiserver.go)"},
		{ComponentKube, "The manifest file is empty, ignoring.", "--allow-metric-labels-manifest was not given (component-base/metrics/options.go)"},
		{ComponentKube, "Found stale data, removed previous endpoints", "said after each removal that worked, also of nothing (kubernetesservice/controller.go)"},
		{ComponentKube, "Failed to ensure lease exists, will retry", "the identity lease is tried before namespace kube-system exists (component-helpers/lease)"},
		{ComponentKube, "Unable to remove peer endpoint leases", "a first start has no lease to remove (peerreconcilers)"},
		{ComponentKube, "Error while syncing ConfigMap", "token tracking is tried before namespace kube-system exists (legacytokentracking)"},
		{ComponentKube, "Terminating all watchers from cacher", "a CRD was changed or deleted, and the watches of its objects end (apiserver/pkg/storage/cacher)"},
		{ComponentKube, "Failed to encode watch event", "a watch whose client has gone (apiserver/pkg/endpoints/handlers/watch.go)"},
		{ComponentKube, "failed to sync with latest state", "a watch whose client has gone, or the server stops (apiserver/pkg/storage/etcd3/watcher.go)"},
		{ComponentKube, "failed to fetch openapi paths", "asked while the server stops (mutating admission policy's type converter)"},
		{ComponentKube, "Couldn't parse request", "a client's selector or number that is none, which it gets 400 for (endpoints/request/requestinfo.go)"},
		{ComponentKube, "Failed to convert options while estimating work for the list request", "the same, a second time (flowcontrol/request/list_work_estimator.go)"},
		{ComponentKube, "). Error: context canceled", "a volume was being made for a claim when the server stopped (util/goroutinemap)"},
		{ComponentKube, "Unable to record event (will not retry!)", "a controller had something to say when it was told to stop (client-go/tools/record)"},
		{ComponentKube, "Unable to write event (broadcaster is shut down)", "the same, a moment later"},
		{ComponentKube, "invalid timeout specified in the request URL", "a client's duration that is none, which it gets 400 for (endpoints/filters/request_deadline.go)"},
	}
}
