package foreign

import (
	"math"
	"time"

	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// distribution adds up Prometheus histograms of durations in seconds that have
// the same buckets. The zero value has none.
type distribution struct {
	bounds []float64
	counts []float64 // cumulative, one for each bound
	total  uint64
}

func (d *distribution) add(histogram *dto.Histogram) {
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

// latency sums up. A quantile is interpolated in its bucket; the maximum is the
// bound of the highest bucket that is not empty.
func (d *distribution) latency() v1alpha1.Latency {
	if d == nil {
		return v1alpha1.Latency{}
	}
	return v1alpha1.Latency{
		Count: int64(d.total), P50: d.quantile(0.5), P90: d.quantile(0.9), P99: d.quantile(0.99), Max: d.quantile(1),
	}
}

func (d *distribution) quantile(q float64) metav1.Duration {
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
