package controllers

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
)

// reader reads the metrics of work queues. A registry has some ten thousand series,
// and these are a few hundred of them: the first time all are gathered, and then only
// these are collected. Upstream keeps the three collectors to itself, but a registry
// that is offered a metric it has says which it has. Where that does not work, because
// a description has changed, all are gathered each time.
type reader struct {
	from     metrics.Gatherer
	register func(metrics.Registerable) error

	looked     bool
	collectors map[string]prometheus.Collector
}

// read returns the families of work queues; false if nothing can be told.
func (r *reader) read() (families.Families, bool) {
	if len(r.collectors) > 0 {
		found := families.Families{}
		for name, collector := range r.collectors {
			found[name] = collect(collector)
		}
		return found, true
	}
	// What some collector could not tell is left out: the others are still right.
	all, err := r.from.Gather()
	if err != nil && len(all) == 0 {
		return nil, false
	}
	found := families.Of(all)
	if !r.looked && r.register != nil && len(found[depthMetric]) > 0 {
		r.looked, r.collectors = true, registered(r.register)
	}
	return found, true
}

// registered finds the collectors of the three families; nil unless it finds them all.
// It must be called only when they are registered: what is offered is as good as
// registered otherwise.
func registered(register func(metrics.Registerable) error) map[string]prometheus.Collector {
	label := []string{nameLabel}
	found := map[string]prometheus.Collector{}
	for name, offered := range map[string]metrics.Registerable{
		depthMetric: metrics.NewGaugeVec(&metrics.GaugeOpts{
			Name: depthMetric, StabilityLevel: metrics.BETA, Help: "Current depth of workqueue",
		}, label),
		retriesMetric: metrics.NewCounterVec(&metrics.CounterOpts{
			Name: retriesMetric, StabilityLevel: metrics.BETA, Help: "Total number of retries handled by workqueue",
		}, label),
		takenMetric: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Name: takenMetric, StabilityLevel: metrics.BETA, Help: "How long in seconds an item stays in workqueue before being requested.",
		}, label),
	} {
		existing := prometheus.AlreadyRegisteredError{}
		if !errors.As(register(offered), &existing) {
			return nil
		}
		found[name] = existing.ExistingCollector
	}
	return found
}

// collect returns the metrics of one collector.
func collect(collector prometheus.Collector) []*dto.Metric {
	values := make(chan prometheus.Metric)
	go func() {
		defer close(values)
		collector.Collect(values)
	}()
	var all []*dto.Metric
	for value := range values {
		metric := &dto.Metric{}
		if value.Write(metric) == nil {
			all = append(all, metric)
		}
	}
	return all
}
