package recorded

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/fault"
)

// leaky is a server that shows a secret in every answer, is not ready, and lets
// nobody read its metrics. answered is what it was asked for.
func leaky(t *testing.T) rest.Interface {
	t.Helper()
	secret := "token=" + planted + "\n"
	mux := http.NewServeMux()
	for path, body := range map[string]string{
		"/version": `{"gitVersion":"v1.37.2"}` + "\n", "/livez": "[+]ping ok\nlivez check passed\n", "/api": `{"kind":"APIGroupDiscoveryList"}` + "\n",
		"/apis": `{"kind":"APIGroupDiscoveryList"}` + "\n", "/openapi/v3": `{"paths":{}}` + "\n",
		"/debug/api_priority_and_fairness/dump_priority_levels": "PriorityLevelName\n", "/debug/api_priority_and_fairness/dump_queues": "Index\n",
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if path == "/livez" && r.URL.Query().Get("verbose") == "" {
				t.Errorf("%s was not asked to be verbose", path)
			}
			io.WriteString(w, body+secret)
		})
	}
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, "[-]etcd failed: reason withheld\n"+secret+"readyz check failed\n")
	})
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"no way with token=`+planted+`"}`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	client, err := rest.UnversionedRESTClientFor(&rest.Config{
		Host: server.URL, ContentConfig: rest.ContentConfig{NegotiatedSerializer: scheme.Codecs.WithoutConversion()},
	})
	must(t, err)
	return client
}

// unpack returns the files of a bundle by name, and their order.
func unpack(t *testing.T, path string) (files map[string]string, order []string) {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	must(t, err)
	files = map[string]string{}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, order
		}
		must(t, err)
		content, err := io.ReadAll(archive)
		must(t, err)
		if header.Mode != 0o600 || int64(len(content)) != header.Size {
			t.Errorf("%s: mode %o, %d bytes of %d", header.Name, header.Mode, len(content), header.Size)
		}
		files[header.Name], order = string(content), append(order, header.Name)
	}
}

func TestBundle(t *testing.T) {
	t.Parallel()
	original := open(t, "after.json")
	server := altered{
		Server: original,
		list: func(resource string) error {
			if traces, _ := kinds.ByName("requesttraces"); resource == traces.Resource {
				return forbidden(traces)
			}
			return nil
		},
		definitions: func(yield func(*apiextensionsv1.CustomResourceDefinition, error) bool) {
			yield(&apiextensionsv1.CustomResourceDefinition{
				ObjectMeta: metav1.ObjectMeta{Name: "x.example", Labels: map[string]string{"password": planted}},
			}, nil)
		},
	}
	about, _ := original.About(t.Context())
	parts := append([]Part{
		SnapshotPart(server),
		{Name: "overview.txt", About: "what kapi inspect says", Write: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, "etcd: dialing https://u:"+planted+"@host\n")
			return err
		}},
		{Name: "broken.txt", Write: func(context.Context, io.Writer) error { return errors.New("refused: Bearer " + planted) }},
	}, ServerParts(leaky(t))...)
	dir := t.TempDir()
	path := filepath.Join(dir, "例 report.tgz")
	contents, err := WriteBundle(t.Context(), path, parts, BundleOptions{Of: about, MadeBy: "v0.1.0"})
	must(t, err)

	files, order := unpack(t, path)
	if order[0] != "例 report/README.txt" || len(order) != len(contents.Files) || len(order) != len(parts)-2+1 {
		t.Errorf("the files are %q, the contents %+v", order, contents)
	}
	readme := files[order[0]]
	for i, file := range contents.Files {
		content := files["例 report/"+file.Name]
		if strings.Contains(content, planted) {
			t.Errorf("the secret is in %s", file.Name)
		}
		if order[i] != "例 report/"+file.Name || int64(len(content)) != file.Bytes || file.About == "" {
			t.Errorf("%+v is file %d of %q with %d bytes", file, i, order, len(content))
		}
		// Only what had a secret in it was changed, and was in the bundle at all.
		if !strings.Contains(content, removed) {
			t.Errorf("nothing was removed from %s", file.Name)
		}
		if i > 0 && !strings.Contains(readme, "  "+file.Name+" ") {
			t.Errorf("the README does not list %s", file.Name)
		}
	}
	if !strings.Contains(files["例 report/readyz.txt"], "[-]etcd failed") {
		t.Errorf("readyz is %q", files["例 report/readyz.txt"])
	}
	left := map[string]string{}
	for _, each := range contents.Left {
		left[each.Name] = each.Why
		if strings.Contains(each.Why, planted) || !strings.Contains(readme, each.Name+": ") {
			t.Errorf("%+v has the secret, or is not in the README", each)
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(left)), []string{"broken.txt", "metrics.txt", snapshotFile}) ||
		!strings.Contains(left["metrics.txt"], "no way") || !strings.Contains(left[snapshotFile], "requesttraces") {
		t.Errorf("left out: %v", left)
	}
	checkFile(t, path, contents.Bytes)
	again, err := Open(path)
	must(t, err)
	filters, _ := kinds.ByName("filters")
	if got := again.listings[filters.Resource]; len(got.Objects) != 28 {
		t.Errorf("the snapshot in it has %d filters", len(got.Objects))
	}
}

// Whoever is sent a bundle reads its README in a terminal.
func TestReadmeFits(t *testing.T) {
	t.Parallel()
	var contents Contents
	for _, part := range append(ServerParts(leaky(t)), SnapshotPart(nil)) {
		contents.Files = append(contents.Files, File{part.Name, 999 << 10, part.About})
	}
	about, _ := open(t, "after.json").About(t.Context())
	for line := range strings.Lines(readme(contents, BundleOptions{Of: about, MadeBy: "v0.1.0"})) {
		if len(line) > 81 || strings.HasSuffix(line, " \n") {
			t.Errorf("%d columns: %q", len(line), line)
		}
	}
}

// checkFile: private, alone in its folder, and as large as was said.
func checkFile(t *testing.T, path string, size int64) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode() != 0o600 || info.Size() != size {
		t.Errorf("mode %v, %d bytes, want %d", info.Mode(), info.Size(), size)
	}
	if found, _ := os.ReadDir(filepath.Dir(path)); len(found) != 1 {
		t.Errorf("left behind: %v", found)
	}
}

func text(name, content string) Part {
	return Part{Name: name, Write: func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}}
}

func TestBundleDoesNotReplaceAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.tar.gz")
	must(t, os.WriteFile(path, []byte("precious"), 0o644))
	_, err := WriteBundle(t.Context(), path, []Part{text("a.txt", "a")}, BundleOptions{})
	if fault.Code(err) != fault.CodeUsage || !strings.Contains(fault.Hint(err), "--force") {
		t.Errorf("got %v (%s)", err, fault.Hint(err))
	}
	if kept, _ := os.ReadFile(path); string(kept) != "precious" {
		t.Errorf("the file is %q", kept)
	}
	contents, err := WriteBundle(t.Context(), path, []Part{text("a.txt", "a")}, BundleOptions{Force: true})
	must(t, err)
	checkFile(t, path, contents.Bytes)
	if _, order := unpack(t, path); !slices.Equal(order, []string{"a/README.txt", "a/a.txt"}) {
		t.Errorf("got %q", order)
	}
	if _, err := WriteBundle(t.Context(), filepath.Dir(path), nil, BundleOptions{Force: true}); fault.Code(err) != fault.CodeUsage {
		t.Errorf("a directory: %v", err)
	}
	if _, err := WriteBundle(t.Context(), filepath.Join(path, "b.tgz"), nil, BundleOptions{}); err == nil {
		t.Error("a file is no directory")
	}
}

// What ends in the middle leaves nothing, and an old file as it was.
func TestBundleIsWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tgz")
	ctx, cancel := context.WithCancel(t.Context())
	given := Part{Name: "b", Write: func(ctx context.Context, w io.Writer) error {
		cancel()
		return ctx.Err()
	}}
	if _, err := WriteBundle(ctx, path, []Part{text("a", "a"), given}, BundleOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := WriteBundle(t.Context(), filepath.Join(dir, "missing", "a.tgz"), nil, BundleOptions{}); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "kapi-tmp") {
		t.Errorf("got %v", err)
	}
	if found, _ := os.ReadDir(dir); len(found) != 0 {
		t.Errorf("left behind: %v", found)
	}
}

// A full disk is no fault of the part that was being written.
func TestSpoolTellsAFullDisk(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	for _, content := range []string{"no line break", "one\ntwo\n", strings.Repeat("many\n", 1000)} {
		s := &spool{file: fullFile{full}}
		_, _ = s.add(t.Context(), text("a", content))
		if !errors.Is(s.err, full) {
			t.Errorf("%.20q: got %v", content, s.err)
		}
	}
	s := &spool{file: fullFile{nil}}
	if _, err := s.add(t.Context(), Part{Write: func(context.Context, io.Writer) error { return full }}); !errors.Is(err, full) || s.err != nil {
		t.Errorf("the part's error is %v, the file's %v", err, s.err)
	}
}

type fullFile struct{ err error }

func (f fullFile) Write(p []byte) (int, error)           { return len(p), f.err }
func (f fullFile) ReadAt(p []byte, _ int64) (int, error) { return 0, f.err }

// A server that does not answer costs a part its time, and no more.
func TestPartHasItsTime(t *testing.T) {
	t.Parallel()
	silent := Part{Name: "a", Timeout: time.Millisecond, Write: func(ctx context.Context, _ io.Writer) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	contents, err := WriteBundle(t.Context(), filepath.Join(t.TempDir(), "a.tgz"), []Part{silent, text("b", "b")}, BundleOptions{})
	must(t, err)
	if len(contents.Left) != 1 || contents.Left[0].Why != "no complete answer within 1ms" || len(contents.Files) != 2 {
		t.Errorf("got %+v", contents)
	}
}
