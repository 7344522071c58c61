package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/kapi-dev/kapi/internal/fault"
)

// SystemFile is where root's configuration file is looked for.
const SystemFile = "/etc/kapi/kapi.yaml"

// LoadOptions are the sources. The zero value loads the defaults.
type LoadOptions struct {
	// File is the configuration file. "" takes the one of --config, then of
	// KAPI_CONFIG, then the first of the usual places that exists.
	File string
	// Flags is the parsed flag set that AddFlags and KubeFlagSets filled.
	Flags *pflag.FlagSet
	// KubeFlags is the flag set of kube-apiserver, to check names and values of
	// flags in the file and the environment. Load sets values on it, so it must
	// not be the set that a server is built from. nil leaves them unchecked.
	KubeFlags *pflag.FlagSet
	// Environ is the environment in the form of os.Environ.
	Environ []string
	// KnownEnv are KAPI_* variables that other parts of kapi read.
	KnownEnv []string
	// Home is the home directory, whose .config/kapi/kapi.yaml is looked at.
	Home string
	// SystemFile is the last place to look for a file; "" is none.
	SystemFile string
}

// ProcessOptions returns the options for this process: its environment, its
// home directory, and for root SystemFile.
func ProcessOptions(flags, kube *pflag.FlagSet) LoadOptions {
	o := LoadOptions{Flags: flags, KubeFlags: kube, Environ: os.Environ()}
	// Without a home directory there is no file in it, which is no error.
	o.Home, _ = os.UserHomeDir()
	if os.Geteuid() == 0 {
		o.SystemFile = SystemFile
	}
	return o
}

// Loaded is a valid configuration that knows where its values are from.
type Loaded struct {
	Config Config
	// File is the configuration file that was read, "" if none.
	File string

	origins map[string]string
}

// Origin returns where the value of a key is from: "default", "file PATH line N",
// the name of a variable or a flag with its dashes. For one kube-apiserver flag
// the key is kubeAPIServer.flags[NAME]. An unknown key has the origin "".
func (l *Loaded) Origin(key string) string { return l.origins[key] }

// Load reads all sources and validates the result. The error holds all that is
// wrong (errors.Join) and is one of usage, exit code 2.
func Load(o LoadOptions) (*Loaded, error) {
	path, err := o.findFile()
	if err != nil {
		return nil, fault.Usage(err)
	}
	file, errs := newLayer(), []error(nil)
	if path != "" {
		data, err := readFile(path)
		if err != nil {
			return nil, fault.Usage(err)
		}
		file, errs = parseFile(path, data, o.KubeFlags)
	}
	env, envErrs := parseEnv(o.Environ, o.KnownEnv)
	flags, flagErrs := flagLayer(o.Flags)
	flags.kube = changedKubeFlags(o.Flags, o.KubeFlags)
	errs = slices.Concat(errs, envErrs, flagErrs, checkKubeFlags(file.kube, o.KubeFlags), checkKubeFlags(env.kube, o.KubeFlags))

	cfg, origins, err := merge(file, env, flags)
	if err != nil {
		return nil, err
	}
	errs = append(errs, cfg.problems(origins, slices.Concat(file.failed, env.failed))...)
	if len(errs) > 0 {
		return nil, fault.Usage(joinErrors(errs))
	}
	return &Loaded{Config: cfg, File: path, origins: origins}, nil
}

// findFile returns the path of the configuration file, "" for none. A file that
// was named must exist; one of the usual places need not.
func (o LoadOptions) findFile() (string, error) {
	if o.File != "" {
		return o.File, nil
	}
	if o.Flags != nil {
		if f := o.Flags.Lookup(FlagConfig); f != nil && f.Value.String() != "" {
			return f.Value.String(), nil
		}
	}
	if path := lookupEnv(o.Environ, EnvConfig); path != "" {
		return path, nil
	}
	for _, path := range o.usualFiles() {
		_, err := os.Stat(path)
		switch {
		case err == nil:
			return path, nil
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			// Service users have homes such as /dev/null.
		default:
			return "", fault.WithHint(fmt.Errorf("looking for configuration file: %w", err), "name a file with --%s, or set HOME to a directory that you may read", FlagConfig)
		}
	}
	return "", nil
}

// usualFiles follows the XDG base directory specification, by which a relative
// XDG_CONFIG_HOME is ignored.
func (o LoadOptions) usualFiles() []string {
	var out []string
	if dir := lookupEnv(o.Environ, "XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		out = append(out, filepath.Join(dir, "kapi", "kapi.yaml"))
	} else if o.Home != "" {
		out = append(out, filepath.Join(o.Home, ".config", "kapi", "kapi.yaml"))
	}
	if o.SystemFile != "" {
		out = append(out, o.SystemFile)
	}
	return out
}
