package main

import (
	"math"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{1, 1, 1, 100}, 1},
	} {
		before := slices.Clone(c.values)
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
		if !slices.Equal(before, c.values) {
			t.Errorf("median changed its input to %v", c.values)
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing = %v, want NaN", got)
	}
}

func TestPercentile(t *testing.T) {
	var values []float64
	for i := 100; i >= 1; i-- {
		values = append(values, float64(i))
	}
	for p, want := range map[float64]float64{0: 1, 0.01: 1, 0.5: 50, 0.99: 99, 0.991: 100, 1: 100} {
		if got := percentile(values, p); got != want {
			t.Errorf("percentile %v = %v, want %v", p, got, want)
		}
	}
	if got := percentile([]float64{5}, 0.99); got != 5 {
		t.Errorf("percentile of one value = %v, want 5", got)
	}
	if got := percentile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("percentile of nothing = %v, want NaN", got)
	}
}

func TestRatio(t *testing.T) {
	first := summarize([]float64{2, 4, 9})
	second := summarize([]float64{1, 3, 1})
	got := ratio(first, second)
	if got == nil || *got != 0.25 {
		t.Errorf("ratio = %v, want 0.25: of the medians, second to first", got)
	}
	for name, sides := range map[string][2]*summary{
		"no first": {nil, second}, "no second": {first, nil}, "first is zero": {summarize([]float64{0}), second},
	} {
		if got := ratio(sides[0], sides[1]); got != nil {
			t.Errorf("%s: ratio = %v, want none", name, *got)
		}
	}
}

func TestSummarize(t *testing.T) {
	if got := summarize(nil); got != nil {
		t.Errorf("summary of nothing = %v, want nil", got)
	}
	got := summarize([]float64{5, 1, 3})
	if got.Median != 3 || got.Min != 1 || got.Max != 5 || !slices.Equal(got.Samples, []float64{5, 1, 3}) {
		t.Errorf("summary = %+v", got)
	}
}

func TestGoalReached(t *testing.T) {
	half, twice := 0.5, 2.0
	second := summarize([]float64{0.8})
	for _, c := range []struct {
		name string
		goal goal
		b    better
		r    *float64
		want string
	}{
		{"lower, met", goal{Ratio: 0.6}, lower, &half, "yes"},
		{"lower, exactly", goal{Ratio: 0.5}, lower, &half, "yes"},
		{"lower, missed", goal{Ratio: 0.3}, lower, &half, "no"},
		{"higher, met", goal{Ratio: 1.6}, higher, &twice, "yes"},
		{"higher, missed", goal{Ratio: 2.5}, higher, &twice, "no"},
		{"absolute, met", goal{Absolute: 1}, lower, nil, "yes"},
		{"absolute, missed", goal{Absolute: 0.7}, lower, nil, "no"},
		{"no goal", goal{}, lower, &half, ""},
		{"no figure", goal{Ratio: 0.5}, lower, nil, ""},
	} {
		got := ""
		if ok := c.goal.reached(c.b, c.r, second); ok != nil {
			got = map[bool]string{true: "yes", false: "no"}[*ok]
		}
		if got != c.want {
			t.Errorf("%s: reached %q, want %q", c.name, got, c.want)
		}
	}
}
