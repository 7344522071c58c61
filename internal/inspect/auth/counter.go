package auth

import (
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/histogram"
)

// counter counts the decisions of one part, each in exactly one class. It is
// written by many goroutines.
type counter struct {
	yes, no, none, failed atomic.Int64
	latency               histogram.Histogram
}

// latencyOf sums up a histogram for an object.
func latencyOf(h *histogram.Histogram) v1alpha1.Latency {
	s := h.Snapshot()
	quantile := func(q float64) metav1.Duration { return metav1.Duration{Duration: s.Quantile(q)} }
	return v1alpha1.Latency{
		Count: s.Count(), P50: quantile(0.5), P90: quantile(0.9), P99: quantile(0.99),
		Max: metav1.Duration{Duration: s.Max()},
	}
}

func (c *counter) since(start time.Time) { c.latency.Record(time.Since(start)) }

// objectName makes a name that may stand in a path.
func objectName(name string) string {
	return strings.NewReplacer("/", "-", "%", "-", ":", "-").Replace(name)
}
