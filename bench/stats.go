package main

import (
	"math"
	"slices"
)

// median returns the middle of values, the mean of the two middle ones for an
// even count, and NaN for none. It does not change values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(values))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return (s[mid-1] + s[mid]) / 2
}

// percentile returns the smallest of values that at least the share p (0 to 1)
// of them does not exceed (nearest rank), and NaN for none. It does not change values.
func percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p * float64(len(s))))
	return s[min(max(rank, 1), len(s))-1]
}

// summary is what the table says about one side of a row.
type summary struct {
	Samples []float64 `json:"samples"`
	Median  float64   `json:"median"`
	Min     float64   `json:"min"`
	Max     float64   `json:"max"`
}

// summarize returns nil where there is no sample.
func summarize(samples []float64) *summary {
	if len(samples) == 0 {
		return nil
	}
	return &summary{
		Samples: samples, Median: median(samples), Min: slices.Min(samples), Max: slices.Max(samples),
	}
}

// ratio returns b's median over a's, and nil where it has no meaning: a side
// without samples, or a zero on the first side.
func ratio(a, b *summary) *float64 {
	if a == nil || b == nil || a.Median == 0 {
		return nil
	}
	r := b.Median / a.Median
	return &r
}
