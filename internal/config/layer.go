package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/viper"
)

// OriginDefault is the origin of a value that no source has set.
const OriginDefault = "default"

// layer is what one source says.
type layer struct {
	// values by path of the key, each with the type of its Config field; the
	// kube-apiserver flags are in kube instead.
	values  map[string]any
	origins map[string]string
	kube    []kubeFlag
	// failed are keys that were given a value that could not be read.
	failed []string
}

type kubeFlag struct {
	Flag
	origin string
}

func newLayer() *layer { return &layer{values: map[string]any{}, origins: map[string]string{}} }

func (l *layer) set(path string, value any, origin string) {
	if path == keyKubeFlags {
		return
	}
	l.values[path], l.origins[path] = value, origin
}

// takeOwned moves kube-apiserver flags that kapi has a key for to that key. One
// source that says both is an error: nobody could tell which one holds.
func (l *layer) takeOwned() []error {
	var errs []error
	var rest []kubeFlag
	byFlag := map[string]bool{}
	for _, f := range l.kube {
		k, owned := ownedKey(f.Name)
		if !owned {
			rest = append(rest, f)
			continue
		}
		value, err := k.kind.parse(f.Value)
		earlier, set := l.values[k.Path]
		switch {
		case err != nil:
			errs = append(errs, &KeyError{Key: k.Path, Value: f.Value, Want: k.Want, Origin: f.origin})
			l.failed = append(l.failed, k.Path)
		case set && byFlag[k.Path] && k.kind.join != nil:
			l.values[k.Path] = k.kind.join(earlier, value)
		case set:
			errs = append(errs, fmt.Errorf("%s: flag %s (%s) and key %s (%s) set the same thing; keep one of them",
				keyKubeFlags, f.Name, f.origin, k.Path, l.origins[k.Path]))
		default:
			l.set(k.Path, value, f.origin)
			byFlag[k.Path] = true
		}
	}
	l.kube = rest
	return errs
}

// merge lays the layers over the defaults, the weakest first, the last being the
// command line, and returns the result with the origin of each key.
//
// viper sees paths, which are ours and have one spelling, and finished values.
// What users name (services, flags) is in the values, where viper neither
// lowercases nor splits.
func merge(file, env, flags *layer) (Config, map[string]string, error) {
	v := viper.New()
	origins := map[string]string{}
	defaults := Default()
	for _, k := range Keys() {
		v.SetDefault(k.Path, valueAt(&defaults, k.Path).Interface())
		origins[k.Path] = OriginDefault
	}
	for _, l := range []*layer{file, env} {
		if err := v.MergeConfigMap(nested(l.values)); err != nil {
			return defaults, origins, fmt.Errorf("merging configuration: %w", err)
		}
	}
	for path, value := range flags.values {
		v.Set(path, value)
	}
	var kube []kubeFlag
	for _, l := range []*layer{file, env, flags} {
		for path, origin := range l.origins {
			origins[path] = origin
		}
		kube = mergeKubeFlags(kube, l.kube)
	}
	if len(kube) > 0 {
		list := make([]Flag, len(kube))
		for i, f := range kube {
			list[i] = f.Flag
			origins[kubeFlagPath(f.Name)] = f.origin
			origins[keyKubeFlags] = f.origin
		}
		v.Set(keyKubeFlags, list)
	}
	var cfg Config
	if err := v.UnmarshalExact(&cfg); err != nil {
		return defaults, origins, fmt.Errorf("merging configuration: %w", err)
	}
	return cfg, origins, nil
}

// kubeFlagPath is the path under which the origin of one flag is found.
func kubeFlagPath(name string) string { return keyKubeFlags + "[" + name + "]" }

// mergeKubeFlags puts over behind base; a flag named in over replaces all
// entries of that name in base, since a command line replaces a file's list.
func mergeKubeFlags(base, over []kubeFlag) []kubeFlag {
	out := slices.DeleteFunc(slices.Clone(base), func(f kubeFlag) bool {
		return slices.ContainsFunc(over, func(o kubeFlag) bool { return o.Name == f.Name })
	})
	return append(out, over...)
}

// nested turns paths into nested maps, the form that viper merges.
func nested(values map[string]any) map[string]any {
	out := map[string]any{}
	for path, value := range values {
		section, name, ok := strings.Cut(path, ".")
		if !ok {
			out[path] = value
			continue
		}
		below, _ := out[section].(map[string]any)
		if below == nil {
			below = map[string]any{}
			out[section] = below
		}
		below[name] = value
	}
	return out
}
