package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics/testutil"

	"github.com/kapi-dev/kapi/configs"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/metrics"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// silent are metrics without a series as long as there is nothing to tell.
var silent = []string{
	"kapi_etcd_nospace_forecast_seconds", "kapi_etcd_alarm_raised", "kapi_condition_age_seconds",
}

// TestMetrics holds /metrics of a running server against the objects, against the
// dashboard, and against the conventions.
func TestMetrics(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t)
	const secret = "unheard-of"
	for _, request := range []raw{
		{method: "GET", path: "/api/v1/namespaces", anonymous: true, header: map[string]string{"Authorization": "Bearer " + secret}},
		{method: "GET", path: "/api/v1/secrets?token=" + secret, as: secret},
		{method: "GET", path: "/apis/" + secret},
		{method: "GET", path: "/" + secret},
		{method: "GET", path: "/api/v1/namespaces?timeout=soon"},
		{method: "POST", path: "/api/v1/namespaces/default/configmaps", body: `{"metadata":{"name":"metrics"}}`},
	} {
		request.send(t, server.Config(t))
	}
	exposition := scrape(t, server)
	t.Run("names", func(t *testing.T) {
		expected := slices.DeleteFunc(metrics.Names(), func(name string) bool { return slices.Contains(silent, name) })
		for i, name := range expected {
			if name == "kapi_filter_duration_seconds" {
				expected[i] = name + "_bucket"
			}
		}
		if missing := configs.MissingMetrics(expected, exposition); len(missing) > 0 {
			t.Errorf("a server has no %q", missing)
		}
		panels, err := configs.DashboardMetrics()
		if err != nil {
			t.Fatal(err)
		}
		missing := slices.DeleteFunc(configs.MissingMetrics(panels, exposition), func(name string) bool { return slices.Contains(silent, name) })
		if len(missing) > 0 {
			t.Errorf("the dashboard reads %q, which a server does not have", missing)
		}
	})
	t.Run("conventions", func(t *testing.T) {
		problems, err := promlint.New(strings.NewReader(ownMetrics(exposition))).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("%+v, %v", problems, err)
		}
	})
	t.Run("labels", func(t *testing.T) {
		if i := strings.Index(string(exposition), secret); i >= 0 {
			t.Errorf("what a client has sent is a label: %s", string(exposition[max(0, i-200):i+50]))
		}
		allowed := []string{"__name__", "le", "filter", "phase", "code", "layer", "hook", "state", "component", "kind", "name", "type", "status", "member", "alarm", "controller"}
		for name, samples := range parse(t, exposition) {
			for _, sample := range samples {
				for label, value := range sample.Metric {
					if strings.HasPrefix(name, "kapi_") && (!slices.Contains(allowed, string(label)) || strings.ContainsAny(string(value), "/?")) {
						t.Errorf("%s has the label %s=%q", name, label, value)
					}
				}
			}
		}
	})
	t.Run("values", func(t *testing.T) { valuesAgree(t, server) })
}

func scrape(t testing.TB, server *kapitest.Server) []byte {
	t.Helper()
	code, body, _ := get(t, server.Config(t), "/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics answers %d: %s", code, body)
	}
	return []byte(body)
}

