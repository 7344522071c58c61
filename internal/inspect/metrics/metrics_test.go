package metrics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/histogram"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

func objects(all ...store.Object) store.Collect {
	return func(context.Context) ([]store.Object, error) { return all, nil }
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

// everything is a server in which each metric has a value.
func everything() Sources {
	var in, back histogram.Snapshot
	for _, d := range []time.Duration{500 * time.Nanosecond, 3 * time.Microsecond, time.Millisecond, 90 * time.Second} {
		in.Add(d)
	}
	back.Add(time.Microsecond)
	past, future := metav1.NewMicroTime(time.Now().Add(-time.Minute)), metav1.NewMicroTime(time.Now().Add(time.Hour))
	hook := func(name string, state inspect.RunState, took time.Duration) *inspect.PostStartHook {
		h := &inspect.PostStartHook{ObjectMeta: named(name), Spec: inspect.PostStartHookSpec{Layer: "aggregator"}}
		h.Status.State, h.Status.Duration.Duration = state, took
		if state != inspect.RunPending {
			h.Status.StartedAt = &past
		}
		return h
	}
	step := func(boot int64, component string, took time.Duration) *inspect.BootStep {
		s := &inspect.BootStep{ObjectMeta: named(component), Spec: inspect.BootStepSpec{Boot: boot, Component: component}}
		s.Status.State, s.Status.Duration.Duration = inspect.RunDone, took
		return s
	}
	return Sources{
		Filters: func() []Filter {
			return []Filter{{
				Name: "authorization", Requests: 10, InFlight: 1, Abandoned: 2,
				Terminated: map[int]int64{403: 5, 500: 1}, In: in, Back: back,
			}}
		},
		Layers: objects(&inspect.ServerLayer{ObjectMeta: named("aggregator"), Status: inspect.ServerLayerStatus{
			RequestsPassedOn: 7, RequestsProxied: 2, RequestsInFlight: 3, Answers: []inspect.StatusCount{{Code: 200, Count: 4}, {Code: 503, Count: 1}},
		}}),
		Hooks:     objects(hook("a", inspect.RunDone, 2*time.Second), hook("b", inspect.RunPending, 0), hook("c", inspect.RunDone, time.Second)),
		BootSteps: objects(step(12, "etcd", 3*time.Second), step(11, "etcd", time.Second), step(11, "gone", time.Second)),
		Conditions: func() []Condition {
			return []Condition{
				{"APIService", "v1.apps", "Available", "True", true, past.Time},
				{"APIService", "v1.foo", "Available", "False", false, past.Time},
			}
		},
		EtcdMembers: objects(&inspect.EtcdMember{ObjectMeta: named("default"), Status: inspect.EtcdMemberStatus{
			DBSize: 100, DBSizeInUse: 60, Quota: 1000, BytesPerHour: 18_000, NoSpaceAt: &future, Alarms: []string{"NOSPACE"},
		}}),
		Controllers: objects(
			&inspect.Controller{
				ObjectMeta: named("namespace"), Spec: inspect.ControllerSpec{Enabled: true},
				Status: inspect.ControllerStatus{Leader: true, QueueDepth: 5, Retries: 6, Errors: 7},
			},
			&inspect.Controller{ObjectMeta: named("job")},
		),
		Traces: func() Traces { return Traces{100, 3, 4, 50} },
	}
}

// gather returns all of our values as "name{label=value,...}" → value; of a
// histogram its count, its sum, and its buckets.
func gather(t *testing.T, gatherer metrics.Gatherer) map[string]float64 {
	t.Helper()
	families, err := gatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "kapi_") {
			continue
		}
		if !strings.HasPrefix(f.GetHelp(), "[ALPHA] ") {
			t.Errorf("%s has no stability: %q", f.GetName(), f.GetHelp())
		}
		for _, m := range f.GetMetric() {
			add(values, f, m)
		}
	}
	return values
}

func add(values map[string]float64, f *dto.MetricFamily, m *dto.Metric) {
	var labels []string
	for _, l := range m.GetLabel() {
		labels = append(labels, l.GetName()+"="+l.GetValue())
	}
	key := f.GetName() + "{" + strings.Join(labels, ",") + "}"
	switch {
	case m.GetCounter() != nil:
		values[key] = m.GetCounter().GetValue()
	case m.GetGauge() != nil:
		values[key] = m.GetGauge().GetValue()
	case m.GetHistogram() != nil:
		values[key+" count"] = float64(m.GetHistogram().GetSampleCount())
		values[key+" sum"] = m.GetHistogram().GetSampleSum()
		for _, b := range m.GetHistogram().GetBucket() {
			values[fmt.Sprintf("%s le %.3g", key, b.GetUpperBound())] = float64(b.GetCumulativeCount())
		}
	}
}

