package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kapi-dev/kapi/internal/fault"
)

// noPlugins leaves kustomize's Go plugins out of kapi's kubectl, as CGO_ENABLED=0
// does in a release. With them the linker exports every symbol: 39 MB more.
const noPlugins = "kustomize_disable_go_plugin_support"

const (
	kubernetesModule = "k8s.io/kubernetes"
	etcdModule       = "go.etcd.io/etcd/server/v3"
)

// binaries are the paths of what is measured. A path is "" where no side needs it.
type binaries struct {
	Kapi, APIServer, Etcd string
}

// target is one binary of the module graph.
type target struct {
	path string // where it goes
	pkg  string
	// versioned: upstream's release build stamps its version by -ldflags;
	// without it clients that parse /version fail.
	versioned bool
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
			target{path: bins.Etcd, pkg: "github.com/kapi-dev/kapi/bench/peer/etcd"},
			target{path: bins.APIServer, pkg: "k8s.io/kubernetes/cmd/kube-apiserver", versioned: true})
	}
	return bins, targets
}

func build(ctx context.Context, t target) error {
	ldflags := "-s -w"
	if t.versioned {
		version, err := goOutput(ctx, "list", "-m", "-f", "{{.Version}}", kubernetesModule)
		if err != nil {
			return err
		}
		stamp, err := versionFlags(version)
		if err != nil {
			return err
		}
		ldflags += " " + stamp
	}
	fmt.Fprintf(os.Stderr, "building %s\n", t.pkg)
	_, err := goOutput(ctx, "build", "-tags", noPlugins, "-ldflags", ldflags, "-o", t.path, t.pkg)
	return err
}

var versionPattern = regexp.MustCompile(`^v(\d+)\.(\d+)\.\d+`)

// versionFlags returns the -X flags of an upstream release build (k8s.io/kubernetes,
// hack/lib/version.sh) for a version such as v1.37.2. The commit and the date stay
// as they are: nothing parses them.
func versionFlags(version string) (string, error) {
	m := versionPattern.FindStringSubmatch(version)
	if m == nil {
		return "", fmt.Errorf("reading the version of %s: %q is no vMAJOR.MINOR.PATCH", kubernetesModule, version)
	}
	var flags []string
	for _, pkg := range []string{"k8s.io/client-go/pkg/version", "k8s.io/component-base/version"} {
		flags = append(flags,
			"-X "+pkg+".gitVersion="+version, "-X "+pkg+".gitMajor="+m[1], "-X "+pkg+".gitMinor="+m[2],
			"-X "+pkg+".gitTreeState=clean")
	}
	return strings.Join(flags, " "), nil
}

// goOutput runs the go command and returns its trimmed standard output. The
// go command's own words are the error: they name file and line.
func goOutput(ctx context.Context, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("running go %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
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
		case kubernetesModule:
			versions["kubernetes"] = d.Version
		case etcdModule:
			versions["etcd"] = d.Version
		case "github.com/kapi-dev/kapi":
			versions["kapi"] = d.Version
		}
	}
	return versions, nil
}
