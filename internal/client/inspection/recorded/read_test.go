package recorded

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// golden is a snapshot of a real kapi, as Take writes it.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func open(t *testing.T, name string) *Server {
	t.Helper()
	server, err := Open(filepath.Join("testdata", name))
	must(t, err)
	return server
}

// What was written is read, and written again as it was.
func TestReadAndTakeAreInverse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"before.json", "after.json"} {
		var again bytes.Buffer
		summary, err := Take(t.Context(), open(t, name), &again)
		must(t, err)
		if !bytes.Equal(again.Bytes(), golden(t, name)) {
			t.Errorf("%s is not what it was", name)
		}
		if summary.Bytes != int64(again.Len()) || len(summary.Failed) > 0 || len(summary.Counts) != len(listTypes()) {
			t.Errorf("the summary is %+v", summary)
		}
	}
}

const small = `{"apiVersion":"inspect.kapi.dev/v1alpha1","kind":"Snapshot","about":{"type":"kapi","at":"2026-01-02T03:04:05Z"},
"lists":[{"apiVersion":"inspect.kapi.dev/v1alpha1","kind":"FilterList","metadata":{"resourceVersion":"7"},"items":[
{"metadata":{"name":"authorization"},"serverID":"a","spec":{"order":1,"doc":"","enabled":true}}]}],
"gaps":{},"failed":{},"takenAt":"2026-01-02T03:04:06Z"}
`

// reordered is small with sorted keys, as jq -S leaves it, and with a list and a
// key that this kapi does not know.
func reordered(t testing.TB) string {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal([]byte(small), &document); err != nil {
		t.Fatal(err)
	}
	document["lists"] = append(document["lists"].([]any), map[string]any{"kind": "DreamList", "apiVersion": "v9", "items": []any{1, "two"}})
	document["aaa"] = map[string]any{"nested": []any{1}}
	sorted, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}

type entry struct {
	name, content string
}

