package inspect

import (
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	componentmetrics "k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/kapi-dev/kapi/internal/inspect/metrics"
)

// troubles are the condition types that are wanted to be False; all others are
// wanted to be True.
var troubles = map[string]bool{
	string(apiextensionsv1.NonStructuralSchema): true,
	string(apiextensionsv1.Terminating):         true,

	string(corev1.NamespaceDeletionDiscoveryFailure): true,
	string(corev1.NamespaceDeletionGVParsingFailure): true,
	string(corev1.NamespaceDeletionContentFailure):   true,
	string(corev1.NamespaceContentRemaining):         true,
	string(corev1.NamespaceFinalizersRemaining):      true,
}

// register makes /metrics show what the tables do, until release is called.
func (i *Inspector) register(b *built) (release func(), err error) {
	sources := metrics.Sources{
		Hooks:       i.cfg.Start.Hooks.Collect,
		BootSteps:   i.cfg.Start.Boots.Collect,
		EtcdMembers: b.resources.EtcdMembers,
		Controllers: b.controllers.Scraped,
		Conditions:  b.conditionMetrics,
	}
	if i.cfg.Observe { // what is not counted has no series
		sources.Filters, sources.Layers, sources.Traces = i.filterMetrics, i.requests.Layers, i.traceMetrics
	}
	return metrics.Register(onlyUpstreams, sources)
}

// onlyUpstreams registers a collector in upstream's registry, which /metrics shows,
// and not in Prometheus' default one too, as upstream does: etcd's metrics are read
// from there on behalf of this collector, which would wait for itself.
func onlyUpstreams(collector componentmetrics.StableCollector) error {
	err := legacyregistry.CustomRegister(collector)
	prometheus.Unregister(collector)
	return err
}

func (i *Inspector) filterMetrics() []metrics.Filter {
	chain := i.chain.Load()
	if chain == nil {
		return nil
	}
	filters, stats := chain.Filters(), chain.Stats()
	var all []metrics.Filter
	for n, filter := range filters {
		if !filter.Enabled {
			continue
		}
		s := stats[n]
		all = append(all, metrics.Filter{
			Name: filter.Name, Requests: s.Requests, InFlight: s.InFlight, Abandoned: s.Abandoned,
			Terminated: s.Terminated, In: s.In, Back: s.Back,
		})
	}
	return all
}

func (b *built) conditionMetrics() []metrics.Condition {
	var all []metrics.Condition
	for _, c := range b.transitions.Current() {
		wanted := "True"
		if troubles[c.Type] {
			wanted = "False"
		}
		all = append(all, metrics.Condition{
			Kind: c.Kind, Name: c.Name, Type: c.Type, Status: c.Status, Good: c.Status == wanted, Since: c.Since,
		})
	}
	return all
}

func (i *Inspector) traceMetrics() metrics.Traces {
	totals := i.requests.Totals()
	return metrics.Traces{
		Requests: totals.Received - totals.InFlight, Slow: totals.Slow, Failed: totals.Failed, Kept: int64(i.requests.Traces().Len()),
	}
}
