package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kapi-dev/kapi/internal/fault"
)

// options is everything the command line says, validated once.
type options struct {
	A, B     sideSpec
	Rows     []string // scenario or row names; empty is every scenario that is on by default
	Pairs    int
	JSON     string // file, or ""
	BinDir   string
	WorkDir  string // parent of the temporary directory
	NoBuild  bool
	Verbose  bool
	Settle   time.Duration // from ready, or from the end of the load, to a memory figure
	IdleTime time.Duration // of the rows of idle CPU

	Clients     int
	Ops         int // creates, gets, patches and deletes of the load, each
	Lists       int
	ListObjects int
	CRDs        int
	Objects     int
	Requests    int // of the endurance rows
	Controlled  int // objects of the controllers.*.filled rows
	AtOnce      int // servers of the controllers-each rows that run at the same time

	Profiles       string // directory for pprof files, or ""
	ProfileSeconds int
}

// sideSpec names one side: what it is, and how it differs from the default.
type sideSpec struct {
	Kind string // "peer" or "kapi"
	Bin  string // the kapi binary, or "" for the one that is built
	Args []string
	Env  []string
}

func parseOptions(args []string, usage io.Writer) (*options, error) {
	o := &options{}
	fs := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	fs.SetOutput(usage)
	fs.SortFlags = false
	var a, b string
	fs.StringVar(&a, "a", "peer", "first side: peer, kapi, or kapi=BINARY")
	fs.StringVar(&b, "b", "kapi", "second side, as --a; the ratio is second to first")
	fs.StringArrayVar(&o.A.Args, "a-arg", nil, "one more argument for kapi serve or kube-apiserver of the first side (repeatable)")
	fs.StringArrayVar(&o.B.Args, "b-arg", nil, "the same for the second side")
	fs.StringArrayVar(&o.A.Env, "a-env", nil, "KEY=VALUE in the environment of the first side's processes (repeatable)")
	fs.StringArrayVar(&o.B.Env, "b-env", nil, "the same for the second side")
	fs.StringSliceVar(&o.Rows, "rows", nil, "scenarios or single rows, by name (default: all that are on by default)\n"+scenarioHelp())
	fs.IntVar(&o.Pairs, "pairs", 5, "pairs of every scenario")
	fs.StringVar(&o.JSON, "json", "", "write every sample, the machine and the versions to this file")
	fs.StringVar(&o.BinDir, "bin-dir", "", "where the binaries are built (default: kapi-bench in the user's cache directory)")
	fs.StringVar(&o.WorkDir, "work-dir", "", "where data directories are made; fsync rows measure its disk (default: the system's temporary directory)")
	fs.BoolVar(&o.NoBuild, "no-build", false, "use the binaries in --bin-dir as they are")
	fs.BoolVarP(&o.Verbose, "verbose", "v", false, "print each sample as it comes")
	fs.DurationVar(&o.Settle, "settle", 10*time.Second, "wait before a memory figure is taken")
	fs.DurationVar(&o.IdleTime, "idle-time", time.Minute, "length of the rows of idle CPU")
	fs.IntVar(&o.Clients, "clients", 16, "clients of the load, each with its own HTTP/2 connection")
	fs.IntVar(&o.Ops, "ops", 10000, "creates, gets, patches and deletes of the load, each")
	fs.IntVar(&o.Lists, "lists", 200, "lists of the load")
	fs.IntVar(&o.ListObjects, "list-objects", 5000, "objects in one list")
	fs.IntVar(&o.CRDs, "crds", 100, "CRDs of the existing directory (full size: 1000)")
	fs.IntVar(&o.Objects, "objects", 5000, "objects of the existing directory (full size: 50000)")
	fs.IntVar(&o.Controlled, "controlled-objects", 20_000, "objects of the controllers.*.filled rows, a twentieth of them custom resources")
	fs.IntVar(&o.AtOnce, "at-once", 8, "servers of the controllers-each rows that run at the same time")
	fs.IntVar(&o.Requests, "requests", 1_000_000, "requests of the endurance rows")
	fs.StringVar(&o.Profiles, "profiles", "", "write pprof files of both sides' API servers here; such a run's figures are not for quoting")
	fs.IntVar(&o.ProfileSeconds, "profile-seconds", 4, "length of a CPU profile; a shorter phase of the load ends it no earlier")
	if err := fs.Parse(args); err != nil {
		return nil, fault.Usage(err)
	}
	if fs.NArg() > 0 {
		return nil, fault.Usagef("unexpected argument %q: everything is a flag, see --help", fs.Arg(0))
	}
	if err := o.A.parse("--a", a); err != nil {
		return nil, err
	}
	if err := o.B.parse("--b", b); err != nil {
		return nil, err
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	return o, nil
}

func (s *sideSpec) parse(flag, value string) error {
	kind, bin, given := strings.Cut(value, "=")
	if kind != "peer" && kind != "kapi" || kind == "peer" && given || given && bin == "" {
		return fault.Usagef("%s=%q: allowed are peer, kapi and kapi=BINARY", flag, value)
	}
	s.Kind, s.Bin = kind, bin
	return nil
}

// complete fills what has no constant default and checks what the flag set can't.
func (o *options) complete() error {
	for _, p := range []struct {
		flag  string
		value int
	}{
		{"--pairs", o.Pairs}, {"--clients", o.Clients}, {"--ops", o.Ops}, {"--lists", o.Lists},
		{"--list-objects", o.ListObjects}, {"--requests", o.Requests}, {"--profile-seconds", o.ProfileSeconds},
		{"--controlled-objects", o.Controlled}, {"--at-once", o.AtOnce},
	} {
		if p.value < 1 {
			return fault.Usagef("%s=%d: must be at least 1", p.flag, p.value)
		}
	}
	if o.CRDs < 0 || o.Objects < 0 || o.Settle < 0 || o.IdleTime < 0 {
		return fault.Usagef("--crds, --objects, --settle and --idle-time must not be negative")
	}
	known := knownRows()
	for _, r := range o.Rows {
		if !slices.Contains(known, r) {
			return fault.Usagef("--rows: %q is no scenario and no row; known are %s", r, strings.Join(known, ", "))
		}
	}
	if o.BinDir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fault.WithHint(fmt.Errorf("finding the cache directory: %w", err), "give --bin-dir")
		}
		o.BinDir = filepath.Join(cache, "kapi-bench")
	}
	// The processes run in directories of their own.
	for _, p := range []*string{&o.BinDir, &o.A.Bin, &o.B.Bin, &o.Profiles} {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return fmt.Errorf("resolving %s: %w", *p, err)
		}
		*p = abs
	}
	return nil
}
