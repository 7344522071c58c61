package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

// etcdModule is the module whose version both sides' etcd is.
const etcdModule = "go.etcd.io/etcd/server/v3"

// binaries are the paths of what is measured. A path is "" where no side needs it.
type binaries struct {
	Kapi, APIServer, Etcd, Manager string
}

// target is one binary of the module graph.
type target struct {
	path string // where it goes
	pkg  string
	// flagsOf is the package with whose flags of peer.BuildFlags it is built; "" is pkg.
	flagsOf string
	// extraSums is for a package of the graph that kapi itself does not link: go.sum
	// lacks modules that it needs.
	extraSums bool
}

// prepareBinaries builds what the two sides need, in the module that the
// working directory belongs to. Everything is stripped alike, so that the sizes compare.
func prepareBinaries(ctx context.Context, o *options) (binaries, error) {
	bins, targets := planBinaries(o)
	if o.NoBuild {
		for _, t := range targets {
			if _, err := os.Stat(t.path); err != nil {
				return bins, fault.WithHint(fmt.Errorf("looking for a built binary: %w", err), "run once without --no-build")
			}
		}
		return bins, nil
	}
	if err := os.MkdirAll(o.BinDir, 0o755); err != nil {
		return bins, fmt.Errorf("making the directory for binaries: %w", err)
	}
	for _, t := range targets {
		if err := build(ctx, t); err != nil {
			return bins, err
		}
	}
	return bins, nil
}

func planBinaries(o *options) (binaries, []target) {
	var bins binaries
	var targets []target
	needs := func(kind string) bool {
		return o.A.Kind == kind && o.A.Bin == "" || o.B.Kind == kind && o.B.Bin == ""
	}
	if needs("kapi") {
		bins.Kapi = filepath.Join(o.BinDir, "kapi")
		targets = append(targets, target{path: bins.Kapi, pkg: "github.com/kapi-dev/kapi/cmd/kapi"})
	}
	if needs("peer") {
		bins.Etcd = filepath.Join(o.BinDir, "etcd")
		bins.APIServer = filepath.Join(o.BinDir, "kube-apiserver")
		targets = append(targets,
			target{path: bins.Etcd, pkg: peer.EtcdPackage},
			target{path: bins.APIServer, pkg: peer.APIServerPackage})
		if o.needsManager() {
			bins.Manager = filepath.Join(o.BinDir, "kube-controller-manager")
			targets = append(targets,
				target{path: bins.Manager, pkg: managerPackage, flagsOf: peer.APIServerPackage, extraSums: true})
		}
	}
	return bins, targets
}

// needsManager returns whether a chosen scenario starts a kube-controller-manager.
func (o *options) needsManager() bool {
	return slices.ContainsFunc(selected(scenarios(), o.Rows), func(s scenario) bool { return s.Manager })
}

func build(ctx context.Context, t target) error {
	flags, err := peer.BuildFlags(ctx, cmp.Or(t.flagsOf, t.pkg))
	if err != nil {
		return err
	}
	if t.extraSums {
		modfile, err := copyModule(ctx, t.path+".mod")
		if err != nil {
			return err
		}
		flags = append(flags, "-mod=mod", "-modfile="+modfile)
	}
	fmt.Fprintf(os.Stderr, "building %s\n", t.pkg)
	_, err = peer.Go(ctx, slices.Concat([]string{"build", "-o", t.path}, flags, []string{t.pkg})...)
	return err
}

// copyModule copies go.mod and go.sum of the working directory's module to path,
// whose end is .mod, and beside it. With -mod=mod the go command writes the sums
// that are missing to the copy; the versions are those of the module graph.
func copyModule(ctx context.Context, path string) (string, error) {
	mod, err := peer.Go(ctx, "env", "GOMOD")
	if err != nil {
		return "", err
	}
	for _, ext := range []string{".mod", ".sum"} {
		data, err := os.ReadFile(strings.TrimSuffix(mod, ".mod") + ext)
		if err != nil {
			return "", fmt.Errorf("reading the module: %w", err)
		}
		if err := os.WriteFile(strings.TrimSuffix(path, ".mod")+ext, data, 0o644); err != nil {
			return "", fmt.Errorf("copying the module: %w", err)
		}
	}
	return path, nil
}

// moduleVersions returns the versions, as built into the binary at path, of
// Kubernetes, etcd and Go. A module that is not in it has no entry.
func moduleVersions(path string) (map[string]string, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading build information: %w", err)
	}
	versions := map[string]string{"go": info.GoVersion}
	for _, d := range append(info.Deps, &info.Main) {
		switch d.Path {
		case peer.KubernetesModule:
			versions["kubernetes"] = d.Version
		case etcdModule:
			versions["etcd"] = d.Version
		case "github.com/kapi-dev/kapi":
			versions["kapi"] = d.Version
		}
	}
	return versions, nil
}
