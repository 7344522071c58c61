package controllers

import (
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// fixture is a process with queues, and a clock.
type fixture struct {
	*Controllers

	now      time.Time
	reason   string // of the condition Running
	metrics  metrics.KubeRegistry
	depths   *metrics.GaugeVec
	retries  *metrics.CounterVec
	taken    *metrics.HistogramVec
	gathered int
}

// Gather implements metrics.Gatherer.
func (f *fixture) Gather() ([]*dto.MetricFamily, error) {
	f.gathered++
	return f.metrics.Gather()
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	label := []string{"name"}
	f := &fixture{
		now: time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC), reason: v1alpha1.ControllerRunning, metrics: metrics.NewKubeRegistry(),
		depths:  metrics.NewGaugeVec(&metrics.GaugeOpts{Name: depthMetric}, label),
		retries: metrics.NewCounterVec(&metrics.CounterOpts{Name: retriesMetric}, label),
		taken:   metrics.NewHistogramVec(&metrics.HistogramOpts{Name: takenMetric}, label),
	}
	f.metrics.MustRegister(f.depths, f.retries, f.taken)
	f.Controllers = New(Config{
		ServerID: "server", Metrics: f, Now: func() time.Time { return f.now },
		Controllers: func() []*v1alpha1.Controller {
			one := &v1alpha1.Controller{Spec: v1alpha1.ControllerSpec{Enabled: true, Queues: []string{"first", "second"}}}
			one.Name = "one"
			running := metav1.Condition{Type: v1alpha1.ConditionRunning, Status: metav1.ConditionFalse, Reason: f.reason, Message: "why"}
			if f.reason == v1alpha1.ControllerRunning {
				running.Status = metav1.ConditionTrue
			}
			one.Status.Conditions = []metav1.Condition{running}
			return []*v1alpha1.Controller{one}
		},
	})
	return f
}

// look is the controller after a while, with that many keys in its queues.
func (f *fixture) look(t *testing.T, after time.Duration, depth float64) *v1alpha1.Controller {
	t.Helper()
	f.now = f.now.Add(after)
	f.depths.WithLabelValues("first").Set(depth)
	objects, err := f.Collect(t.Context())
	if err != nil || len(objects) != 1 {
		t.Fatal(objects, err)
	}
	return one(t, objects[0])
}

func one(t *testing.T, object store.Object) *v1alpha1.Controller {
	t.Helper()
	c, ok := object.(*v1alpha1.Controller)
	if !ok {
		t.Fatalf("it is a %T", object)
	}
	return c
}

// healthy is "True", "False because", or "" where there is no condition.
func healthy(c *v1alpha1.Controller) string {
	condition := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionHealthy)
	switch {
	case condition == nil:
		return ""
	case condition.Status == metav1.ConditionTrue:
		return "True"
	}
	return string(condition.Status) + " " + condition.Reason
}

func TestQueuesAreAddedUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.depths.WithLabelValues("second").Set(4)
	f.depths.WithLabelValues("of another").Set(100)
	f.retries.WithLabelValues("first").Add(2)
	f.retries.WithLabelValues("second").Add(3)
	c := f.look(t, 0, 1)
	if c.Status.QueueDepth != 5 || c.Status.Retries != 5 || c.ServerID != "server" || healthy(c) != "True" {
		t.Errorf("it is %+v of %s", c.Status, c.ServerID)
	}
	f.look(t, readAgain/2, 1)
	if f.gathered != 1 {
		t.Errorf("metrics were gathered %d times", f.gathered)
	}
}

