package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/kapi-dev/kapi/internal/near"
)

// KubeFlagSets adds the kube-apiserver flags of kube to fs, but for those that
// kapi owns, that fs has already, and help and version, and returns the added
// ones in their groups for the help.
//
// The flags in fs are copies that remember what was typed: not every kube-apiserver
// flag prints in a form that it can read again. Parsing them does set the values
// behind kube, which makes a wrong value an error of the command line; so kube
// must be a set of its own, not the one that the server is built from. That one
// gets Config.KubeAPIServer.Flags through SetKubeFlags.
func KubeFlagSets(fs *pflag.FlagSet, kube cliflag.NamedFlagSets) cliflag.NamedFlagSets {
	var groups cliflag.NamedFlagSets
	for _, name := range kube.Order {
		kube.FlagSets[name].VisitAll(func(f *pflag.Flag) {
			_, owned := ownedKey(f.Name)
			if owned || f.Name == "help" || f.Name == "version" || fs.Lookup(f.Name) != nil {
				return
			}
			copied := *f
			copied.Value = &recorder{Value: f.Value}
			if copied.Shorthand != "" && fs.ShorthandLookup(copied.Shorthand) != nil {
				copied.Shorthand = ""
			}
			fs.AddFlag(&copied)
			groups.FlagSet(name).AddFlag(f)
		})
	}
	return groups
}

// JoinFlagSets returns the groups of all sets, in order; groups of the same name
// become one.
func JoinFlagSets(sets ...cliflag.NamedFlagSets) cliflag.NamedFlagSets {
	var out cliflag.NamedFlagSets
	for _, set := range sets {
		for _, name := range set.Order {
			group := out.FlagSet(name)
			group.SortFlags = set.FlagSets[name].SortFlags
			group.AddFlagSet(set.FlagSets[name])
		}
	}
	return out
}

// recorder is a pflag.Value that remembers the accepted texts.
type recorder struct {
	pflag.Value
	texts []string
}

// Set implements pflag.Value.
func (r *recorder) Set(text string) error {
	if err := r.Value.Set(text); err != nil {
		return err
	}
	if isScalar(r.Type()) {
		r.texts = nil
	}
	r.texts = append(r.texts, text)
	return nil
}

// isScalar reports whether a second value of the type replaces the first. Types
// that are not known count as repeatable.
func isScalar(typ string) bool {
	return slices.Contains([]string{"bool", "string", "duration", "int", "int8", "int16", "int32", "int64",
		"uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "ip", "ipMask", "ipNet", "tristate"}, typ)
}

// changedKubeFlags returns the kube-apiserver flags of the command line: those
// that KubeFlagSets added to fs, and changed ones of kube itself.
func changedKubeFlags(fs, kube *pflag.FlagSet) []kubeFlag {
	var out []kubeFlag
	add := func(name string, texts ...string) {
		for _, text := range texts {
			out = append(out, kubeFlag{Flag: Flag{Name: name, Value: text}, origin: "--" + name})
		}
	}
	if fs != nil {
		fs.VisitAll(func(f *pflag.Flag) {
			if r, ok := f.Value.(*recorder); ok && f.Changed {
				add(f.Name, r.texts...)
			}
		})
	}
	if kube != nil {
		kube.VisitAll(func(f *pflag.Flag) {
			_, owned := ownedKey(f.Name)
			taken := slices.ContainsFunc(out, func(o kubeFlag) bool { return o.Name == f.Name })
			if f.Changed && !owned && !taken {
				add(f.Name, texts(f.Value)...)
			}
		})
	}
	return out
}

// texts returns values for Set that reproduce v, as well as v can tell. It is
// for flags that no recorder has seen.
func texts(v pflag.Value) []string {
	slice, ok := v.(pflag.SliceValue)
	switch {
	case v.Type() == "stringToString":
		return []string{strings.TrimSuffix(strings.TrimPrefix(v.String(), "["), "]")}
	case !ok:
		return []string{v.String()}
	case v.Type() == "stringArray":
		return slice.GetSlice()
	default:
		return []string{joinCSV(slice.GetSlice())}
	}
}

// SetKubeFlags sets flags on fs, the flag set that a server is built from, in
// order. All wrong ones are reported, as KeyErrors.
func SetKubeFlags(fs *pflag.FlagSet, flags []Flag) error {
	var errs []error
	for _, f := range flags {
		if err := fs.Set(f.Name, f.Value); err != nil {
			errs = append(errs, kubeValueError(kubeFlag{Flag: f}, err))
		}
	}
	return errors.Join(errs...)
}

// checkKubeFlags looks at the names and values of flags from the file and the
// environment, if kube is there to tell. It corrects names that kube's
// normalisation spells differently.
func checkKubeFlags(flags []kubeFlag, kube *pflag.FlagSet) []error {
	if kube == nil {
		return nil
	}
	var errs []error
	scalars := map[string]string{}
	for i, f := range flags {
		if !isFlagName(f.Name) {
			// Validate reports it.
			continue
		}
		flag := kube.Lookup(strings.ReplaceAll(f.Name, "_", "-"))
		if flag == nil {
			errs = append(errs, unknownKubeFlag(f, kube))
			continue
		}
		flags[i].Name = flag.Name
		if first := scalars[flag.Name]; first != "" {
			errs = append(errs, fmt.Errorf("%s: %s is given twice (%s and %s); it takes one value", keyKubeFlags, flag.Name, first, f.origin))
			continue
		}
		if isScalar(flag.Value.Type()) {
			scalars[flag.Name] = f.origin
		}
		if err := flag.Value.Set(f.Value); err != nil {
			errs = append(errs, kubeValueError(f, err))
		}
	}
	return errs
}

func kubeValueError(f kubeFlag, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		err = invalid.Unwrap()
	}
	return &KeyError{Key: keyKubeFlags, Value: f.Name + "=" + f.Value, Want: "a value that the flag takes: " + err.Error(), Origin: f.origin}
}

func unknownKubeFlag(f kubeFlag, kube *pflag.FlagSet) error {
	where := fmt.Sprintf("unknown kube-apiserver flag %s in %s (%s)", shorten(f.Name), keyKubeFlags, f.origin)
	for _, k := range Keys() {
		if k.Flag != "" && k.Flag == f.Name {
			return fmt.Errorf("%s; it is kapi's own: use the key %s", where, k.Path)
		}
	}
	nearest, d := nearestFlag(f.Name, kube)
	return fmt.Errorf("%s%s", where, near.Suggestion(f.Name, nearest, d))
}
