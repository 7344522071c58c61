package inspect

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
)

// TestFlagsRefused: what does not fit together is refused before anything is asked.
func TestFlagsRefused(t *testing.T) {
	f := newFakeKapi(t)
	for _, test := range []struct{ words, text, hint string }{
		{"layers --watch --for=condition=Healthy", "--watch and --for exclude each other", "--for ends by itself"},
		{"crds --watch --for=condition=Established", "--watch and --for exclude each other", "--for ends by itself"},
		{"layers --output-watch-events", "--output-watch-events is for --watch", "add --watch"},
		{"layers -w --sort-by=name", "--sort-by does not go with --watch", "leave one of them out"},
		{"apiservices -w --sort-by=name", "--sort-by does not go with --watch", "leave one of them out"},
		{"layers -w a b", "--watch takes one name, not 2", "watch all of them, or one"},
		{"layers EMPTY", "a name is empty", "leave it out"},
		{"crds EMPTY a", "a name is empty", "leave it out"},
		{"layers a -l b=c", "a name and a selector exclude each other", "leave one of them out"},
		{"crds a --field-selector metadata.name=a", "a name and a selector exclude each other", "leave one of them out"},
		{"crds --server-id x", "--server-id: customresourcedefinitions are the same for all servers", "leave it out"},
		{"crds -l a=b=c=d", "can't be read", "name=value"},
		{"crds --field-selector a", "can't be read", "metadata.name=NAME"},
		{"apiservices --field-selector spec.group=apps", `can't be selected by field "spec.group"`, "only by metadata.name"},
		{"layers --colour", "unknown flag --colour", "--help lists the flags"},
		{"layers --no-header", "did you mean --no-headers?", "--help lists the flags"},
		{"layers --timeout=soon", `invalid argument "soon"`, ""},
		{"request", "takes 1 argument(s), not 0", `"kapi inspect requests -o wide" shows them`},
		{"request a b", "takes 1 argument(s), not 2", "audit ID"},
		{"layer-s", "layer-s", "did you mean layers?"},
		{"requets", "requets", "did you mean request"},
		{"花", "花", "--help lists"},
		{"layers --data-dir a --kubeconfig b", "--data-dir and --kubeconfig name two kubeconfigs", "keep one of them"},
	} {
		args := f.args(strings.Fields(test.words)...)
		for i := range args {
			args[i] = strings.Replace(args[i], "EMPTY", "", 1)
		}
		r := run(t, args...)
		if r.err == nil || fault.Code(r.err) != fault.CodeUsage || !strings.Contains(r.err.Error(), test.text) || !strings.Contains(fault.Hint(r.err), test.hint) {
			t.Errorf("%s: code %d, error %v, hint %q", test.words, fault.Code(r.err), r.err, fault.Hint(r.err))
		}
		if r.stdout != "" {
			t.Errorf("%s: it prints %q", test.words, r.stdout)
		}
	}
	if len(f.seen) > 0 {
		t.Errorf("it asks the server: %q", f.seen)
	}
}

