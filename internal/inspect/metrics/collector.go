package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/component-base/metrics"
)

// Registry is the part of component-base's registries that Register needs;
// legacyregistry has it as the function CustomRegister.
type Registry func(metrics.StableCollector) error

// Register makes /metrics show what comes from sources, until release is called. A
// process has one set of these metrics: with several servers in it, as in tests, it
// is that of the one that was registered last.
func Register(registry Registry, sources Sources) (release func(), err error) {
	collector := newCollector()
	existing := prometheus.AlreadyRegisteredError{}
	err = registry(collector)
	if errors.As(err, &existing) {
		before, ok := existing.ExistingCollector.(*Collector)
		if !ok {
			return nil, fmt.Errorf("registering metrics: their names are taken by a %T", existing.ExistingCollector)
		}
		collector, err = before, nil
	}
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return collector.add(&sources), nil
}

// Collector is a Prometheus collector of all metrics of this package.
//
// Some sources read other metrics out of the registry that this collector is in, so
// collecting may lead back here: while a collection runs, whoever else asks gets the
// values of the one before.
type Collector struct {
	metrics.BaseStableCollector

	kinds  map[string]kind
	stable map[string]*metrics.Desc
	// raw are those of histograms, which component-base has no constant ones of.
	raw map[string]*prometheus.Desc

	mu      sync.Mutex
	sources []*Sources // the last one is shown
	values  []metrics.Metric
	taken   time.Time     // when values were collected; zero when there are none of sources
	running chan struct{} // closed at the end of the collection that runs; nil when none does
}

func newCollector() *Collector {
	c := &Collector{kinds: map[string]kind{}, stable: map[string]*metrics.Desc{}, raw: map[string]*prometheus.Desc{}}
	for _, f := range families() {
		c.kinds[f.name] = f.kind
		c.stable[f.name] = metrics.NewDesc(f.name, f.help, f.labels, nil, metrics.ALPHA, "")
		if f.kind == duration {
			// As component-base writes it.
			help := fmt.Sprintf("[%s] %s", metrics.ALPHA, f.help)
			c.raw[f.name] = prometheus.NewDesc(f.name, help, f.labels, nil)
		}
	}
	return c
}

func (c *Collector) add(sources *Sources) (release func()) {
	c.change(func() { c.sources = append(c.sources, sources) })
	return func() {
		c.change(func() {
			c.sources = slices.DeleteFunc(c.sources, func(s *Sources) bool { return s == sources })
		})
	}
}

// change changes the sources; what was collected of others counts no more.
func (c *Collector) change(sources func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sources()
	c.values, c.taken = nil, time.Time{}
}

// DescribeWithStability implements metrics.StableCollector.
func (c *Collector) DescribeWithStability(descriptions chan<- *metrics.Desc) {
	for _, f := range families() {
		descriptions <- c.stable[f.name]
	}
}

const (
	// collectTimeout is how long all sources together may take. They read memory,
	// but for an etcd that is not embedded.
	collectTimeout = 3 * time.Second
	// reuseFor is how old values may be: other collectors gather all metrics twice a
	// second while somebody watches, and don't look at these.
	reuseFor = 500 * time.Millisecond
	// firstWait is how long the first collection is waited for by others, as there
	// are no values yet. It is short, since one of them may be part of it.
	firstWait = 200 * time.Millisecond
)

// CollectWithStability implements metrics.StableCollector.
func (c *Collector) CollectWithStability(values chan<- metrics.Metric) {
	for _, value := range c.current() {
		values <- value
	}
}

// current returns values that are new enough, or the last there are while somebody
// else collects new ones.
func (c *Collector) current() []metrics.Metric {
	c.mu.Lock()
	values, known, running := c.values, !c.taken.IsZero(), c.running
	if known && time.Since(c.taken) < reuseFor || len(c.sources) == 0 {
		c.mu.Unlock()
		return values
	}
	if running == nil {
		done := make(chan struct{})
		c.running = done
		sources := c.sources[len(c.sources)-1]
		c.mu.Unlock()
		return c.collect(sources, done)
	}
	c.mu.Unlock()
	if known {
		return values
	}
	timer := time.NewTimer(firstWait)
	defer timer.Stop()
	select {
	case <-running:
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values
}

// collect is one collection.
func (c *Collector) collect(sources *Sources, done chan<- struct{}) []metrics.Metric {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	out := &output{collector: c}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.sources) > 0 && c.sources[len(c.sources)-1] == sources {
			c.values, c.taken = out.values, time.Now()
		}
		c.running = nil
		close(done)
	}()
	for _, collect := range []func(context.Context, *output, *Sources){
		collectFilters, collectLayers, collectHooks, collectBoot, collectConditions, collectEtcd, collectControllers, collectTraces,
	} {
		collect(ctx, out, sources)
	}
	return out.values
}

// output takes values.
type output struct {
	collector *Collector
	values    []metrics.Metric
}

// value takes a counter or a gauge. One that can't be shown, because of a label that
// is not text, is left out: the others are worth having.
func (o *output) value(name string, value float64, labels ...string) {
	kind := metrics.GaugeValue
	if o.collector.kinds[name] == counter {
		kind = metrics.CounterValue
	}
	if metric, err := metrics.NewConstMetric(o.collector.stable[name], kind, value, labels...); err == nil && metric != nil {
		o.values = append(o.values, metric)
	}
}

// durations takes a histogram.
func (o *output) durations(name string, h snapshot, labels ...string) {
	bounds := map[float64]uint64{}
	i := 0
	for bound, count := range h.Buckets() {
		if i++; i%boundStep == 1 {
			bounds[bound.Seconds()] = uint64(max(count, 0))
		}
	}
	metric, err := prometheus.NewConstHistogram(o.collector.raw[name], uint64(max(h.Count(), 0)), h.Sum().Seconds(), bounds, labels...)
	if err == nil {
		o.values = append(o.values, metric)
	}
}

// boundStep thins out the bounds of a histogram: from 27 doublings to 14, each four
// times the one before, from a microsecond to more than a minute.
const boundStep = 2
