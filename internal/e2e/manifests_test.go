package e2e_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestManifests starts kapi on a directory where not everything is right: what
// is wrong is named with its place, and keeps out nothing else.
func TestManifests(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs("testdata/manifests")
	if err != nil {
		t.Fatal(err)
	}
	server := kapitest.Start(t, "--manifests", dir)
	client := server.Client(t)

	for _, name := range []string{"default/before-broken", "default/after-broken", "default/listed-one", "default/listed-two", "manifests-e2e/in-new-namespace"} {
		namespace, name, _ := strings.Cut(name, "/")
		if _, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
	lamps := dynamicClient(t, server.Config(t)).Resource(schema.GroupVersionResource{Group: "manifests.e2e.test", Version: "v1", Resource: "lamps"}).Namespace("default")
	desk, err := lamps.Get(t.Context(), "desk", metav1.GetOptions{})
	if err != nil {
		t.Error(err)
	} else if managers := desk.GetManagedFields(); len(managers) != 1 || managers[0].Manager != "kapi-manifests" || managers[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("managed fields: %+v", managers)
	}
	if _, err := lamps.Get(t.Context(), "too-bright", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an object that the definition refuses: %v", err)
	}
	for _, want := range []string{
		"20-broken.yaml:11: ", // where the parser gives up: the line after the open quote
		"30-refused.yaml:1: lamp too-bright: ", "brighter than a desk can stand",
		"30-refused.yaml:6: nothing unknown: ",
		"30-refused.yaml:10: ",
		"30-refused.yaml:16: ",
		"objects=8 failed=5",
	} {
		if !strings.Contains(server.Log(), want) {
			t.Errorf("the log does not hold %q", want)
		}
	}
	for _, not := range []string{"kustomization", "README"} {
		if strings.Contains(server.Log(), not) {
			t.Errorf("the log speaks of %s, which is no manifest", not)
		}
	}
}

// TestManifestsAgain: a start applies the files as they are then.
func TestManifestsAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	server := kapitest.New(t, "--manifests", file)
	for _, color := range []string{"blue", "red"} {
		writeFile(t, file, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: again}\ndata: {color: "+color+"}\n")
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		config, err := server.Client(t).CoreV1().ConfigMaps("default").Get(t.Context(), "again", metav1.GetOptions{})
		if err != nil || config.Data["color"] != color {
			t.Errorf("want %s: %v %v", color, config.Data, err)
		}
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManifestsMissing: a path that is not there is a mistake on the command
// line, and nothing starts.
func TestManifestsMissing(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "crds")
	code, stderr := runServe(t, t.TempDir(), "--manifests", missing)
	if code == 0 || !strings.Contains(stderr, missing) {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
}

// moduleDir is where the go command keeps a module of go.mod.
func moduleDir(t testing.TB, module string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("finding module %s: %v", module, err)
	}
	return strings.TrimSpace(string(out))
}