func archive(t testing.TB, entries ...entry) string {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	files := tar.NewWriter(zipped)
	for _, e := range entries {
		if err := files.WriteHeader(&tar.Header{Name: e.name, Typeflag: tar.TypeReg, Size: int64(len(e.content)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

func zip(t testing.TB, content string) string {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	if _, err := zipped.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

func TestReadTakesEveryForm(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"plain": small, "sorted keys": reordered(t), "zipped": zip(t, small),
		"bundle":             archive(t, entry{"x/README.txt", "read me"}, entry{"x/snapshot.json", small}, entry{"x/y", "after"}),
		"bundle, no folder":  archive(t, entry{"snapshot.json", small}),
		"blanks at the ends": " \n" + small + "\n\n",
	} {
		server, err := Read(strings.NewReader(content), "some file")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		about, _ := server.About(t.Context())
		if about.RecordedFrom != "some file" || about.At.Second() != 6 || about.Type != "kapi" {
			t.Errorf("%s: got %+v", name, about)
		}
		if got := server.listings["filters"]; len(got.Objects) != 1 || got.ResourceVersion != "7" {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	swap := func(old, now string) string {
		if !strings.Contains(small, old) {
			t.Fatalf("no %s", old)
		}
		return strings.Replace(small, old, now, 1)
	}
	filters := small[strings.Index(small, `{"apiVersion":"inspect.kapi.dev/v1alpha1","kind":"FilterList"`) : strings.Index(small, `]}],`)+2]
	packed := archive(t, entry{"x/snapshot.json", small})
	for name, tt := range map[string]struct{ content, says string }{
		"empty":                {"", "it is empty"},
		"a table":              {"NAME   ORDER\nping   1\n", "it is no JSON there"},
		"YAML":                 {"apiVersion: v1\nkind: Config\n", "it is no JSON there"},
		"an array":             {`[]`, "{ is missing"},
		"a text":               {`"Snapshot"`, "{ is missing"},
		"another kind":         {`{"apiVersion":"v1","kind":"List","items":[]}`, `after byte 18 it is "v1" where this kapi reads "inspect.kapi.dev/v1alpha1"`},
		"another version":      {swap("v1alpha1", "v2"), `"inspect.kapi.dev/v2"`},
		"another kind of ours": {swap(`"kind":"Snapshot"`, `"kind":"Filter"`), `it is "Filter" where this kapi reads "Snapshot"`},
		"no kind":              {`{"lists":[],"takenAt":"2026-01-02T03:04:06Z"}`, "it has no apiVersion and kind"},
		"no time":              {swap(`,"takenAt":"2026-01-02T03:04:06Z"`, ""), "when it was taken"},
		"a bad time":           {swap(`03:04:06Z`, "noon"), "after byte"},
		"something after it":   {small + small, "something follows after its end"},
		"the same list twice":  {swap(filters, filters+","+filters), "two lists of filters"},
		"null for an object":   {swap(`{"metadata":{"name":"authorization"}`, `null,{"metadata":{"name":"authorization"}`), "the object after byte 229: it is no JSON object"},
		"a text for an order":  {swap(`"order":1`, `"order":"first"`), "the object after byte 229: json: cannot unmarshal"},
		"lists are no array":   {swap(`"lists":[`, `"lists":{"a":[`), "[ is missing"},
		"a comma too many":     {swap(`"enabled":true`, `"enabled":true,`), "it is no JSON there"},
		"a bundle without it":  {archive(t, entry{"x/README.txt", small}), "it has no snapshot.json"},
		"only looks zipped":    {"\x1f\x8bnot at all", "begins like a .tgz"},
		"zipped, no archive":   {zip(t, strings.Repeat("x", 2000)), "it is no bundle"},
		"cut off":              {small[:len(small)-30], "is cut off"},
		"cut off early":        {`{"api`, "is cut off"},
		"a bundle cut off":     {packed[:len(packed)-40], "is cut off"},
		"a bundle's beginning": {packed[:15], "is cut off"},
	} {
		_, err := Read(strings.NewReader(tt.content), "a.json")
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "a.json") {
			t.Errorf("%s: got %v, want an error that says %q", name, err, tt.says)
		}
		if fault.Code(err) != fault.CodeUsage || fault.Hint(err) == "" {
			t.Errorf("%s: exit code %d, hint %q", name, fault.Code(err), fault.Hint(err))
		}
	}
}

// Wherever a snapshot ends too early, it is said.
func TestReadFindsEveryCut(t *testing.T) {
	t.Parallel()
	whole := strings.TrimSpace(small)
	for end := range len(whole) {
		_, err := Read(strings.NewReader(whole[:end]), "a.json")
		if fault.Code(err) != fault.CodeUsage || end > 0 && !strings.Contains(err.Error(), "cut off") {
			t.Errorf("cut after %d bytes: %v", end, err)
		}
	}
}

func TestReadHasLimits(t *testing.T) {
	t.Parallel()
	long := strings.Replace(small, `"doc":""`, `"doc":"`+strings.Repeat("x", 2<<20)+`"`, 1)
	for name, content := range map[string]string{
		"plain": long, "bomb": zip(t, `{"a":"`+strings.Repeat("x", 8<<20)), "bomb in a bundle": archive(t, entry{"a", strings.Repeat("\x00", 8<<20)}),
		"snapshot in a bundle": archive(t, entry{"snapshot.json", long}),
		"zipped":               zip(t, long),
	} {
		_, err := read(strings.NewReader(content), "a.tgz", limits{1 << 20, 10})
		if fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), "a.tgz is too large") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := read(strings.NewReader(small), "a.json", limits{int64(len(small)), 1}); err != nil {
		t.Errorf("exactly as large as may be: %v", err)
	}
	many := strings.Replace(small, `"items":[`, `"items":[`+strings.Repeat("{},", 10), 1)
	if _, err := read(strings.NewReader(many), "a.json", limits{1 << 20, 10}); err == nil || !strings.Contains(err.Error(), "more than 10 objects") {
		t.Errorf("too many objects: %v", err)
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none.json")
	for path, says := range map[string]string{missing: "no such file", t.TempDir(): "is a directory"} {
		_, err := Open(path)
		if fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), says) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("got %v", err)
		}
	}
}

// Whatever a file holds, Read answers, and what it takes can be written again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		small, reordered(f), zip(f, small), archive(f, entry{"x/snapshot.json", small}), small[:200], "", "{", "\x1f\x8b",
		`{"apiVersion":"inspect.kapi.dev/v1alpha1","kind":"Snapshot","takenAt":"2026-01-02T03:04:06Z","failed":{"filters":{"message":"x"}},"gaps":{"filters":[{}]}}`,
		strings.Replace(small, `"items":[`, `"items":[null,`, 1), `{"lists":[[[[`, string(golden(f, "before.json")[:4000]),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		server, err := read(bytes.NewReader(data), "fuzz", limits{1 << 20, 1000})
		if err != nil {
			if fault.Code(err) != fault.CodeUsage {
				t.Errorf("%v has code %d", err, fault.Code(err))
			}
			return
		}
		if _, err := Take(t.Context(), server, &bytes.Buffer{}); err != nil {
			t.Error(err)
		}
	})
}
