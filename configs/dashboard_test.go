package configs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestMetricNames(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string][]string{
		``:                              nil,
		`up`:                            {"up"},
		`a:b_c1`:                        {"a:b_c1"},
		`rate(a_total[5m])`:             {"a_total"},
		`rate(a_total{x="y"}[5m:1m])`:   {"a_total"},
		`rate (a_total[$__range])`:      {"a_total"},
		`sum by (le, verb) (a)`:         {"a"},
		`sum(a) by (le)`:                {"a"},
		`SUM BY(x)(a)`:                  {"a"},
		`sum without () (a)`:            {"a"},
		`topk(10, a)`:                   {"a"},
		`topk by (x) ($n, a)`:           {"a"},
		`a / on (x) group_left (y) b`:   {"a", "b"},
		`a * ignoring(x) group_right b`: {"a", "b"},
		`a and b or c unless d`:         {"a", "b", "c", "d"},
		`a > bool b`:                    {"a", "b"},
		`a offset 5m + b offset -1h30m`: {"a", "b"},
		`a @ start() + b @ 1609746000`:  {"a", "b"},
		`a - a`:                         {"a"},
		`-a + 1e3 - 0x1f * Inf - NaN`:   {"a"},
		`a > .5`:                        {"a"},
		`a{x="b{c} d(e)", y=~"f|g"}`:    {"a"},
		`a{x="quoted \" b"} + c`:        {"a", "c"},
		"a{x=`b\\`} + c":                {"a", "c"},
		`a{x='b'} + c`:                  {"a", "c"},
		`{__name__="a", x="b"}`:         {"a"},
		`{__name__=~"a.*"}`:             nil,
		`{x="y", __name__="a"}`:         {"a"},
		`{"a.b", x="y"}`:                {"a.b"},
		`{"a"}`:                         {"a"},
		`{"quoted label"="y", "a"}`:     {"a"},
		`a{x=~"$v", y="${w:regex}"}`:    {"a"},
		`a{$filters}`:                   {"a"},
		`a[[v]]`:                        {"a"},
		`$metric + ${metric} + a`:       {"a"},
		"a # + b\n+ c":                  {"a", "c"},
		`label_replace(a, "x", "$1", "y", "(b)")`:                               {"a"},
		`count_values("version", a)`:                                            {"a"},
		`absent(a) or vector(0)`:                                                {"a"},
		`time() - process_start_time_seconds`:                                   {"process_start_time_seconds"},
		`histogram_quantile(0.99, sum by (le) (rate(a_bucket{i=~"$i"}[$__r])))`: {"a_bucket"},
		`by_the_way + on_call`:                                                  {"by_the_way", "on_call"},
	} {
		got, err := metricNames(expression)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("metricNames(%s) = %q, %v, want %q", expression, got, err, want)
		}
	}
	for _, broken := range []string{`a{x="y"`, `a{x="y`, `rate(a[5m)`, `sum by (x`, `"`, `a[[v]`} {
		if got, err := metricNames(broken); err == nil {
			t.Errorf("metricNames(%s) = %q, and it does not end", broken, got)
		}
	}
}

func TestVariableExpression(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		`label_values(a{x="y", z="w"}, instance)`: `a{x="y", z="w"}`,
		`label_values(instance)`:                  ``,
		`query_result(sum(a))`:                    `sum(a)`,
		`a`:                                       `a`,
	} {
		if got := variableExpression(query); got != want {
			t.Errorf("variableExpression(%s) = %q, want %q", query, got, want)
		}
	}
}

func TestMissingMetrics(t *testing.T) {
	t.Parallel()
	exposition := "# HELP gone x\n# TYPE gone counter\na_total 1\nb_bucket{le=\"1\"} 2\nb_sum 0.5 1700000000\n\n"
	got := MissingMetrics([]string{"a_total", "b_bucket", "b_sum", "b", "gone", "le"}, []byte(exposition))
	if want := []string{"b", "gone", "le"}; !slices.Equal(got, want) {
		t.Errorf("missing %q, want %q", got, want)
	}
}

// TestDashboard holds what Grafana needs to take the dashboard, and that nothing of
// the machine on which it was made is in it. That its metrics exist is shown with a
// running server, by the end-to-end tests.
func TestDashboard(t *testing.T) {
	t.Parallel()
	type place struct{ H, W, X, Y int }
	var board struct {
		Title, UID    string
		SchemaVersion int
		Panels        []struct {
			ID                       int
			Type, Title, Description string
			GridPos                  place
			Datasource               struct{ Type, UID string }
			Targets                  []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(dashboard, &board); err != nil {
		t.Fatal(err)
	}
	if board.Title == "" || board.UID == "" || board.SchemaVersion == 0 || strings.Contains(string(dashboard), "localhost") {
		t.Errorf("title %q, uid %q, schema %d", board.Title, board.UID, board.SchemaVersion)
	}
	ids, taken, shown := map[int]bool{}, map[place]string{}, 0
	for _, p := range board.Panels {
		if ids[p.ID] || p.ID == 0 {
			t.Errorf("%s: id %d is taken", p.Title, p.ID)
		}
		ids[p.ID] = true
		if p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s: %+v is wider than the screen", p.Title, p.GridPos)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[place{X: x, Y: y}]; other != "" {
					t.Fatalf("%s lies on %s", p.Title, other)
				}
				taken[place{X: x, Y: y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		shown++
		if p.Description == "" || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("%s: description %q, data source %+v, %d expressions", p.Title, p.Description, p.Datasource, len(p.Targets))
		}
		for _, target := range p.Targets {
			if !strings.Contains(target.Expr, `instance=~"$instance"`) {
				t.Errorf("%s: %s does not heed the chosen server", p.Title, target.Expr)
			}
		}
	}
	if shown < 12 {
		t.Errorf("the dashboard has %d panels", shown)
	}

	names, err := DashboardMetrics()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"apiserver_request_total", "apiserver_request_duration_seconds_bucket", "etcd_request_duration_seconds_bucket",
		"kapi_filter_terminations_total", "kapi_layer_answers_total", "kapi_etcd_nospace_forecast_seconds", "process_start_time_seconds",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("the dashboard does not read %s", want)
		}
	}
	for _, name := range names {
		if !strings.Contains(name, "_") || promqlWords[name] {
			t.Errorf("%s is no metric", name)
		}
	}
}
