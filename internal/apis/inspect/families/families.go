// Package families reads the metrics of an API server in the terms of
// inspect.kapi.dev. Where they come from is the caller's: a registry of this
// process, or the text of another one's /metrics. It may import the types and
// Prometheus' client model.
package families

import (
	"math"
	"time"

	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Families are metrics by the name of their family.
type Families map[string][]*dto.Metric

// Of returns gathered families by name.
func Of(gathered []*dto.MetricFamily) Families {
	f := make(Families, len(gathered))
	for _, family := range gathered {
		f[family.GetName()] = family.GetMetric()
	}
	return f
}

// Label returns the value of a label, empty if there is none.
func Label(metric *dto.Metric, name string) string {
	for _, pair := range metric.GetLabel() {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}

// Value returns the value of a gauge or a counter.
func Value(metric *dto.Metric) float64 {
	switch {
	case metric.Gauge != nil:
		return metric.GetGauge().GetValue()
	case metric.Untyped != nil:
		return metric.GetUntyped().GetValue()
	}
	return metric.GetCounter().GetValue()
}

// Sum adds up the metrics of a family by the value of a label.
func (f Families) Sum(family, by string) map[string]int64 {
	sums := map[string]int64{}
	for _, metric := range f[family] {
		sums[Label(metric, by)] += int64(Value(metric))
	}
	return sums
}

// Latencies adds up the histograms of a family by the value of a label.
func (f Families) Latencies(family, by string) map[string]*Distribution {
	sums := map[string]*Distribution{}
	for _, metric := range f[family] {
		key := Label(metric, by)
		if sums[key] == nil {
			sums[key] = &Distribution{}
		}
		sums[key].Add(metric.GetHistogram())
	}
	return sums
}

// Distribution adds up Prometheus histograms of durations in seconds that have the
// same buckets. The zero value has none.
type Distribution struct {
	bounds []float64
	counts []float64 // cumulative, one for each bound
	total  uint64
}

// Add adds a histogram.
func (d *Distribution) Add(histogram *dto.Histogram) {
	if d.bounds == nil {
		for _, bucket := range histogram.GetBucket() {
			if !math.IsInf(bucket.GetUpperBound(), 1) {
				d.bounds = append(d.bounds, bucket.GetUpperBound())
			}
		}
		d.counts = make([]float64, len(d.bounds))
	}
	for i, bucket := range histogram.GetBucket() {
		if i < len(d.counts) {
			d.counts[i] += float64(bucket.GetCumulativeCount())
		}
	}
	d.total += histogram.GetSampleCount()
}

// Latency sums up. A quantile is interpolated in its bucket, so it is as exact as
// the buckets are narrow; the maximum is the bound of the highest bucket that is
// not empty. Of nothing it is zero.
func (d *Distribution) Latency() v1alpha1.Latency {
	if d == nil {
		return v1alpha1.Latency{}
	}
	return v1alpha1.Latency{
		Count: int64(d.total),
		P50:   d.quantile(0.5), P90: d.quantile(0.9), P99: d.quantile(0.99), Max: d.quantile(1),
	}
}

func (d *Distribution) quantile(q float64) metav1.Duration {
	if d.total == 0 || len(d.bounds) == 0 {
		return metav1.Duration{}
	}
	rank := q * float64(d.total)
	low, below := 0.0, 0.0
	for i, bound := range d.bounds {
		if d.counts[i] >= rank {
			share := 1.0
			if d.counts[i] > below {
				share = (rank - below) / (d.counts[i] - below)
			}
			return seconds(low + share*(bound-low))
		}
		low, below = bound, d.counts[i]
	}
	return seconds(low) // of what is beyond the last bound nothing else is known
}

func seconds(s float64) metav1.Duration {
	return metav1.Duration{Duration: time.Duration(s * float64(time.Second)).Round(time.Microsecond)}
}