// TestValues reads every metric from a registry of component-base's.
func TestValues(t *testing.T) {
	t.Parallel()
	registry := metrics.NewKubeRegistry()
	release, err := Register(registry.CustomRegister, everything())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	values := gather(t, registry)
	for key, want := range map[string]float64{
		"kapi_filter_duration_seconds{filter=authorization,phase=in} count":       4,
		"kapi_filter_duration_seconds{filter=authorization,phase=in} sum":         90.0010035,
		"kapi_filter_duration_seconds{filter=authorization,phase=in} le 1.02e-06": 1,
		"kapi_filter_duration_seconds{filter=authorization,phase=in} le 4.1e-06":  2,
		"kapi_filter_duration_seconds{filter=authorization,phase=in} le 0.00105":  3,
		"kapi_filter_duration_seconds{filter=authorization,phase=in} le 68.7":     3,
		"kapi_filter_duration_seconds{filter=authorization,phase=back} count":     1,
		"kapi_filter_requests_total{filter=authorization}":                        10,
		"kapi_filter_terminations_total{code=403,filter=authorization}":           5,
		"kapi_filter_terminations_total{code=500,filter=authorization}":           1,
		"kapi_filter_abandoned_requests_total{filter=authorization}":              2,
		"kapi_filter_inflight_requests{filter=authorization}":                     1,
		"kapi_layer_answers_total{code=200,layer=aggregator}":                     4,
		"kapi_layer_answers_total{code=503,layer=aggregator}":                     1,
		"kapi_layer_requests_passed_on_total{layer=aggregator}":                   7,
		"kapi_layer_requests_proxied_total{layer=aggregator}":                     2,
		"kapi_layer_inflight_requests{layer=aggregator}":                          3,
		"kapi_post_start_hook_duration_seconds{hook=a,layer=aggregator}":          2,
		"kapi_post_start_hooks{layer=aggregator,state=Done}":                      2,
		"kapi_post_start_hooks{layer=aggregator,state=Pending}":                   1,
		"kapi_boot_step_duration_seconds{component=etcd}":                         3,
		"kapi_conditions{kind=APIService,status=True,type=Available}":             1,
		"kapi_conditions{kind=APIService,status=False,type=Available}":            1,
		"kapi_etcd_db_size_bytes{member=default}":                                 100,
		"kapi_etcd_db_size_in_use_bytes{member=default}":                          60,
		"kapi_etcd_db_quota_bytes{member=default}":                                1000,
		"kapi_etcd_db_growth_bytes_per_second{member=default}":                    5,
		"kapi_etcd_alarm_raised{alarm=NOSPACE,member=default}":                    1,
		"kapi_controller_enabled{controller=namespace}":                           1,
		"kapi_controller_enabled{controller=job}":                                 0,
		"kapi_controller_leader{controller=namespace}":                            1,
		"kapi_controller_queue_depth{controller=namespace}":                       5,
		"kapi_controller_retries_total{controller=namespace}":                     6,
		"kapi_controller_errors_total{controller=namespace}":                      7,
		"kapi_traced_requests_total{}":                                            100,
		"kapi_traced_slow_requests_total{}":                                       3,
		"kapi_traced_failed_requests_total{}":                                     4,
		"kapi_request_traces{}":                                                   50,
	} {
		if got, ok := values[key]; !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v (there: %v), want %v", key, got, ok, want)
		}
	}
	age := values["kapi_condition_age_seconds{kind=APIService,name=v1.foo,status=False,type=Available}"]
	if age < 60 || age > 3600 {
		t.Errorf("a condition of a minute ago has age %v s", age)
	}
	left := values["kapi_etcd_nospace_forecast_seconds{member=default}"]
	if left <= 0 || left > 3600 {
		t.Errorf("an hour is %v s", left)
	}
	for _, key := range []string{
		"kapi_post_start_hook_duration_seconds{hook=b,layer=aggregator}", "kapi_boot_step_duration_seconds{component=gone}",
		"kapi_condition_age_seconds{kind=APIService,name=v1.apps,status=True,type=Available}",
		"kapi_controller_queue_depth{controller=job}",
	} {
		if _, ok := values[key]; ok {
			t.Errorf("%s is there", key)
		}
	}
	for _, name := range Names() {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(values)), func(key string) bool { return strings.HasPrefix(key, name+"{") }) {
			t.Errorf("%s has no value", name)
		}
	}
	buckets := 0
	for key := range values {
		if strings.HasPrefix(key, "kapi_filter_duration_seconds{filter=authorization,phase=in} le ") {
			buckets++
		}
	}
	if buckets != 14 {
		t.Errorf("a histogram has %d bounds, want 14", buckets)
	}
}

