// Package near finds the name that was probably meant by one that does not exist.
// It imports the standard library only.
package near

import (
	"slices"
	"strings"
)

// Distance is the number of insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment). Texts too long to
// be a slip of the finger are not compared.
func Distance(a, b string) int {
	const limit = 128
	if len(a) > limit || len(b) > limit {
		return max(len(a), len(b))
	}
	x, y := []rune(a), []rune(b)
	before, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(y)]
}

// Unlikeness is the distance without regard to case, halved where name is
// candidate with letters left out: SERVER_PORT means SERVER_SECUREPORT and not
// SERVER_NAMES, which takes fewer changes.
func Unlikeness(name, candidate string) int {
	name, candidate = strings.ToLower(name), strings.ToLower(candidate)
	d := Distance(name, candidate)
	rest := name
	for _, c := range candidate {
		rest = strings.TrimPrefix(rest, string(c))
	}
	if rest == "" {
		return (d + 1) / 2
	}
	return d
}

// Enough reports whether d changes in name are plausibly a typing error.
func Enough(name string, d int) bool { return d <= max(2, len(name)/3) }

// Suggestion is the end of an error about an unknown name.
func Suggestion(name, nearest string, d int) string {
	switch {
	case nearest == "":
		return ""
	case Enough(name, d):
		return "; did you mean " + nearest + "?"
	default:
		return "; the nearest is " + nearest
	}
}

// Of returns the candidate with the smallest unlikeness, the first of
// equals.
func Of(name string, candidates []string) (string, int) {
	best, bestD := "", -1
	for _, c := range candidates {
		if d := Unlikeness(name, c); bestD < 0 || d < bestD {
			best, bestD = c, d
		}
	}
	return best, bestD
}

// Hint is the way out for a name that is none of names: the one that was meant, or
// all of them.
func Hint(name string, names []string) string {
	if best, d := Of(name, names); best != "" && Enough(name, d) {
		return "did you mean " + best + "?"
	}
	return "there are: " + strings.Join(slices.Sorted(slices.Values(names)), ", ")
}
