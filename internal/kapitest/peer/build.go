package peer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// The packages that are the peer's programs, in kapi's module graph.
const (
	EtcdPackage      = "github.com/kapi-dev/kapi/bench/peer/etcd"
	APIServerPackage = "k8s.io/kubernetes/cmd/kube-apiserver"
)

// KubernetesModule is the module whose version kube-apiserver says it is.
const KubernetesModule = "k8s.io/kubernetes"

// noPlugins leaves kustomize's Go plugins out of kapi's kubectl, as CGO_ENABLED=0
// does in a release. With them the linker exports every symbol: 39 MB more.
const noPlugins = "kustomize_disable_go_plugin_support"

// BuildFlags returns the flags with which `go build` and `go run` make a program
// as a release of it is made: stripped, and kube-apiserver with its version,
// without which clients that parse /version fail.
func BuildFlags(ctx context.Context, pkg string) ([]string, error) {
	ldflags := "-s -w"
	if pkg == APIServerPackage {
		version, err := Go(ctx, "list", "-m", "-f", "{{.Version}}", KubernetesModule)
		if err != nil {
			return nil, err
		}
		stamp, err := versionFlags(version)
		if err != nil {
			return nil, err
		}
		ldflags += " " + stamp
	}
	return []string{"-tags", noPlugins, "-ldflags", ldflags}, nil
}

// versionFlags returns the -X flags of an upstream release build (k8s.io/kubernetes,
// hack/lib/version.sh) for a version such as v1.37.2. The commit and the date stay
// as they are: nothing parses them.
func versionFlags(version string) (string, error) {
	m := regexp.MustCompile(`^v(\d+)\.(\d+)\.\d+`).FindStringSubmatch(version)
	if m == nil {
		return "", fmt.Errorf("reading the version of %s: %q is no vMAJOR.MINOR.PATCH", KubernetesModule, version)
	}
	var flags []string
	for _, pkg := range []string{"k8s.io/client-go/pkg/version", "k8s.io/component-base/version"} {
		flags = append(flags,
			"-X "+pkg+".gitVersion="+version, "-X "+pkg+".gitMajor="+m[1], "-X "+pkg+".gitMinor="+m[2],
			"-X "+pkg+".gitTreeState=clean")
	}
	return strings.Join(flags, " "), nil
}

// Go runs the go command and returns its trimmed standard output. The go
// command's own words are the error: they name file and line.
func Go(ctx context.Context, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("running go %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// programs are the two binaries, made once for a test binary.
type programs struct {
	once sync.Once
	dir  string
	err  error
}

var built programs

func (p *programs) etcd() string      { return filepath.Join(p.dir, "etcd") }
func (p *programs) apiServer() string { return filepath.Join(p.dir, "kube-apiserver") }

// build links them. `go run` keeps what it has linked in the build cache, which
// `go build` does not: so it is told to run a copy.
func (p *programs) build() {
	if p.dir, p.err = os.MkdirTemp("", "peer"); p.err != nil {
		return
	}
	ctx := context.Background()
	for path, pkg := range map[string]string{p.etcd(): EtcdPackage, p.apiServer(): APIServerPackage} {
		var flags []string
		if flags, p.err = BuildFlags(ctx, pkg); p.err != nil {
			return
		}
		args := append([]string{"run", "-exec", "cp"}, flags...)
		if _, p.err = Go(ctx, append(args, pkg, path)...); p.err != nil {
			return
		}
	}
}

// Clean removes the binaries. It is to be called when all tests have run.
func Clean() error {
	if built.dir == "" {
		return nil
	}
	return os.RemoveAll(built.dir)
}
