package foreign

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	metricsPath = "/metrics"
	// metricsType is Prometheus' text format, which every server has.
	metricsType = "text/plain;version=0.0.4"
	// maxLine is longer than any sample: labels of metrics are bounded.
	maxLine = 1 << 20
)

// families are metrics by the name of their family.
type families map[string][]*dto.Metric

// metrics reads some families. The lines of all others are dropped as they come:
// a busy server has hundreds of thousands, and a list needs few.
func (s *Server) metrics(ctx context.Context, names ...string) (families, error) {
	var result families
	err := s.stream(ctx, metricsPath, metricsType, func(body io.Reader) (err error) {
		result, err = parseMetrics(body, names)
		return err
	})
	return result, err
}

func parseMetrics(body io.Reader, names []string) (families, error) {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	var kept bytes.Buffer
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	isMetrics := false
	for lines.Scan() {
		line := lines.Bytes()
		isMetrics = isMetrics || bytes.HasPrefix(line, []byte("# TYPE "))
		if isWanted(line, wanted) {
			kept.Write(line)
			kept.WriteByte('\n')
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", metricsPath, err)
	}
	if !isMetrics {
		return nil, fmt.Errorf("reading %s: %w", metricsPath, errFormat)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	parsed, err := parser.TextToMetricFamilies(&kept)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w: %w", metricsPath, errFormat, err)
	}
	result := make(families, len(parsed))
	for name, family := range parsed {
		result[name] = family.GetMetric()
	}
	return result, nil
}

// isWanted tells whether a line is of one of the families: a comment of it, a
// sample, or a series of its histogram.
func isWanted(line []byte, wanted map[string]bool) bool {
	line = bytes.TrimPrefix(bytes.TrimPrefix(line, []byte("# TYPE ")), []byte("# HELP "))
	name := line
	if end := bytes.IndexAny(line, "{ "); end >= 0 {
		name = line[:end]
	}
	if wanted[string(name)] {
		return true
	}
	for _, series := range []string{"_bucket", "_sum", "_count"} {
		if family, ok := bytes.CutSuffix(name, []byte(series)); ok {
			return wanted[string(family)]
		}
	}
	return false
}

// label returns the value of a label, empty if there is none.
func label(metric *dto.Metric, name string) string {
	for _, pair := range metric.GetLabel() {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}

// value returns the value of a gauge or a counter.
func value(metric *dto.Metric) float64 {
	switch {
	case metric.Gauge != nil:
		return metric.GetGauge().GetValue()
	case metric.Untyped != nil:
		return metric.GetUntyped().GetValue()
	}
	return metric.GetCounter().GetValue()
}

// sum adds up the metrics of a family by the value of a label.
func (f families) sum(family, by string) map[string]int64 {
	sums := map[string]int64{}
	for _, metric := range f[family] {
		sums[label(metric, by)] += int64(value(metric))
	}
	return sums
}

// latencies adds up the histograms of a family by the value of a label.
func (f families) latencies(family, by string) map[string]*distribution {
	sums := map[string]*distribution{}
	for _, metric := range f[family] {
		key := label(metric, by)
		if sums[key] == nil {
			sums[key] = &distribution{}
		}
		sums[key].add(metric.GetHistogram())
	}
	return sums
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
