package foreign

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
)

const (
	metricsPath = "/metrics"
	// metricsType is Prometheus' text format, which every server has.
	metricsType = "text/plain;version=0.0.4"
	// maxLine is longer than any sample: labels of metrics are bounded.
	maxLine = 1 << 20
)

// metrics reads some families. The lines of all others are dropped as they come:
// a busy server has hundreds of thousands, and a list needs few.
func (s *Server) metrics(ctx context.Context, names ...string) (families.Families, error) {
	var result families.Families
	err := s.stream(ctx, metricsPath, metricsType, func(body io.Reader) (err error) {
		result, err = parseMetrics(body, names)
		return err
	})
	return result, err
}

func parseMetrics(body io.Reader, names []string) (families.Families, error) {
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
	result := make(families.Families, len(parsed))
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