// TestFrom: a file that is no recording is bad input, and the error names it.
func TestFrom(t *testing.T) {
	whole, err := os.ReadFile(kapiFile)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	if _, err := writer.Write(whole); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, text, hint string }{
		{filepath.Join(dir, "missing"), "no such file", "name a file that exists"},
		{dir, "is a directory", "name a file"},
		{file("empty", nil), "it is empty", "kapi inspect snapshot > FILE"},
		{file("text", []byte("# hello\n")), "no JSON", "kapi inspect snapshot > FILE"},
		{file("json", []byte(`{"kind":"List","apiVersion":"v1"}`)), "can't be used", "kapi inspect snapshot > FILE"},
		{file("cut", whole[:len(whole)/2]), "is cut off", "copy it once more"},
		{file("cut.gz", zipped.Bytes()[:zipped.Len()/2]), "is cut off", "copy it once more"},
		{file("more", append(bytes.Clone(whole), '{')), "something follows after its end", "kapi inspect snapshot > FILE"},
	} {
		for _, command := range [][]string{{}, {"layers"}, {"crds"}, {"request", "last"}, {"snapshot"}, {"diff", kapiFile}} {
			r := run(t, append(command, "--from", test.path)...)
			if fault.Code(r.err) != fault.CodeUsage || !strings.Contains(r.err.Error(), test.text) || !strings.Contains(r.err.Error(), test.path) || !strings.Contains(fault.Hint(r.err), test.hint) {
				t.Errorf("%v %s: code %d, error %v, hint %q", command, test.path, fault.Code(r.err), r.err, fault.Hint(r.err))
			}
		}
	}
	want := run(t, "layers", "--from", kapiFile).ok(t)
	if got := run(t, "layers", "--from", file("whole.gz", zipped.Bytes())).ok(t); got != want {
		t.Errorf("packed it prints\n%s", got)
	}
	for _, stdin := range []string{string(whole), zipped.String()} {
		if got := runWith(t, stdin, "layers", "--from", "-").ok(t); got != want {
			t.Errorf("from stdin it prints\n%s", got)
		}
	}
	runWith(t, string(whole[:100]), "layers", "--from", "-").fails(t, fault.CodeUsage, "stdin is cut off", "copy it once more")
	runWith(t, "", "layers", "--from", "-").fails(t, fault.CodeUsage, "stdin can't be used: it is empty", "kapi inspect snapshot > FILE")
}

// TestRecordingStays: what a recording can't do is said at once.
func TestRecordingStays(t *testing.T) {
	for _, words := range []string{"layers -w", "crds -w", "apiservices --watch -o json", "requests -w", "layers --for=condition=Healthy=False", "crds --for=condition=Established"} {
		r := run(t, append(strings.Fields(words), "--from", kapiFile)...)
		r.fails(t, fault.CodeUsage, "is a recording, which does not change", "leave --from out")
	}
}

// TestServerFails: the errors of a server have an exit code and a way out.
func TestServerFails(t *testing.T) {
	f := newFakeKapi(t)
	f.failures["/apis/inspect.kapi.dev/v1alpha1/serverlayers"] = forbidden("inspect.kapi.dev", "serverlayers")
	f.failures["/apis/inspect.kapi.dev/v1alpha1/requesttraces"] = forbidden("inspect.kapi.dev", "requesttraces")
	f.failures["/apis/apiextensions.k8s.io/v1/customresourcedefinitions"] = forbidden("apiextensions.k8s.io", "customresourcedefinitions")
	for words, hint := range map[string]string{
		"layers": "kapi:inspect gives it", "layers -w": "kapi:inspect gives it", "layers --for=condition=Healthy": "kapi:inspect gives it",
		"requests": "--clusterrole=kapi:inspect-requests", "request last": "--clusterrole=kapi:inspect-requests",
		"crds": "--resource=customresourcedefinitions.apiextensions.k8s.io", "crds -w": "--resource=customresourcedefinitions",
	} {
		run(t, f.args(strings.Fields(words)...)...).fails(t, fault.CodeUnauthorized, "forbidden", hint)
	}
	run(t, f.args("filters", "花")...).fails(t, fault.CodeFailure, `"花" not found`, "")
	f.Close()
	run(t, f.args("filters")...).fails(t, fault.CodeFailure, "no server answers at "+f.URL, "kapi serve")
	run(t, f.args("crds", "-w")...).fails(t, fault.CodeFailure, "no server answers", "kapi serve")
	run(t, "filters").fails(t, fault.CodeFailure, "no kubeconfig found", "kapi serve")
}

// TestExitStatus is 3 only where it is asked for, and something is not well.
func TestExitStatus(t *testing.T) {
	for words, unwell := range map[string]bool{
		"":                            true,
		"layers":                      false,
		"probes":                      true,
		"probes v1.apps":              false,
		"crds":                        true,
		"crds widgets.example.com":    false,
		"crds gadgets.example.com":    true,
		"crds -o wide":                true,
		"crds -o json":                true,
		"apiservices":                 true,
		"apiservices v1.apps -o name": false,
		"apiservices v1.broken.example.com -o json": true,
		"hooks":                 false,
		"health":                false,
		"controllers":           true,
		"controllers namespace": false,
	} {
		args := append(strings.Fields(words), "--from", kapiFile)
		plain := run(t, args...)
		if plain.err != nil {
			t.Errorf("%s: %v", words, plain.err)
		}
		asked := run(t, append(args, "--exit-status")...)
		want := 0
		if unwell {
			want = fault.CodeUnhealthy
		}
		if fault.Code(asked.err) != want || asked.stdout != plain.stdout || unwell && !fault.IsSilent(asked.err) {
			t.Errorf("%s: code %d, error %v", words, fault.Code(asked.err), asked.err)
		}
	}
}

