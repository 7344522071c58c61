package controllers

import (
	"fmt"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/workqueue" // as every server has it
)

// counting gathers, and counts how often.
type counting struct{ gathered int }

func (c *counting) Gather() ([]*dto.MetricFamily, error) {
	c.gathered++
	return legacyregistry.DefaultGatherer.Gather()
}

// Upstream's own metrics are found in its registry, and all others are gathered once
// only. Where this fails, upstream has changed the description of one of them.
func TestReaderFindsUpstreamsCollectors(t *testing.T) {
	// The registry is the process's, and keeps what an earlier run has counted.
	name := fmt.Sprint("reader_test ", time.Now().UnixNano())
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: name})
	defer queue.ShutDown()
	from := &counting{}
	r := reader{from: from, register: legacyregistry.Register}
	for n, key := range []string{"a", "b", "c"} {
		queue.Add(key)
		found, ok := r.read()
		if q := readQueues(found).of([]string{name}); !ok || q.depth != int64(n+1) {
			t.Errorf("with %d keys it reads %+v, %v", n+1, q, ok)
		}
	}
	key, _ := queue.Get()
	queue.Done(key)
	found, _ := r.read()
	if q := readQueues(found).of([]string{name}); q.depth != 2 || q.taken != 1 {
		t.Errorf("after one was taken it reads %+v", q)
	}
	if from.gathered != 1 {
		t.Errorf("all metrics were gathered %d times", from.gathered)
	}
}

// Metrics that are described otherwise are gathered each time.
func TestReaderWithoutCollectors(t *testing.T) {
	f := newFixture(t)
	f.depths.WithLabelValues("first").Set(3)
	r := reader{from: f, register: f.metrics.Register}
	for range 2 {
		if found, ok := r.read(); !ok || readQueues(found).of([]string{"first"}).depth != 3 {
			t.Errorf("it reads %v, %v", found, ok)
		}
	}
	if f.gathered != 2 {
		t.Errorf("all metrics were gathered %d times", f.gathered)
	}
}
