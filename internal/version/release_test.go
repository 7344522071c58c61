package version

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// What the templates of goreleaser.yaml become in this test.
var templates = strings.NewReplacer(
	"{{ .Version }}", "1.2.3",
	"{{ .FullCommit }}", "0123456789abcdef0123456789abcdef01234567",
	"{{ .CommitDate }}", "2026-05-06T07:08:09Z",
	"{{ if .IsGitDirty }}dirty{{ else }}clean{{ end }}", "clean",
)

// kubeVersion is the part of a Kubernetes version that a release sets.
type kubeVersion struct {
	Major        string `json:"major"`
	Minor        string `json:"minor"`
	GitVersion   string `json:"gitVersion"`
	GitCommit    string `json:"gitCommit"`
	GitTreeState string `json:"gitTreeState"`
	BuildDate    string `json:"buildDate"`
}

// TestRelease builds a program with the linker flags of goreleaser.yaml and asks
// it what it is: the linker says nothing about a variable that it does not find,
// so only the program's answer shows that the names are right. The program also
// prints the modules that its build information lists, which is where the
// versions come from outside tests.
func TestRelease(t *testing.T) {
	probe := filepath.Join(t.TempDir(), "probe")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", probe, "-ldflags="+releaseFlags(t), "./testdata/probe")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the probe: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), probe).Output()
	if err != nil {
		t.Fatalf("running the probe: %v", err)
	}
	var got struct {
		Kapi          Info
		Modules       map[string]string
		ComponentBase kubeVersion
		ClientGo      kubeVersion
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("reading %q: %v", out, err)
	}

	const commit, date = "0123456789abcdef0123456789abcdef01234567", "2026-05-06T07:08:09Z"
	if want := (Info{"v1.2.3", commit, date, runtime.Version(), pinnedKubernetes, pinnedEtcd}); got.Kapi != want {
		t.Errorf("kapi = %+v\nwant   %+v", got.Kapi, want)
	}
	numbers := strings.SplitN(strings.TrimPrefix(pinnedKubernetes, "v"), ".", 3)
	want := kubeVersion{numbers[0], numbers[1], pinnedKubernetes, commit, "clean", date}
	if got.ComponentBase != want {
		t.Errorf("k8s.io/component-base/version = %+v\nwant %+v", got.ComponentBase, want)
	}
	if got.ClientGo != want {
		t.Errorf("k8s.io/client-go/pkg/version = %+v\nwant %+v", got.ClientGo, want)
	}
	for module, pin := range map[string]string{modKubernetes: pinnedKubernetes, modEtcd: pinnedEtcd} {
		if got.Modules[module] != pin {
			t.Errorf("the build information lists %s %q, want %s", module, got.Modules[module], pin)
		}
	}
}

// releaseFlags returns the linker flags of goreleaser.yaml with its templates
// filled, and fails on a template that this test does not know.
func releaseFlags(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Builds []struct {
			LDFlags []string `json:"ldflags"`
		} `json:"builds"`
	}
	if err := yaml.Unmarshal(raw, &release); err != nil {
		t.Fatalf("reading goreleaser.yaml: %v", err)
	}
	if len(release.Builds) != 1 {
		t.Fatalf("goreleaser.yaml has %d builds, want 1", len(release.Builds))
	}
	flags := templates.Replace(strings.Join(release.Builds[0].LDFlags, " "))
	if left := regexp.MustCompile(`{{.*?}}`).FindString(flags); left != "" {
		t.Fatalf("goreleaser.yaml has a template that this test does not fill: %s", left)
	}
	return flags
}

// The pins stand in for the modules' versions in test binaries, so they must be
// what go.mod requires: an upgrade that forgets them fails here.
func TestPinsEqualGoMod(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", modKubernetes, modEtcd).Output()
	if err != nil {
		t.Fatalf("asking for the versions of modules: %v", err)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	want := []string{modKubernetes + " " + pinnedKubernetes, modEtcd + " " + pinnedEtcd}
	if !slices.Equal(got, want) {
		t.Errorf("go.mod requires %q, the pins in version.go are %q", got, want)
	}
}