func TestChoose(t *testing.T) {
	var traces []*v1alpha1.RequestTrace
	for _, id := range []string{"aa-1", "aa-2", "b", "b-2", "last-1", "花-1"} {
		trace := &v1alpha1.RequestTrace{}
		trace.Spec.AuditID = id
		traces = append(traces, trace)
	}
	for id, want := range map[string]string{"aa-1": "aa-1", "aa-2": "aa-2", "b-": "b-2", "花": "花-1", "last": "花-1", "last-": "last-1"} {
		got, err := choose(traces, id)
		if err != nil || got.Spec.AuditID != want {
			t.Errorf("%q is %v, %v", id, got, err)
		}
	}
	for id, want := range map[string]struct {
		code       int
		text, hint string
	}{
		"aa":  {fault.CodeUsage, `2 requests begin with "aa"`, "aa-1 or aa-2"},
		"x":   {fault.CodeFailure, `"x" is remembered`, "requests -o wide"},
		"AA":  {fault.CodeFailure, `"AA" is remembered`, "requests -o wide"},
		"a-1": {fault.CodeFailure, `"a-1" is remembered`, "requests -o wide"},
	} {
		_, err := choose(traces, id)
		result{err: err}.fails(t, want.code, want.text, want.hint)
	}
	_, err := choose(nil, "last")
	result{err: err}.fails(t, fault.CodeFailure, `"last" is remembered`, "requests -o wide")
}

// TestRequestByID finds a request on a server by its whole ID, its beginning, its
// name and "last".
func TestRequestByID(t *testing.T) {
	f := newFakeKapi(t)
	for id, want := range map[string]string{
		requestIDs["refused"]: "mx2wvw5t-330", "67fbe89d": "mx2wvw5t-351", "last": "mx2wvw5t-420", "mx2wvw5t-353": "mx2wvw5t-353",
	} {
		if got := run(t, f.args("request", id, "-o", "jsonpath={.metadata.name}")...).ok(t); got != want {
			t.Errorf("%s is %s", id, got)
		}
	}
	run(t, f.args("request", "4")...).fails(t, fault.CodeUsage, `begin with "4"`, "give more of it")
	run(t, f.args("request", "zz")...).fails(t, fault.CodeFailure, `"zz" is remembered`, "requests -o wide")
}

// TestEveryCommandHelps: three examples each, a group, names that no other command has.
func TestEveryCommandHelps(t *testing.T) {
	root := NewCmd(nil)
	names := map[string]string{}
	for _, cmd := range append(root.Commands(), root) {
		if n := strings.Count(cmd.Example, "  # "); n != 3 {
			t.Errorf("%s has %d examples", cmd.CommandPath(), n)
		}
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example + "\n") {
			if !strings.HasPrefix(line, "  kapi") && !strings.HasPrefix(line, "  timeout") && len([]rune(line)) > 101 {
				t.Errorf("%s: a line of its help is too long: %q", cmd.CommandPath(), line)
			}
		}
		if cmd == root {
			continue
		}
		if cmd.GroupID == "" || cmd.Short == "" || cmd.Long == "" {
			t.Errorf("%s has no group or no help", cmd.CommandPath())
		}
		for _, name := range append([]string{cmd.Name()}, cmd.Aliases...) {
			if before := names[name]; before != "" {
				t.Errorf("%q is a name of %s and of %s", name, before, cmd.Name())
			}
			names[name] = cmd.Name()
		}
	}
	for _, name := range strings.Fields("layers chain filters authn authz admission hooks boot health resources storage crds apiservices discovery requests flow etcd controllers") {
		if names[name] == "" {
			t.Errorf("%q is no command", name)
		}
	}
}
