package theme

import (
	"maps"
	"slices"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// suggestion is the end of an error about an unknown name: the known one that is
// nearest to it.
func suggestion(name string, known []string) string {
	best, changes := "", len(name)+1
	for _, candidate := range known {
		if d := distance(name, candidate); d < changes {
			best, changes = candidate, d
		}
	}
	switch {
	case best == "":
		return ""
	case changes <= max(2, len(name)/3):
		return "; did you mean " + best + "?"
	default:
		return "; the nearest is " + best
	}
}

// distance is how many letters must be put in, left out or replaced to make one
// text of another (Levenshtein). Long texts are no slips and are not compared.
func distance(a, b string) int {
	if max(len(a), len(b)) > 64 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
