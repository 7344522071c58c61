package config

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/kapi-dev/kapi/internal/near"
)

// nearestKey finds the key that was probably meant by path. A right name in the
// wrong section and a flag's name used as a key count as near.
func nearestKey(path string) (string, int) {
	best, bestD := "", -1
	consider := func(key, name, candidate string, extra int) {
		d := near.Unlikeness(name, candidate) + extra
		if bestD < 0 || d < bestD {
			best, bestD = key, d
		}
	}
	bare := strings.NewReplacer("-", "", "_", "")
	for _, s := range sections() {
		if !strings.HasPrefix(path, s+".") { // it is there already
			consider(s, path, s, 0)
		}
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

// keysBeside returns the section that a path is in and the names of the keys there.
func keysBeside(path string) (section string, keys []string) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", nil
	}
	section = path[:i]
	for _, k := range Keys() {
		if name, ok := strings.CutPrefix(k.Path, section+"."); ok && !strings.Contains(name, ".") {
			keys = append(keys, name)
		}
	}
	return section, keys
}

// nearestEnv finds the variable that was probably meant by name. That of a flag's name
// counts as near.
func nearestEnv(name string, known []string) (string, int) {
	best, d := near.Of(name, known)
	for _, k := range Keys() {
		flag := envPrefix + strings.ToUpper(strings.ReplaceAll(k.Flag, "-", "_"))
		if k.Flag != "" && (name == flag || near.Unlikeness(name, flag) < d) {
			best, d = k.Env(), near.Unlikeness(name, flag)
		}
	}
	return best, d
}

func lastPart(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// NearestFlag returns the flag of the sets whose name is nearest to name, without
// dashes, or "" when none is near enough to be a typing error. Hidden and
// deprecated flags are never proposed.
func NearestFlag(name string, sets ...*pflag.FlagSet) string {
	best, d := nearestFlag(name, sets...)
	if name == "" || best == "" || !near.Enough(name, d) {
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
	return near.Of(strings.ReplaceAll(name, "_", "-"), names)
}