func parse(t testing.TB, exposition []byte) testutil.Metrics {
	t.Helper()
	parsed := testutil.NewMetrics()
	if err := testutil.ParseMetrics(string(exposition), &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

// ownMetrics leaves out what is not kapi's own.
func ownMetrics(exposition []byte) string {
	var own strings.Builder
	for line := range strings.Lines(string(exposition)) {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		if strings.HasPrefix(name, "kapi_") {
			own.WriteString(line)
		}
	}
	return own.String()
}

// told is one number of an object, under the name and labels of its metric.
type told map[string]float64

func key(name string, labels ...string) string { return name + " " + strings.Join(labels, " ") }

// counted reads all that only grows out of the objects.
func counted(ctx context.Context, l lid) (told, error) {
	numbers := told{}
	filters, err := listAll[v1alpha1.Filter](ctx, l, "filters", metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, filter := range filters {
		if !filter.Spec.Enabled {
			continue
		}
		status := filter.Status
		numbers[key("kapi_filter_requests_total", filter.Name)] = float64(status.Requests)
		numbers[key("kapi_filter_abandoned_requests_total", filter.Name)] = float64(status.Abandoned)
		numbers[key("kapi_filter_duration_seconds_count", filter.Name, "in")] = float64(status.In.Count)
		numbers[key("kapi_filter_duration_seconds_count", filter.Name, "back")] = float64(status.Back.Count)
		for _, count := range status.Terminated {
			numbers[key("kapi_filter_terminations_total", filter.Name, strconv.Itoa(int(count.Code)))] = float64(count.Count)
		}
	}
	layers, err := listAll[v1alpha1.ServerLayer](ctx, l, "serverlayers", metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, layer := range layers {
		numbers[key("kapi_layer_requests_passed_on_total", layer.Name)] = float64(layer.Status.RequestsPassedOn)
		numbers[key("kapi_layer_requests_proxied_total", layer.Name)] = float64(layer.Status.RequestsProxied)
		for _, count := range layer.Status.Answers {
			numbers[key("kapi_layer_answers_total", layer.Name, strconv.Itoa(int(count.Code)))] = float64(count.Count)
		}
	}
	hooks, err := listAll[v1alpha1.PostStartHook](ctx, l, "poststarthooks", metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, hook := range hooks {
		numbers[key("kapi_post_start_hook_duration_seconds", hook.Spec.Layer, hook.Name)] = hook.Status.Duration.Seconds()
		numbers[key("kapi_post_start_hooks", hook.Spec.Layer, string(hook.Status.State))]++
	}
	steps, err := listAll[v1alpha1.BootStep](ctx, l, "bootsteps", metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		numbers[key("kapi_boot_step_duration_seconds", step.Spec.Component)] = step.Status.Duration.Seconds()
	}
	return numbers, nil
}

// valuesAgree reads /metrics between two looks at the objects: each number is
// between theirs, and both have the same series.
func valuesAgree(t *testing.T, server *kapitest.Server) {
	l := newLid(t, server.Config(t))
	labels := map[string][]string{
		"kapi_filter_requests_total": {"filter"}, "kapi_filter_abandoned_requests_total": {"filter"},
		"kapi_filter_duration_seconds_count": {"filter", "phase"}, "kapi_filter_terminations_total": {"filter", "code"},
		"kapi_layer_requests_passed_on_total": {"layer"}, "kapi_layer_requests_proxied_total": {"layer"},
		"kapi_layer_answers_total":              {"layer", "code"},
		"kapi_post_start_hook_duration_seconds": {"layer", "hook"}, "kapi_post_start_hooks": {"layer", "state"},
		"kapi_boot_step_duration_seconds": {"component"},
	}
	// The values of /metrics may be half a second old, so that the first look may come after them.
	eventually(t, func(ctx context.Context) error {
		before, err := counted(ctx, l)
		if err != nil {
			return err
		}
		exposed := told{}
		parsed := parse(t, scrape(t, server))
		for name, names := range labels {
			for _, sample := range parsed[name] {
				values := make([]string, 0, len(names))
				for _, label := range names {
					for labelName, value := range sample.Metric {
						if string(labelName) == label {
							values = append(values, string(value))
						}
					}
				}
				exposed[key(name, values...)] = float64(sample.Value)
			}
		}
		after, err := counted(ctx, l)
		if err != nil {
			return err
		}
		for series, value := range exposed {
			if least, most := before[series], after[series]; value < least || value > most {
				return fmt.Errorf("%s is %v in /metrics, and %v to %v in the objects", series, value, least, most)
			}
		}
		for series := range before {
			if _, ok := exposed[series]; !ok {
				return fmt.Errorf("%s is not in /metrics", series)
			}
		}
		return nil
	})
}
