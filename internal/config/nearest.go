package config

import (
	"strings"

	"github.com/spf13/pflag"
)

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment). Texts too long to
// be a slip of the finger are not compared.
func distance(a, b string) int {
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

// unlikeness is the distance without regard to case, halved where name is
// candidate with letters left out: SERVER_PORT means SERVER_SECUREPORT and not
// SERVER_NAMES, which takes fewer changes.
func unlikeness(name, candidate string) int {
	name, candidate = strings.ToLower(name), strings.ToLower(candidate)
	d := distance(name, candidate)
	rest := name
	for _, c := range candidate {
		rest = strings.TrimPrefix(rest, string(c))
	}
	if rest == "" {
		return (d + 1) / 2
	}
	return d
}

// closeEnough reports whether d changes in name are plausibly a typing error.
func closeEnough(name string, d int) bool { return d <= max(2, len(name)/3) }

// suggestion is the end of an error about an unknown name.
func suggestion(name, nearest string, d int) string {
	switch {
	case nearest == "":
		return ""
	case closeEnough(name, d):
		return "; did you mean " + nearest + "?"
	default:
		return "; the nearest is " + nearest
	}
}

// nearestOf returns the candidate with the smallest unlikeness, the first of
// equals.
func nearestOf(name string, candidates []string) (string, int) {
	best, bestD := "", -1
	for _, c := range candidates {
		if d := unlikeness(name, c); bestD < 0 || d < bestD {
			best, bestD = c, d
		}
	}
	return best, bestD
}

// nearestKey finds the key that was probably meant by path. A right name in the
// wrong section and a flag's name used as a key count as near.
func nearestKey(path string) (string, int) {
	best, bestD := "", -1
	consider := func(key, name, candidate string, extra int) {
		d := unlikeness(name, candidate) + extra
		if bestD < 0 || d < bestD {
			best, bestD = key, d
		}
	}
	bare := strings.NewReplacer("-", "", "_", "")
	for _, s := range sections() {
		consider(s, path, s, 0)
	}
	for _, k := range Keys() {
		consider(k.Path, path, k.Path, 0)
		consider(k.Path, lastPart(path), lastPart(k.Path), 1)
		if len(k.Flag) > 1 {
			consider(k.Path, bare.Replace(lastPart(path)), bare.Replace(k.Flag), 1)
		}
	}
	return best, bestD
}

func lastPart(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// NearestFlag returns the flag of the sets whose name is nearest to name, without
// dashes, or "" when none is near enough to be a typing error. Hidden and
// deprecated flags are never proposed.
func NearestFlag(name string, sets ...*pflag.FlagSet) string {
	best, d := nearestFlag(name, sets...)
	if name == "" || best == "" || !closeEnough(name, d) {
		return ""
	}
	return best
}

func nearestFlag(name string, sets ...*pflag.FlagSet) (string, int) {
	var names []string
	for _, fs := range sets {
		if fs == nil {
			continue
		}
		fs.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Deprecated == "" {
				names = append(names, f.Name)
			}
		})
	}
	return nearestOf(strings.ReplaceAll(name, "_", "-"), names)
}
