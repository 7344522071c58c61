// Package configs holds the sample configurations, the systemd unit and the Grafana
// dashboard. Its tests load what the folder holds; its code is for tests elsewhere
// that hold the dashboard against a running server. The product does not use it.
//
// It may import the standard library only.
package configs

import (
	"bytes"
	_ "embed" // the dashboard
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed grafana-dashboard.json
var dashboard []byte

// DashboardMetrics returns the names of all metrics that the dashboard's
// expressions read, sorted, each once: those of series, with the suffix of a
// histogram's part.
func DashboardMetrics() ([]string, error) {
	expressions, err := dashboardExpressions(dashboard)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, expression := range expressions {
		found, err := metricNames(expression)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", expression, err)
		}
		for _, name := range found {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// MissingMetrics returns those of names that have no series in the text that a
// server answers to /metrics.
func MissingMetrics(names []string, exposition []byte) []string {
	exposed := map[string]bool{}
	for line := range bytes.Lines(exposition) {
		if line[0] == '#' {
			continue
		}
		if end := bytes.IndexAny(line, "{ "); end > 0 {
			exposed[string(line[:end])] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return exposed[name] })
}

// dashboardExpressions finds all expressions of PromQL in a dashboard: in panels,
// at any depth, in annotations, and in the queries of variables.
func dashboardExpressions(text []byte) ([]string, error) {
	var root struct {
		Templating struct {
			List []struct {
				Type, Query string
			}
		}
	}
	var tree any
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("reading the dashboard: %w", err)
	}
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("reading the dashboard: %w", err)
	}
	expressions := collectExpressions(tree, nil)
	for _, variable := range root.Templating.List {
		if variable.Type == "query" {
			expressions = append(expressions, variableExpression(variable.Query))
		}
	}
	return expressions, nil
}

// collectExpressions walks through a tree of JSON, for the values of "expr".
func collectExpressions(node any, found []string) []string {
	switch node := node.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(node)) {
			if expression, ok := node[key].(string); ok && key == "expr" {
				found = append(found, expression)
				continue
			}
			found = collectExpressions(node[key], found)
		}
	case []any:
		for _, child := range node {
			found = collectExpressions(child, found)
		}
	}
	return found
}

// variableExpression takes the expression out of Grafana's label_values(expression,
// label) and query_result(expression).
func variableExpression(query string) string {
	query = strings.TrimSpace(query)
	if inner, ok := strings.CutPrefix(query, "label_values("); ok {
		if comma := strings.LastIndexByte(inner, ','); comma >= 0 {
			return inner[:comma]
		}
		return "" // label_values(label): of all series
	}
	if inner, ok := strings.CutPrefix(query, "query_result("); ok {
		return strings.TrimSuffix(inner, ")")
	}
	return query
}
