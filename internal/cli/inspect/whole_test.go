package inspect

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
)

func forbidden(group, resource string) *apierrors.StatusError {
	return apierrors.NewForbidden(schema.GroupResource{Group: group, Resource: resource}, "", nil)
}

// TestDiffGolden compares the recording with itself after a few changes.
func TestDiffGolden(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(kapiFile)
	if err != nil {
		t.Fatal(err)
	}
	after := later(t, before)
	t.Chdir(t.TempDir())
	for name, data := range map[string][]byte{"before.json": before, "after.json": after} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := &golden{}
	for _, words := range []string{
		"diff before.json after.json", "diff after.json before.json", "diff before.json after.json --all", "diff before.json before.json",
		"diff before.json after.json --exit-status", "diff before.json --from after.json", "diff before.json none.json",
	} {
		g.section(t, widths, "", strings.Fields(words)...)
	}
	g.section(t, nil, "", "diff", "before.json", "after.json", "-o", "json")
	g.section(t, nil, "", "diff", "before.json", "before.json", "-o", "yaml")
	g.section(t, widths[:1], "CLICOLOR_FORCE=1", "diff", "before.json", "after.json")
	g.compare(t, wd, "diff")
}

// later is the recording some time after: a definition more and one less, an
// APIService that came back, a plugin that refused more.
func later(t *testing.T, data []byte) []byte {
	t.Helper()
	for _, change := range []struct{ from, to string }{
		{`"name":"gadgets.example.com"`, `"name":"花.example.com"`},
		{`"takenAt":"2026-11-30T06:54:56`, `"takenAt":"2026-11-30T07:54:56`},
		{`"rejected":1`, `"rejected":4`},
		{`"reason":"ServiceNotFound"`, `"reason":"FailedDiscoveryCheck"`},
	} {
		if !bytes.Contains(data, []byte(change.from)) {
			t.Fatalf("the recording has no %s", change.from)
		}
		data = bytes.ReplaceAll(data, []byte(change.from), []byte(change.to))
	}
	return data
}

func TestDiffFails(t *testing.T) {
	run(t, "diff").fails(t, fault.CodeUsage, "takes one or two files, not 0", "kapi inspect snapshot >")
	run(t, "diff", "a", "b", "c").fails(t, fault.CodeUsage, "takes one or two files, not 3", "kapi inspect snapshot >")
	run(t, "diff", kapiFile, "-o", "wide").fails(t, fault.CodeUsage, `-o "wide" is not a format`, "json, yaml")
	run(t, "diff", "testdata/none.json", kapiFile).fails(t, fault.CodeUsage, "no such file", "snapshot")
	run(t, "diff", kapiFile, kapiFile, "--exit-status").ok(t)
}

// TestDiffWithServer compares with the server as it is now, which is the same.
func TestDiffWithServer(t *testing.T) {
	f := newFakeKapi(t)
	out := run(t, f.args("diff", kapiFile, "-o", "json")...).ok(t)
	var result struct{ Kinds []any }
	if err := json.Unmarshal([]byte(out), &result); err != nil || len(result.Kinds) != 0 {
		t.Errorf("error %v, differences %v", err, result.Kinds)
	}
}

// TestSnapshot: what a snapshot holds reads as what it was taken from, of a server
// and of a recording.
func TestSnapshot(t *testing.T) {
	f := newFakeKapi(t)
	for _, args := range [][]string{f.args("snapshot"), {"snapshot", "--from", kapiFile}} {
		r := run(t, args...)
		taken, err := recorded.Read(strings.NewReader(r.ok(t)), "it")
		if err != nil {
			t.Fatal(err)
		}
		before := recording(t, kapiFile)
		if got, want := listed(t, taken), listed(t, before); !slices.Equal(got, want) {
			t.Errorf("%v: it has %v, want %v", args, got, want)
		}
		if r.stderr != "" {
			t.Errorf("%v: it says %q", args, r.stderr)
		}
	}
}

// TestSnapshotWithout says what could not be read, and takes the rest.
func TestSnapshotWithout(t *testing.T) {
	f := newFakeKapi(t)
	f.failures["/apis/inspect.kapi.dev/v1alpha1/requesttraces"] = forbidden("inspect.kapi.dev", "requesttraces")
	r := run(t, f.args("snapshot")...)
	if !strings.HasPrefix(r.stderr, "not in the snapshot: requesttraces: ") || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("it says %q", r.stderr)
	}
	file := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(file, []byte(r.ok(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "layers", "--from", file).ok(t)
	again := run(t, "requests", "--from", file)
	if !apierrors.IsForbidden(again.err) || !strings.Contains(again.err.Error(), "when this was recorded") {
		t.Errorf("error %v", again.err)
	}
}

// TestBundle packs a server; every command reads it afterwards.
func TestBundle(t *testing.T) {
	f := newFakeKapi(t)
	file := filepath.Join(t.TempDir(), "report.tgz")
	out := run(t, f.args("bundle", "-o", file)...).ok(t)
	for _, want := range []string{"snapshot.json", "overview.txt", "README.txt", "Credentials are removed", file} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %s:\n%s", want, out)
		}
	}
	contents, _, _ := strings.Cut(out, "not complete:")
	if err := fits(contents, 80); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if got, want := run(t, "layers", "--from", file).ok(t), run(t, "layers", "--from", kapiFile).ok(t); strings.Count(got, "\n") != strings.Count(want, "\n") {
		t.Errorf("read again:\n%s\nwant\n%s", got, want)
	}
	run(t, f.args("bundle", "-o", file)...).fails(t, fault.CodeUsage, "exists", "--force")
	run(t, f.args("bundle", "-o", file, "--force")...).ok(t)
	run(t, f.args("bundle", "-o", filepath.Join(file, "x.tgz"))...).fails(t, fault.CodeUsage, "not a directory", "")
	run(t, f.args("bundle", "-o", filepath.Join(filepath.Dir(file), "none", "x.tgz"))...).fails(t, fault.CodeFailure, "no such file", "")
	run(t, "bundle").fails(t, fault.CodeUsage, "needs a file", "-o report.tgz")
	run(t, "bundle", "-o", file, "--from", kapiFile).fails(t, fault.CodeUsage, "is a recording already", "leave --from out")
	run(t, "bundle", "x", "-o", file).fails(t, fault.CodeUsage, `takes no argument "x"`, "")
	run(t, "snapshot", "x").fails(t, fault.CodeUsage, `takes no argument "x"`, "kapi inspect snapshot > x")
}

// listed are the names of all that a recording holds.
func listed(t *testing.T, server *recorded.Server) []string {
	t.Helper()
	var all []string
	for _, kind := range kinds.All() {
		listing, err := server.List(t.Context(), kind, inspection.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range listing.Objects {
			all = append(all, kind.Resource+"/"+object.GetName())
		}
	}
	for object, err := range server.Definitions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, object.Name)
	}
	for object, err := range server.APIServices(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, object.Name)
	}
	return all
}
