package config

import (
	"fmt"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// FlagConfig is the name of the flag that names the configuration file.
const FlagConfig = "config"

// AddFlags adds kapi's own flags to fs and returns them in groups for the help,
// in order. Load reads their values back from fs.
func AddFlags(fs *pflag.FlagSet) cliflag.NamedFlagSets {
	var groups cliflag.NamedFlagSets
	for _, name := range []string{groupGeneral, groupServing, groupEtcd, groupControllers, groupInspect, groupLifecycle, groupLog} {
		groups.FlagSet(name).SortFlags = false
	}
	general := groups.FlagSet(groupGeneral)
	general.String(FlagConfig, "", "Configuration `file` (default $XDG_CONFIG_HOME/kapi/kapi.yaml, for root /etc/kapi/kapi.yaml, if there).")
	defaults := Default()
	for _, k := range Keys() {
		if k.Flag == "" {
			continue
		}
		f := addFlag(groups.FlagSet(k.Group), k, k.Flag, valueAt(&defaults, k.Path).Interface())
		if len(k.Flag) == 1 {
			f.Shorthand = k.Flag
		}
		if k.KubeFlag != "" && k.KubeFlag != k.Flag {
			// The name that kube-apiserver users know works, too.
			f := addFlag(groups.FlagSet(k.Group), k, k.KubeFlag, valueAt(&defaults, k.Path).Interface())
			f.Hidden = true
		}
	}
	for _, name := range groups.Order {
		fs.AddFlagSet(groups.FlagSets[name])
	}
	return groups
}

func addFlag(fs *pflag.FlagSet, k Key, name string, value any) *pflag.Flag {
	f := fs.VarPF(&keyValue{key: k, value: value}, name, "", k.Usage)
	if k.kind.typ == "bool" {
		f.NoOptDefVal = "true"
	}
	return f
}

// keyValue is the pflag.Value of a key. The first occurrence replaces the
// default; later ones add to a list and replace anything else.
type keyValue struct {
	key   Key
	value any
	given bool
}

// Set implements pflag.Value.
func (v *keyValue) Set(text string) error {
	parse := v.key.kind.parse
	if v.key.kind.parseFlag != nil {
		parse = v.key.kind.parseFlag
	}
	value, err := parse(text)
	if err != nil {
		return fmt.Errorf("%w; want %s", err, v.key.Want)
	}
	if v.given && v.key.kind.join != nil {
		value = v.key.kind.join(v.value, value)
	}
	v.value, v.given = value, true
	return nil
}

// String implements pflag.Value.
func (v *keyValue) String() string { return formatValue(v.value) }

// Type implements pflag.Value.
func (v *keyValue) Type() string { return v.key.kind.typ }

// flagLayer reads the changed flags of fs that belong to keys.
func flagLayer(fs *pflag.FlagSet) (*layer, []error) {
	l := newLayer()
	var errs []error
	if fs == nil {
		return l, nil
	}
	for _, k := range Keys() {
		for _, name := range flagNames(k) {
			value, changed, err := changedValue(fs, k, name)
			switch {
			case err != nil:
				errs = append(errs, err)
			case !changed:
			case l.origins[k.Path] != "" && formatValue(l.values[k.Path]) != formatValue(value):
				errs = append(errs, fmt.Errorf("%s and --%s name two different values for %s; keep one of them", l.origins[k.Path], name, k.Path))
			default:
				l.set(k.Path, value, "--"+name)
			}
		}
	}
	return l, errs
}

// flagNames are the flags of a key on the command line, kapi's own name first.
func flagNames(k Key) []string {
	switch {
	case k.Flag == "":
		return nil
	case k.KubeFlag != "" && k.KubeFlag != k.Flag:
		return []string{k.Flag, k.KubeFlag}
	default:
		return []string{k.Flag}
	}
}

func changedValue(fs *pflag.FlagSet, k Key, name string) (value any, changed bool, err error) {
	f := fs.Lookup(name)
	if f == nil || !f.Changed {
		return nil, false, nil
	}
	if v, ok := f.Value.(*keyValue); ok {
		return v.value, true, nil
	}
	// A flag of this name that AddFlags did not add: its text must do.
	value, err = k.kind.parse(f.Value.String())
	if err != nil {
		return nil, false, &KeyError{Key: k.Path, Value: f.Value.String(), Want: k.Want, Origin: "--" + name}
	}
	return value, true, nil
}