// TestLint asks Prometheus's own linter.
func TestLint(t *testing.T) {
	t.Parallel()
	registry := metrics.NewKubeRegistry()
	if _, err := Register(registry.CustomRegister, everything()); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestRegisterTwice: several servers in a process are no error, the last one is
// shown, and when it ends the one before. It is the process's own registry.
func TestRegisterTwice(t *testing.T) {
	requests := func(n int64) Sources {
		return Sources{Traces: func() Traces { return Traces{Requests: n} }}
	}
	var releases []func()
	for n := range int64(3) {
		release, err := Register(legacyregistry.CustomRegister, requests(n))
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	shown := func() (float64, bool) {
		value, ok := gather(t, legacyregistry.DefaultGatherer)["kapi_traced_requests_total{}"]
		return value, ok
	}
	for _, step := range []struct {
		release int
		want    float64
	}{{-1, 2}, {1, 2}, {2, 0}} {
		if step.release >= 0 {
			releases[step.release]()
		}
		if got, ok := shown(); !ok || got != step.want {
			t.Errorf("after the release of %d: %v (there: %v), want %v", step.release, got, ok, step.want)
		}
	}
	releases[0]()
	if got, ok := shown(); ok {
		t.Errorf("when all have ended there is %v", got)
	}
}

// TestGatherInside: a source that reads the registry itself comes back to the
// collector, and that ends.
func TestGatherInside(t *testing.T) {
	t.Parallel()
	registry := metrics.NewKubeRegistry()
	inside := 0
	_, err := Register(registry.CustomRegister, Sources{
		Layers: func(context.Context) ([]store.Object, error) {
			inside++
			_, err := registry.Gather()
			return nil, err
		},
		Traces: func() Traces { return Traces{Requests: 1} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := gather(t, registry)["kapi_traced_requests_total{}"]; got != 1 || inside != 1 {
		t.Errorf("requests: %v, after %d collections", got, inside)
	}
}

// TestManyReaders: readers at the same time all get the values, also the first ones.
func TestManyReaders(t *testing.T) {
	t.Parallel()
	registry := metrics.NewKubeRegistry()
	if _, err := Register(registry.CustomRegister, everything()); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			if families, err := registry.Gather(); err != nil || len(families) != len(Names()) {
				t.Errorf("%d families, %v", len(families), err)
			}
		})
	}
	readers.Wait()
}

// TestNameTaken: somebody else's collector of the same names is told, not shown.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	_, err := Register(func(metrics.StableCollector) error { return errors.New("full") }, Sources{})
	if err == nil || !strings.Contains(err.Error(), "registering metrics: full") {
		t.Errorf("Register: %v", err)
	}
}

// TestBadSources: a source that fails or says nonsense takes nothing but itself away.
func TestBadSources(t *testing.T) {
	t.Parallel()
	registry := metrics.NewKubeRegistry()
	sources := everything()
	sources.Layers = func(context.Context) ([]store.Object, error) { return nil, errors.New("no") }
	sources.Hooks = objects(&inspect.BootStep{})
	sources.Filters = func() []Filter { return []Filter{{Name: "not \xff text", Requests: 1}} }
	sources.EtcdMembers = objects(&inspect.EtcdMember{ObjectMeta: named("gone"), Status: inspect.EtcdMemberStatus{Error: "no answer"}})
	if _, err := Register(registry.CustomRegister, sources); err != nil {
		t.Fatal(err)
	}
	values := gather(t, registry)
	if values["kapi_traced_requests_total{}"] != 100 {
		t.Error("a good source is missing")
	}
	for key := range values {
		for _, bad := range []string{"kapi_layer", "kapi_post_start", "kapi_filter", "kapi_etcd"} {
			if strings.HasPrefix(key, bad) {
				t.Errorf("%s comes from a bad source", key)
			}
		}
	}
}

// TestManyConditions: the number of series is bounded, and the oldest are shown.
func TestManyConditions(t *testing.T) {
	t.Parallel()
	registry := metrics.NewKubeRegistry()
	begin := time.Now().Add(-24 * time.Hour)
	_, err := Register(registry.CustomRegister, Sources{Conditions: func() []Condition {
		var all []Condition
		for i := range 10_000 {
			all = append(all, Condition{"CustomResourceDefinition", fmt.Sprintf("crd-%05d", i), "Established", "False", false, begin.Add(time.Duration(i) * time.Second)})
		}
		slices.Reverse(all)
		return all
	}})
	if err != nil {
		t.Fatal(err)
	}
	values := gather(t, registry)
	if len(values) != maxConditions+1 {
		t.Errorf("%d series", len(values))
	}
	if values["kapi_conditions{kind=CustomResourceDefinition,status=False,type=Established}"] != 10_000 {
		t.Error("the count is not complete")
	}
	if _, ok := values["kapi_condition_age_seconds{kind=CustomResourceDefinition,name=crd-00000,status=False,type=Established}"]; !ok {
		t.Error("the oldest is missing")
	}
}
