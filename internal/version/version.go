// Package version says what this binary is: kapi's own version and the versions
// of the two programs inside it, the Kubernetes API server and etcd.
//
// It is not the version the server reports to clients: package chain decides
// that, and reads Info.Kubernetes for it. It imports only the standard library,
// so that anything may import it.
//
// A release sets kapi's own version with the linker (see goreleaser.yaml); every
// other build, `go run` too, reads it from the build information that the Go
// toolchain puts into each binary. The versions of Kubernetes and etcd come from
// there in all of them: they are the versions of the modules that were linked, so
// they cannot disagree with the code.
//
// Test binaries are the exception: cmd/go records their build information before
// it knows what they import, so it lists no modules (load/test.go of cmd/go, seen
// in Go 1.26). A server inside a test must not report "unknown" to clients that
// parse its version, so for these the versions are pinned here, and a test holds
// the pins to go.mod.
package version

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
)

// Set by the linker for a release:
// -ldflags "-X github.com/kapi-dev/kapi/internal/version.version=v0.1.0".
// Nothing else writes them.
var (
	version string
	commit  string
	date    string
)

// Unknown stands for a fact that the binary does not hold: its commit, when it
// was built without version control.
const Unknown = "unknown"

// The modules whose versions are reported, each with the version that go.mod
// requires, for a binary that does not list its modules.
const (
	modKubernetes    = "k8s.io/kubernetes"
	pinnedKubernetes = "v1.37.2"

	modEtcd    = "go.etcd.io/etcd/server/v3"
	pinnedEtcd = "v3.7.3"
)

// Info is what a binary knows about itself. No field is empty.
type Info struct {
	// Version is kapi's own version with a leading v ("v0.1.0"), or "devel" for a
	// build of a working tree that carries no version.
	Version string `json:"version"`
	// Commit is the full hash of the commit, with "-dirty" behind it when the
	// working tree had changes, or Unknown.
	Commit string `json:"commit"`
	// Date is when the binary was released, or the time of the commit for any
	// other build (RFC 3339, UTC), or Unknown.
	Date string `json:"date"`
	// Go is the toolchain's version ("go1.26.0").
	Go string `json:"go"`
	// Kubernetes is the version of the linked k8s.io/kubernetes module ("v1.37.2").
	Kubernetes string `json:"kubernetes"`
	// Etcd is the version of the linked etcd server module ("v3.7.3").
	Etcd string `json:"etcd"`
}

// Get returns what this binary knows about itself. It reads memory only, and
// gives the same answer for the life of the process.
func Get() Info {
	build, _ := debug.ReadBuildInfo()
	return resolve(Info{Version: version, Commit: commit, Date: date}, build)
}

// resolve fills what the linker did not set from the build information, which
// may be nil: a toolchain other than cmd/go writes none.
func resolve(set Info, build *debug.BuildInfo) Info {
	if build == nil {
		build = &debug.BuildInfo{}
	}
	vcs := settings(build)
	return Info{
		Version:    cmp.Or(withV(set.Version), mainVersion(build), "devel"),
		Commit:     cmp.Or(set.Commit, revision(vcs), Unknown),
		Date:       cmp.Or(set.Date, vcs["vcs.time"], Unknown),
		Go:         cmp.Or(build.GoVersion, runtime.Version()),
		Kubernetes: cmp.Or(moduleVersion(build, modKubernetes), pinnedKubernetes),
		Etcd:       cmp.Or(moduleVersion(build, modEtcd), pinnedEtcd),
	}
}

// withV adds the leading v that release tools leave out.
func withV(v string) string {
	if v == "" || strings.HasPrefix(v, "v") {
		return v
	}
	return "v" + v
}

// mainVersion is the version of the main module: a tag or a pseudo-version when
// the toolchain stamped one, "" for its placeholder "(devel)".
func mainVersion(build *debug.BuildInfo) string {
	if strings.HasPrefix(build.Main.Version, "v") {
		return build.Main.Version
	}
	return ""
}

// revision is the stamped commit, marked when the tree had changes.
func revision(vcs map[string]string) string {
	rev := vcs["vcs.revision"]
	if rev != "" && vcs["vcs.modified"] == "true" {
		rev += "-dirty"
	}
	return rev
}

// moduleVersion is the version that was linked for the module at path, "" when
// the binary links no package of it. A replacement is what was compiled, so its
// version wins; a replacement by a folder has none.
func moduleVersion(build *debug.BuildInfo, path string) string {
	for _, dep := range build.Deps {
		if dep.Path != path {
			continue
		}
		if dep.Replace != nil {
			dep = dep.Replace
		}
		return strings.TrimSpace(dep.Version)
	}
	return ""
}

func settings(build *debug.BuildInfo) map[string]string {
	m := make(map[string]string, len(build.Settings))
	for _, s := range build.Settings {
		m[s.Key] = s.Value
	}
	return m
}
