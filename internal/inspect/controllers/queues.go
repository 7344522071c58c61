package controllers

import (
	dto "github.com/prometheus/client_model/go"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
)

// The metrics of work queues, by the label name.
// Source: k8s.io/component-base/metrics/prometheus/workqueue.
const (
	depthMetric   = "workqueue_depth"
	retriesMetric = "workqueue_retries_total"
	// takenMetric is a histogram whose count is of keys that a worker took.
	takenMetric = "workqueue_queue_duration_seconds"
	nameLabel   = "name"
)

// queue is what one work queue has counted, or several of them together.
type queue struct{ depth, retries, taken int64 }

// queues are those of the process, by name.
type queues map[string]queue

func readQueues(all families.Families) queues {
	read := queues{}
	for family, set := range map[string]func(*queue, *dto.Metric){
		depthMetric:   func(q *queue, m *dto.Metric) { q.depth = int64(families.Value(m)) },
		retriesMetric: func(q *queue, m *dto.Metric) { q.retries = int64(families.Value(m)) },
		takenMetric:   func(q *queue, m *dto.Metric) { q.taken = int64(m.GetHistogram().GetSampleCount()) },
	} {
		for _, metric := range all[family] {
			name := families.Label(metric, nameLabel)
			q := read[name]
			set(&q, metric)
			read[name] = q
		}
	}
	return read
}

// of adds up the queues of a controller.
func (all queues) of(names []string) queue {
	var sum queue
	for _, name := range names {
		q := all[name]
		sum.depth, sum.retries, sum.taken = sum.depth+q.depth, sum.retries+q.retries, sum.taken+q.taken
	}
	return sum
}
