package resources

import (
	"math"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// gathered are the metrics of this process. Gathering takes milliseconds, so what
// was gathered is used for a moment.
type gathered struct {
	from metrics.Gatherer
	now  func() time.Time

	lock     sync.Mutex
	until    time.Time
	families map[string][]*dto.Metric
}

// get returns the metrics by the name of their family. What some collector could
// not tell is left out: the others are still right.
func (g *gathered) get() map[string][]*dto.Metric {
	if g.from == nil {
		return nil
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.now().Before(g.until) {
		return g.families
	}
	families, err := g.from.Gather()
	if err != nil && len(families) == 0 {
		return g.families
	}
	g.families = make(map[string][]*dto.Metric, len(families))
	for _, family := range families {
		g.families[family.GetName()] = family.GetMetric()
	}
	g.until = g.now().Add(askAgain)
	return g.families
}

// label returns the value of a label, empty if there is none.
func label(metric *dto.Metric, name string) string {
	for _, pair := range metric.GetLabel() {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}

// value returns the value of a gauge or a counter.
func value(metric *dto.Metric) float64 {
	if metric.Gauge != nil {
		return metric.Gauge.GetValue()
	}
	return metric.Counter.GetValue()
}

// distribution adds up Prometheus histograms that have the same buckets.
type distribution struct {
	bounds []float64
	counts []uint64 // cumulative, one for each bound
	total  uint64
}

func (d *distribution) add(histogram *dto.Histogram) {
	if d.bounds == nil {
		for _, bucket := range histogram.GetBucket() {
			if !math.IsInf(bucket.GetUpperBound(), 1) {
				d.bounds = append(d.bounds, bucket.GetUpperBound())
			}
		}
		d.counts = make([]uint64, len(d.bounds))
	}
	for i, bucket := range histogram.GetBucket() {
		if i < len(d.counts) {
			d.counts[i] += bucket.GetCumulativeCount()
		}
	}
	d.total += histogram.GetSampleCount()
}

// latency sums up. A quantile is interpolated in its bucket, so it is as exact as
// the buckets are narrow; the maximum is the bound of the highest bucket that is
// not empty.
func (d *distribution) latency() v1alpha1.Latency {
	return v1alpha1.Latency{
		Count: int64(d.total), P50: d.quantile(0.5), P90: d.quantile(0.9), P99: d.quantile(0.99), Max: d.quantile(1),
	}
}

func (d *distribution) quantile(q float64) metav1.Duration {
	if d.total == 0 || len(d.bounds) == 0 {
		return metav1.Duration{}
	}
	rank := q * float64(d.total)
	var low float64
	var below uint64
	for i, bound := range d.bounds {
		if count := d.counts[i]; float64(count) >= rank {
			share := 1.0
			if count > below {
				share = (rank - float64(below)) / float64(count-below)
			}
			return seconds(low + share*(bound-low))
		}
		low, below = bound, d.counts[i]
	}
	return seconds(d.bounds[len(d.bounds)-1]) // beyond the last bound nothing is known
}

func seconds(s float64) metav1.Duration {
	return metav1.Duration{Duration: time.Duration(s * float64(time.Second)).Round(time.Microsecond)}
}
