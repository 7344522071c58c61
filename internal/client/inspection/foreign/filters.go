package foreign

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// The metrics of filters. Source: k8s.io/apiserver/pkg/endpoints/filterlatency,
// endpoints/filters and util/flowcontrol/metrics.
const (
	filterLatency          = "apiserver_request_filter_duration_seconds"
	authenticationAttempts = "authentication_attempts"
	authorizationAttempts  = "authorization_attempts_total"
	rejectedRequests       = "apiserver_flowcontrol_rejected_requests_total"
)

// filterDocs are the filters that upstream measures, in the order in which a
// request meets them; the metric has no order.
// Source: DefaultBuildHandlerChain in k8s.io/apiserver/pkg/server/config.go.
func filterDocs() []struct{ name, doc string } {
	return []struct{ name, doc string }{
		{"authentication", "Finds out who asks; whom it does not know is answered 401."},
		{"audit", "Writes the request to the audit log."},
		{"impersonation", "Lets who may do so act as somebody else; others are answered 403."},
		{"constrainedimpersonation", "Lets who may do so act as somebody else; others are answered 403."},
		{"priorityandfairness", "Queues requests by their priority level; what finds no place is answered 429."},
		{"authorization", "Asks the authorizers; what they do not allow is answered 403."},
	}
}

// filters finds the filters of the handler chain whose time is measured.
func (s *Server) filters(ctx context.Context, _ inspection.Query) (*finding, error) {
	metrics, err := s.metrics(ctx, filterLatency, authenticationAttempts, authorizationAttempts, rejectedRequests)
	if err != nil {
		return nil, err
	}
	f := &finding{}
	latencies := metrics.Latencies(filterLatency, "filter")
	terminated := terminations(metrics)
	for i, name := range filterOrder(latencies) {
		latency := latencies[name].Latency()
		filter := &v1alpha1.Filter{
			Spec:   v1alpha1.FilterSpec{Order: int32(i), Doc: filterDoc(name), Enabled: true},
			Status: v1alpha1.FilterStatus{Requests: latency.Count, In: latency, Terminated: terminated[name]},
		}
		filter.Name = name
		f.add(filter)
	}
	if len(f.objects) == 0 {
		f.gap(noMetric(filterLatency)+" yet", "")
	}
	const notCounted = "this server does not count it by filter"
	f.gap(notCounted, "In-Flight", "Passed-On", "Abandoned")
	f.gap("this server measures the way in only", "Back-P50", "Back-P99")
	f.emptyFor("nothing was ended by those that count it: authentication, authorization, priority and fairness", "Terminated")
	f.gap("filters that are off can't be told from those that are not measured", "Reason")
	return f, nil
}

// filterOrder is the order of the chain; filters that are not known come last.
func filterOrder(latencies map[string]*families.Distribution) []string {
	place := func(name string) int {
		docs := filterDocs()
		if i := slices.IndexFunc(docs, func(d struct{ name, doc string }) bool { return d.name == name }); i >= 0 {
			return i
		}
		return len(docs)
	}
	return slices.SortedFunc(keys(latencies), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	})
}

func filterDoc(name string) string {
	for _, one := range filterDocs() {
		if one.name == name {
			return one.doc
		}
	}
	return ""
}

// terminations are what the filters are known to have ended: each result of
// theirs leads to one status code.
func terminations(metrics families.Families) map[string][]v1alpha1.StatusCount {
	authentication := metrics.Sum(authenticationAttempts, "result")
	authorization := metrics.Sum(authorizationAttempts, "result")
	var rejected int64
	for _, count := range metrics.Sum(rejectedRequests, "reason") {
		rejected += count
	}
	ended := map[string][]v1alpha1.StatusCount{}
	for _, one := range []struct {
		filter string
		code   int32
		count  int64
	}{
		{"authentication", 401, authentication["failure"] + authentication["error"]},
		{"authorization", 403, authorization["denied"] + authorization["no-opinion"]},
		{"authorization", 500, authorization["error"]},
		{"priorityandfairness", 429, rejected},
	} {
		if one.count > 0 {
			ended[one.filter] = append(ended[one.filter], v1alpha1.StatusCount{Code: one.code, Count: one.count})
		}
	}
	return ended
}
