package storage

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/component-base/featuregate"
)

// The tables in upstream_store_test.go and upstream_cache_test.go run the tests
// that upstream has for a storage.Interface (k8s.io/apiserver/pkg/storage/testing)
// against stores of a Backend.

// upstreamRow is one run of one of them.
type upstreamRow struct {
	name  string // of upstream's function, without RunTest or Run; "/" and a variant may follow
	setup setup
	run   func(*testing.T, *fixture)
}

// onStore adapts a test that needs the store only.
func onStore(test func(context.Context, *testing.T, storage.Interface)) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) { test(t.Context(), t, f) }
}

func gates(names ...featuregate.Feature) map[featuregate.Feature]bool {
	g := map[featuregate.Feature]bool{}
	for _, name := range names {
		g[name] = true
	}
	return g
}

func gatesOff(names ...featuregate.Feature) map[featuregate.Feature]bool {
	g := map[featuregate.Feature]bool{}
	for _, name := range names {
		g[name] = false
	}
	return g
}

// runRows runs the rows that set feature gates, which are of the whole process,
// and those that measure time, one after the other, and then the others side by side.
func runRows(t *testing.T, rows []upstreamRow) {
	for _, parallel := range []bool{false, true} {
		for _, r := range rows {
			if parallel == (r.setup.alone || len(r.setup.gates) > 0) {
				continue
			}
			t.Run(r.name, func(t *testing.T) {
				if parallel {
					t.Parallel()
				}
				r.run(t, newFixture(t, r.setup))
			})
		}
	}
}

// compact is upstream's way to compact, and waits until the store knows.
func (f *fixture) compact(ctx context.Context, t *testing.T, resourceVersion string) {
	t.Helper()
	rev, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	// The first call learns the version of the key that compactors agree by.
	version, _, done, err := etcd3.Compact(ctx, f.etcd, 0, rev)
	if err == nil && done != rev {
		_, _, done, err = etcd3.Compact(ctx, f.etcd, version, rev)
	}
	if err != nil || done != rev {
		t.Fatalf("compacting to %d: compacted to %d, error %v", rev, done, err)
	}
	if !compactRevisionIsWatched() {
		return
	}
	eventually(t, "the store knows the compaction", func() error {
		if got := f.CompactRevision(); got != rev {
			return errors.New("it is at " + strconv.FormatInt(got, 10))
		}
		return nil
	})
}

// increaseRV writes something that is no pod.
func (f *fixture) increaseRV(ctx context.Context, t *testing.T) int64 {
	t.Helper()
	r, err := f.etcd.Put(ctx, "other", "")
	if err != nil {
		t.Fatal(err)
	}
	return r.Header.Revision
}

// storedClean checks what is in etcd under key: an object without the fields
// that are only of the API.
func (f *fixture) storedClean(ctx context.Context, t *testing.T, key string) {
	t.Helper()
	r, err := f.etcd.Get(ctx, f.prefix+key)
	if err != nil || len(r.Kvs) != 1 {
		t.Fatalf("reading %s: %v, %v", key, r, err)
	}
	data, found := strings.CutPrefix(string(r.Kvs[0].Value), dataPrefix)
	if !found {
		t.Errorf("the transformer has not seen %q", r.Kvs[0].Value)
	}
	obj, err := runtime.Decode(f.codec, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if pod := obj.(*example.Pod); pod.ResourceVersion != "" || pod.SelfLink != "" { //nolint:staticcheck // upstream's rule covers it
		t.Errorf("stored with resource version %q and self link %q", pod.ResourceVersion, pod.SelfLink) //nolint:staticcheck // as above
	}
}

// lasting is a store whose updates have no TTL.
type lasting struct{ *fixture }

func (l lasting) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object,
) error {
	return l.fixture.GuaranteedUpdate(ctx, key, out, ignoreNotFound, preconditions,
		func(in runtime.Object, meta storage.ResponseMeta) (runtime.Object, *uint64, error) {
			obj, _, err := update(in, meta)
			return obj, nil, err
		}, cached)
}

// get: the test gives its object a second to live, and on a busy machine reads
// it later. It is not about that second.
func get(t *testing.T, f *fixture) { storagetesting.RunTestGet(t.Context(), t, lasting{f}) }

// visible is a store whose Create returns when the watch cache has the object.
type visible struct{ *fixture }

func (v visible) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	if err := v.fixture.Create(ctx, key, obj, out, ttl); err != nil {
		return err
	}
	var rv string
	if pod, ok := out.(*example.Pod); ok {
		rv = pod.ResourceVersion
	}
	cached := &example.Pod{}
	// It waits until the cache is at least there.
	if err := v.Get(ctx, key, storage.GetOptions{ResourceVersion: rv}, cached); err != nil {
		return err
	}
	if !equality.Semantic.DeepEqual(cached, out) {
		return errors.New("the cache has another object")
	}
	return nil
}

// onVisible adapts a test that expects the cache to follow at once.
func onVisible(test func(context.Context, *testing.T, storage.Interface)) func(*testing.T, *fixture) {
	return func(t *testing.T, f *fixture) { test(t.Context(), t, visible{f}) }
}

// TestUpstreamIsComplete holds the tables to upstream: a test that appears in a
// new version must be run by both, or be excused with a reason.
func TestUpstreamIsComplete(t *testing.T) {
	t.Parallel()
	all := upstreamTests(t)
	for _, table := range []struct {
		name  string
		rows  []upstreamRow
		unfit map[string]string
	}{
		{"store", storeRows(), unfitForStore()},
		{"cache", cacheRows(), unfitForCache()},
	} {
		known := map[string]bool{}
		for _, row := range table.rows {
			name, _, _ := strings.Cut(row.name, "/")
			known[name] = true
		}
		for name := range table.unfit {
			if known[name] {
				t.Errorf("%s: %s is excused, and run", table.name, name)
			}
			known[name] = true
		}
		for _, name := range all {
			if !known[name] {
				t.Errorf("%s: upstream's %s is neither run nor excused", table.name, name)
			}
			delete(known, name)
		}
		for name := range known {
			t.Errorf("%s: upstream has no %s", table.name, name)
		}
	}
}

// upstreamTests are the names of the functions that take a *testing.T and a store.
func upstreamTests(t *testing.T) (names []string) {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "k8s.io/apiserver/pkg/storage/testing").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*_tests.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of upstream's tests: %v", err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Run") {
				names = append(names, strings.TrimPrefix(strings.TrimPrefix(fn.Name.Name, "Run"), "Test"))
			}
		}
	}
	return names
}
