package requests

import (
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/handlerchain"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Filters collects the Filters of the handler chain, outermost first; none before
// NewChain was called.
func (o *Observer) Filters(context.Context) ([]store.Object, error) {
	observed := o.chain.Load()
	if observed == nil {
		return nil, nil
	}
	stats := observed.chain.Stats()
	objects := make([]store.Object, 0, len(stats))
	for i, filter := range observed.chain.Filters() {
		object := &v1alpha1.Filter{ServerID: o.cfg.ServerID, Status: filterStatus(&stats[i])}
		object.Name = filter.Name
		object.Spec = v1alpha1.FilterSpec{Order: int32(i), Doc: filter.Doc, Enabled: filter.Enabled, Reason: filter.Reason}
		objects = append(objects, object)
	}
	return objects, nil
}

func filterStatus(stats *handlerchain.Stats) v1alpha1.FilterStatus {
	status := v1alpha1.FilterStatus{
		Requests: stats.Requests, InFlight: stats.InFlight, PassedOn: stats.PassedOn, Abandoned: stats.Abandoned,
		In: latency(&stats.In), Back: latency(&stats.Back),
	}
	for _, code := range slices.Sorted(maps.Keys(stats.Terminated)) {
		status.Terminated = append(status.Terminated, v1alpha1.StatusCount{Code: int32(code), Count: stats.Terminated[code]})
	}
	return status
}

// distribution is what a histogram's snapshot tells.
type distribution interface {
	Count() int64
	Quantile(q float64) time.Duration
	Max() time.Duration
}

func latency(d distribution) v1alpha1.Latency {
	at := func(q float64) metav1.Duration { return metav1.Duration{Duration: d.Quantile(q)} }
	return v1alpha1.Latency{
		Count: d.Count(), P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: metav1.Duration{Duration: d.Max()},
	}
}
