package foreign

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
)

const text = `# HELP a_seconds A.
# TYPE a_seconds histogram
a_seconds_bucket{filter="x",le="0.1"} 10
a_seconds_bucket{filter="x",le="0.2"} 20
a_seconds_bucket{filter="x",le="+Inf"} 20
a_seconds_sum{filter="x"} 2
a_seconds_count{filter="x"} 20
# HELP a_seconds_other B.
# TYPE a_seconds_other counter
a_seconds_other{filter="x"} 7
# HELP b_total C.
# TYPE b_total counter
b_total{code="200"} 3
b_total{code="200"} 4
b_total{code="500"} 1e3
# TYPE plain gauge
plain 12.5
`

func TestParseMetrics(t *testing.T) {
	got, err := parseMetrics(strings.NewReader(text), []string{"a_seconds", "b_total", "plain", "absent"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got["a_seconds_other"] != nil {
		t.Errorf("got families %v", sortedKeys(got))
	}
	if families.Value(got["plain"][0]) != 12.5 {
		t.Errorf("plain is %v", got["plain"])
	}
	if sums := got.Sum("b_total", "code"); sums["200"] != 7 || sums["500"] != 1000 {
		t.Errorf("the sums are %v", sums)
	}
	latency := got.Latencies("a_seconds", "filter")["x"].Latency()
	if latency.Count != 20 || latency.P50.Duration != 100*time.Millisecond || latency.P90.Duration != 180*time.Millisecond || latency.Max.Duration != 200*time.Millisecond {
		t.Errorf("the latency is %+v", latency)
	}
	if none := (*families.Distribution)(nil).Latency(); none.Count != 0 {
		t.Errorf("nothing has the latency %+v", none)
	}
}

func TestParseMetricsInAnotherForm(t *testing.T) {
	for _, body := range []string{"", "<html></html>", "# TYPE plain gauge\nplain {\n"} {
		if _, err := parseMetrics(strings.NewReader(body), []string{"plain"}); !errors.Is(err, errFormat) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestFailedAt(t *testing.T) {
	for message, want := range map[string]string{
		`failing or missing response from https://10.0.0.1:443/apis/a/v1: bad status from https://10.0.0.1:443/apis/a/v1: 403`:              "status",
		`failing or missing response from https://10.0.0.1:443/apis/a/v1: Get "https://10.0.0.1": dial tcp 10.0.0.1:443: i/o timeout`:       "dial",
		`failing or missing response from https://a: Get "https://a": dial tcp: lookup a.b.svc: no such host`:                               "endpoint",
		`failing or missing response from https://a: Get "https://a": tls: failed to verify certificate: x509: signed by unknown authority`: "tls",
		`failing or missing response from https://a: Get "https://a": http: server gave HTTP response to HTTPS client`:                      "tls",
		`failing or missing response from https://a: Get "https://a": context deadline exceeded`:                                            "status",
	} {
		if got := failedAt(message); string(got) != want {
			t.Errorf("%q: got %s, want %s", message, got, want)
		}
	}
}

func TestWithoutCredentials(t *testing.T) {
	for value, want := range map[string]string{
		"https://user:secret@a:2379,https://b:2379": "https://a:2379,https://b:2379",
		"/etc/kubernetes/ca.crt":                    "/etc/kubernetes/ca.crt",
		"":                                          "",
	} {
		if got := withoutCredentials(value); got != want {
			t.Errorf("%q: got %q", value, got)
		}
	}
}
