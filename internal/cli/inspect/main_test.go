package inspect

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/config"
	"github.com/kapi-dev/kapi/internal/fault"
)

// update writes what is printed to the golden files instead of comparing it.
var update = flag.Bool("update", false, "write the golden files")

// The recordings: of a kapi with a definition and an APIService for each way to
// fail, and of an upstream kube-apiserver with nearly the same in it.
const (
	kapiFile    = "testdata/kapi.json"
	foreignFile = "testdata/foreign.json"
)

// TestMain keeps the environment of whoever runs the tests out of them.
func TestMain(m *testing.M) {
	os.Exit(isolated(m))
}

func isolated(m *testing.M) int {
	home, err := os.MkdirTemp("", "kapi-inspect-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(home)
	set := map[string]string{"HOME": home, "KAPI_DATADIR": filepath.Join(home, "none"), "XDG_DATA_HOME": home, "LANG": "C.UTF-8", "COLUMNS": "80"}
	for _, name := range []string{"KUBECONFIG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR"} {
		os.Unsetenv(name)
	}
	for name, value := range set {
		os.Setenv(name, value)
	}
	time.Local = time.UTC
	return m.Run()
}

// result is what a command has printed, and how it ended.
type result struct {
	stdout, stderr string
	err            error
}

// run runs `kapi inspect` as the program does.
func run(t *testing.T, args ...string) result {
	t.Helper()
	return runWith(t, "", args...)
}

// runWith is run with something on stdin.
func runWith(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr strings.Builder
	root := newRoot()
	root.SetArgs(append([]string{"inspect"}, args...))
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err := root.ExecuteContext(t.Context())
	return result{stdout.String(), stderr.String(), err}
}

// newRoot is kapi with no other command.
func newRoot() *cobra.Command {
	root := &cobra.Command{Use: "kapi", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(NewCmd(config.FlagErrorFunc))
	return root
}

// ok fails the test unless the command went well, and returns what it has printed.
func (r result) ok(t *testing.T) string {
	t.Helper()
	if r.err != nil {
		t.Fatalf("it fails: %v (hint: %s)\n%s", r.err, fault.Hint(r.err), r.stderr)
	}
	return r.stdout
}

// fails fails the test unless the command ended with a code, and a text and a hint
// that have these words.
func (r result) fails(t *testing.T, code int, words, hint string) {
	t.Helper()
	switch {
	case r.err == nil:
		t.Errorf("it does not fail; it prints\n%s", r.stdout)
	case fault.Code(r.err) != code, !strings.Contains(r.err.Error(), words), !strings.Contains(fault.Hint(r.err), hint):
		t.Errorf("code %d, error %q, hint %q; want code %d, %q, hint %q", fault.Code(r.err), r.err, fault.Hint(r.err), code, words, hint)
	case hint == "" && fault.Hint(r.err) != "":
		t.Errorf("error %q has the hint %q, which the test does not expect", r.err, fault.Hint(r.err))
	}
}

// String is all of it, as a person sees it.
func (r result) String() string {
	var b strings.Builder
	b.WriteString(r.stdout)
	if r.stderr != "" {
		b.WriteString("--- stderr\n" + r.stderr)
	}
	if r.err == nil {
		return b.String()
	}
	fmt.Fprintf(&b, "--- exit status %d\n", fault.Code(r.err))
	if !fault.IsSilent(r.err) {
		fmt.Fprintf(&b, "error: %s\n", r.err)
		if hint := fault.Hint(r.err); hint != "" {
			fmt.Fprintf(&b, "hint: %s\n", hint)
		}
	}
	return b.String()
}

// recording opens a recording.
func recording(t *testing.T, name string) *recorded.Server {
	t.Helper()
	server, err := recorded.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return server
}