// A queue is stuck when it was seen for a minute not to get shorter.
func TestStuck(t *testing.T) {
	t.Parallel()
	const stuck = "False QueueNotShrinking"
	type step struct {
		after time.Duration
		depth float64
		taken int
		want  string
	}
	for name, steps := range map[string][]step{
		"grows":         {{0, 5, 0, "True"}, {40 * time.Second, 6, 3, "True"}, {30 * time.Second, 7, 3, stuck}, {time.Second, 6, 0, "True"}},
		"stands":        {{0, 5, 0, "True"}, {time.Minute, 5, 0, "True"}, {time.Second, 5, 0, stuck}, {time.Second, 0, 0, "True"}},
		"is worked on":  {{0, 5, 0, "True"}, {time.Minute, 5, 9, "True"}, {time.Minute, 5, 9, "True"}, {time.Minute, 5, 9, "True"}},
		"shrinks":       {{0, 500, 0, "True"}, {time.Minute, 400, 0, "True"}, {time.Minute, 300, 0, "True"}},
		"is empty":      {{0, 0, 0, "True"}, {time.Minute, 0, 0, "True"}, {time.Minute, 0, 0, "True"}, {time.Second, 8, 0, "True"}},
		"nobody looked": {{0, 5, 0, "True"}, {time.Hour, 5, 0, "True"}, {50 * time.Second, 5, 0, "True"}, {50 * time.Second, 5, 0, stuck}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for i, s := range steps {
				for range s.taken {
					f.taken.WithLabelValues("first").Observe(1)
				}
				if got := healthy(f.look(t, s.after, s.depth)); got != s.want {
					t.Fatalf("step %d: %q, want %q", i, got, s.want)
				}
			}
		})
	}
}

// The time of the condition is that of the change of its status.
func TestConditionTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := meta.FindStatusCondition(f.look(t, 0, 0).Status.Conditions, v1alpha1.ConditionHealthy).LastTransitionTime
	same := meta.FindStatusCondition(f.look(t, time.Minute, 0).Status.Conditions, v1alpha1.ConditionHealthy).LastTransitionTime
	if !first.Time.Equal(f.now.Add(-time.Minute)) || !same.Equal(&first) {
		t.Errorf("the times are %v and %v", first, same)
	}
	f.reason = v1alpha1.ControllerFailed
	c := f.look(t, time.Minute, 0)
	failed := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionHealthy)
	if healthy(c) != "False FailedToStart" || failed.Message != "why" || !failed.LastTransitionTime.Time.Equal(f.now) {
		t.Errorf("it is %+v", failed)
	}
}

// What another server runs is well here, and what stood in its queue when it
// was given up does not count when it comes back.
func TestTerms(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.look(t, 0, 3)
	f.reason = v1alpha1.ControllerNotLeader
	if c := f.look(t, time.Minute, 3); healthy(c) != "True" || c.Status.QueueDepth != 0 {
		t.Errorf("standing by it is %+v", c.Status)
	}
	f.reason = v1alpha1.ControllerRunning
	for range 4 {
		if c := f.look(t, time.Minute, 3); healthy(c) != "True" || c.Status.QueueDepth != 0 {
			t.Errorf("back again it is %+v", c.Status)
		}
	}
	if c := f.look(t, time.Minute, 5); c.Status.QueueDepth != 2 {
		t.Errorf("back again %d wait", c.Status.QueueDepth)
	}
}

// What is off costs nothing, and of what is to start nothing is said.
func TestOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reason = v1alpha1.ControllerNotSelected
	if c := f.look(t, 0, 3); healthy(c) != "True" || f.gathered != 0 {
		t.Errorf("it is %+v after %d gatherings", c.Status, f.gathered)
	}
	f.reason = v1alpha1.ControllerStarting
	if c := f.look(t, 0, 3); healthy(c) != "" {
		t.Errorf("starting it is %+v", c.Status)
	}
	if objects, err := New(Config{}).Collect(t.Context()); err != nil || len(objects) != 0 {
		t.Errorf("of none there are %v, %v", objects, err)
	}
}

// leadsBack is a registry with a collector that asks for the controllers.
type leadsBack struct {
	fixture *fixture
	scraped func()
}

func (l leadsBack) Gather() ([]*dto.MetricFamily, error) {
	l.scraped()
	return l.fixture.Gather()
}

// Who scrapes is collected by the registry that the queues are read from.
func TestScraped(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var during error
	f.reader.from = leadsBack{f, func() { _, during = f.Scraped(t.Context()) }}
	f.depths.WithLabelValues("first").Set(7)
	objects, err := f.Scraped(t.Context())
	if err != nil || one(t, objects[0]).Status.QueueDepth != 7 {
		t.Fatal(objects, err)
	}
	if during == nil {
		t.Error("something was told of queues that were never read")
	}
	f.now = f.now.Add(time.Minute)
	if f.look(t, 0, 8).Status.QueueDepth != 8 || during != nil {
		t.Errorf("while it was read again: %v", during)
	}
}
