package stored

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func TestList(t *testing.T) {
	t.Parallel()
	r, root, _ := reader(t)
	put(t, []string{
		root + "/pods/default/a", root + "/pods/default/b", root + "/pods/kube-system/c", root + "/pods/x",
		root + "/podtemplates/default/a", root + "/secrets/東京/名前", root + "/leases/a..b", root + "/zebra",
		// What is not below the prefix, but next to it.
		root, root + "-other/pods/x", root + "0",
	}, fixed("12345"))
	for name, test := range map[string]struct {
		spec v1alpha1.StoredKeyQuerySpec
		want []string
		more bool
	}{
		"the whole prefix": {
			v1alpha1.StoredKeyQuerySpec{Delimiter: "/"},
			[]string{"/leases/ 1 5", "/pods/ 4 20", "/podtemplates/ 1 5", "/secrets/ 1 5", "/zebra 0 5"}, false,
		},
		"it, by its name":  {v1alpha1.StoredKeyQuerySpec{Prefix: root, Delimiter: "/", Limit: 1}, []string{"/leases/ 1 5"}, true},
		"a directory":      {v1alpha1.StoredKeyQuerySpec{Prefix: root + "/pods/", Delimiter: "/"}, []string{"/pods/default/ 2 10", "/pods/kube-system/ 1 5", "/pods/x 0 5"}, false},
		"part of a name":   {v1alpha1.StoredKeyQuerySpec{Prefix: root + "/pod", Delimiter: "/"}, []string{"/pods/ 4 20", "/podtemplates/ 1 5"}, false},
		"key by key":       {v1alpha1.StoredKeyQuerySpec{Prefix: root + "/pods/", Limit: 3}, []string{"/pods/default/a 0 5", "/pods/default/b 0 5", "/pods/kube-system/c 0 5"}, true},
		"exactly the rest": {v1alpha1.StoredKeyQuerySpec{Prefix: root + "/pods/", Limit: 4}, []string{"/pods/default/a 0 5", "/pods/default/b 0 5", "/pods/kube-system/c 0 5", "/pods/x 0 5"}, false},
		"behind a key":     {v1alpha1.StoredKeyQuerySpec{Prefix: root + "/pods/", After: root + "/pods/default/b"}, []string{"/pods/kube-system/c 0 5", "/pods/x 0 5"}, false},
		"behind several":   {v1alpha1.StoredKeyQuerySpec{Delimiter: "/", After: root + "/pods/", Limit: 2}, []string{"/podtemplates/ 1 5", "/secrets/ 1 5"}, true},
		"behind one of several": {
			v1alpha1.StoredKeyQuerySpec{Delimiter: "/", After: root + "/pods/default/a", Limit: 1}, []string{"/podtemplates/ 1 5"}, true,
		},
		"behind the last": {v1alpha1.StoredKeyQuerySpec{Delimiter: "/", After: root + "/zebra"}, nil, false},
		"nothing there":   {v1alpha1.StoredKeyQuerySpec{Prefix: root + "/none/"}, nil, false},
		"another delimiter": {
			v1alpha1.StoredKeyQuerySpec{Prefix: root + "/leases/", Delimiter: ".."}, []string{"/leases/a.. 1 5"}, false,
		},
		"names in another script": {
			v1alpha1.StoredKeyQuerySpec{Prefix: root + "/secrets/東京/", Delimiter: "/"}, []string{"/secrets/東京/名前 0 5"}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			status := query(t, r, test.spec)
			if got := lines(status, root); !slices.Equal(got, test.want) || status.More != test.more {
				t.Errorf("%q, more is %v; want %q, %v", got, status.More, test.want, test.more)
			}
			if status.Revision == 0 || !strings.HasPrefix(status.Prefix, root+"/") || status.Value != nil {
				t.Errorf("the answer is %+v", status)
			}
		})
	}
}

// TestRevisions: a key has the revisions of etcd, several have none.
func TestRevisions(t *testing.T) {
	t.Parallel()
	r, root, _ := reader(t)
	client := sharedEtcd.Client()
	lease, err := client.Grant(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	created, err := client.Put(t.Context(), root+"/a", "1")
	if err != nil {
		t.Fatal(err)
	}
	changed, err := client.Put(t.Context(), root+"/a", "123", clientv3.WithLease(lease.ID))
	if err != nil {
		t.Fatal(err)
	}
	want := v1alpha1.StoredKey{
		Key: root + "/a", Bytes: 3, Version: 2, Lease: int64(lease.ID),
		CreateRevision: created.Header.GetRevision(), ModRevision: changed.Header.GetRevision(),
	}
	one, listed := query(t, r, v1alpha1.StoredKeyQuerySpec{Key: root + "/a"}), query(t, r, v1alpha1.StoredKeyQuerySpec{})
	for _, status := range []v1alpha1.StoredKeyQueryStatus{one, listed} {
		if len(status.Keys) != 1 || status.Keys[0] != want || status.Revision < want.ModRevision {
			t.Errorf("%+v, want %+v", status, want)
		}
	}
	if one.Value == nil || one.Value.Bytes != 3 || one.Prefix != "" {
		t.Errorf("the one key: %+v", one)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	r, root, kv := reader(t)
	long := root + "/" + strings.Repeat("x", maxKey)
	for _, test := range []struct {
		spec v1alpha1.StoredKeyQuerySpec
		text string // that the error has
	}{
		{v1alpha1.StoredKeyQuerySpec{Prefix: "/"}, root + "/"},
		{v1alpha1.StoredKeyQuerySpec{Prefix: "/other/"}, root + "/"},
		{v1alpha1.StoredKeyQuerySpec{Prefix: root + "-other/"}, "--etcd-prefix"},
		{v1alpha1.StoredKeyQuerySpec{Prefix: root[1:] + "/pods"}, root + "/"},
		{v1alpha1.StoredKeyQuerySpec{Key: "compact_rev_key"}, root + "/"},
		{v1alpha1.StoredKeyQuerySpec{Key: root}, root + "/"},
		{v1alpha1.StoredKeyQuerySpec{Key: "\x00"}, root + "/"},
		{v1alpha1.StoredKeyQuerySpec{Prefix: root + "/../other/"}, `".."`},
		{v1alpha1.StoredKeyQuerySpec{Key: root + "/a/./b"}, `spec.key`},
		{v1alpha1.StoredKeyQuerySpec{After: "/other/a"}, "spec.after"},
		{v1alpha1.StoredKeyQuerySpec{Prefix: root + "/b/", After: root + "/a"}, "spec.after"},
		{v1alpha1.StoredKeyQuerySpec{Limit: -1}, "spec.limit -1"},
		{v1alpha1.StoredKeyQuerySpec{Limit: maxLimit + 1}, "spec.limit 1001"},
		{v1alpha1.StoredKeyQuerySpec{Key: root + "/a", Prefix: root + "/"}, "spec.prefix"},
		{v1alpha1.StoredKeyQuerySpec{Key: root + "/a", Limit: 1}, "spec.limit"},
		{v1alpha1.StoredKeyQuerySpec{Key: long}, "spec.key is longer"},
		{v1alpha1.StoredKeyQuerySpec{Prefix: long}, "spec.prefix is longer"},
	} {
		if _, err := r.Query(t.Context(), test.spec); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%+v: %v, want a bad request that has %s", test.spec, err, test.text)
		}
	}
	if kv.reads != 0 {
		t.Errorf("etcd was read %d times", kv.reads)
	}
	if _, err := r.Query(t.Context(), v1alpha1.StoredKeyQuerySpec{Key: root + "/none"}); !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), root+"/none") {
		t.Errorf("a key that is not there: %v", err)
	}
	if _, err := New(Config{Prefix: root}).Query(t.Context(), v1alpha1.StoredKeyQuerySpec{}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("without a client: %v", err)
	}
}

// many are keys as a large cluster has them: one large directory, and many small ones.
func many(root string) []string {
	var keys []string
	for n := range 6000 {
		keys = append(keys, fmt.Sprintf("%s/events/default/%05d", root, n))
	}
	for n := range 4000 {
		keys = append(keys, fmt.Sprintf("%s/pods/namespace-%03d/%d", root, n/7, n%7))
	}
	return keys
}

// TestMany lists 10,000 keys, folded and page by page.
func TestMany(t *testing.T) {
	t.Parallel()
	r, root, kv := reader(t)
	keys := many(root)
	put(t, keys, fixed(strings.Repeat("x", 1000)))

	folded := query(t, r, v1alpha1.StoredKeyQuerySpec{Delimiter: "/"})
	if got, want := lines(folded, root), []string{"/events/ 6000 6000000", "/pods/ 4000 4000000"}; !slices.Equal(got, want) {
		t.Errorf("folded: %q, want %q", got, want)
	}
	var all []string
	var total int64
	for after, pages := "", 1; ; pages++ {
		status := query(t, r, v1alpha1.StoredKeyQuerySpec{Prefix: root + "/pods/", Delimiter: "/", After: after, Limit: 100})
		for _, key := range status.Keys {
			all = append(all, key.Key)
			total += key.Keys
		}
		if !status.More {
			break
		}
		if after = all[len(all)-1]; len(status.Keys) != 100 || pages > 10 {
			t.Fatalf("page %d has %d entries", pages, len(status.Keys))
		}
	}
	if len(all) != 572 || total != 4000 || !slices.IsSorted(all) {
		t.Errorf("%d namespaces with %d pods", len(all), total)
	}
	all = nil
	for more, after := true, ""; more; {
		status := query(t, r, v1alpha1.StoredKeyQuerySpec{After: after, Limit: maxLimit})
		for _, key := range status.Keys {
			all = append(all, key.Key)
		}
		more, after = status.More, all[len(all)-1]
	}
	if !slices.Equal(all, keys) {
		t.Errorf("key by key: %d keys", len(all))
	}
	// What is not to be measured is not read: it is counted at once.
	kv.reads = 0
	l := r.listing(question{prefix: root + "/", delimiter: "/", limit: 10})
	l.keysLeft = 500
	if _, err := l.run(t.Context()); err != nil || kv.reads > 8 {
		t.Errorf("%d reads (%v)", kv.reads, err)
	}
}

// TestMeasured: behind what may be read, sizes are not known, and all else is.
func TestMeasured(t *testing.T) {
	t.Parallel()
	r, root, _ := reader(t)
	var keys []string
	for _, directory := range []string{"a", "b", "c"} {
		for n := range 250 {
			keys = append(keys, fmt.Sprintf("%s/%s/%03d", root, directory, n))
		}
	}
	put(t, keys, fixed("1234"))
	whole := question{prefix: root + "/", delimiter: "/", limit: 10}
	for name, test := range map[string]struct {
		keys, bytes int64
		want        []string
	}{
		"enough of both": {measuredKeys, measuredBytes, []string{"/a/ 250 1000", "/b/ 250 1000", "/c/ 250 1000"}},
		"too few keys":   {400, measuredBytes, []string{"/a/ 250 1000", "/b/ 250 -1", "/c/ 250 -1"}},
		"too few bytes":  {measuredKeys, 1500, []string{"/a/ 250 1000", "/b/ 250 -1", "/c/ 250 -1"}},
		"nothing":        {0, 0, []string{"/a/ 250 -1", "/b/ 250 -1", "/c/ 250 -1"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := r.listing(whole)
			l.keysLeft, l.bytesLeft = test.keys, test.bytes
			status, err := l.run(t.Context())
			if got := lines(status, root); err != nil || !slices.Equal(got, test.want) || status.More {
				t.Errorf("%q (%v), want %q", got, err, test.want)
			}
		})
	}
	l := r.listing(question{prefix: root + "/a/", limit: 1000})
	l.bytesLeft = 1
	status, err := l.run(t.Context())
	if err != nil || len(status.Keys) != 250 || status.Keys[0].Bytes != 4 || status.Keys[249].Bytes != unknown || status.Keys[249].ModRevision == 0 {
		t.Errorf("key by key: %d keys (%v)", len(status.Keys), err)
	}
}

// TestOneRevision changes the store between the reads of one list.
func TestOneRevision(t *testing.T) {
	t.Parallel()
	r, root, kv := reader(t)
	var keys []string
	for n := range 350 {
		keys = append(keys, fmt.Sprintf("%s/a/%03d", root, n))
	}
	put(t, keys, fixed("1"))
	kv.before = func() {
		if kv.reads > 1 {
			put(t, []string{fmt.Sprintf("%s/a/new-%d", root, kv.reads), root + "/b/x"}, fixed("1"))
		}
	}
	status := query(t, r, v1alpha1.StoredKeyQuerySpec{Delimiter: "/"})
	if got := lines(status, root); !slices.Equal(got, []string{"/a/ 350 350"}) || kv.reads < 3 {
		t.Errorf("%q after %d reads", got, kv.reads)
	}
}

// TestLate: a list that takes too long is cut, and can be continued.
func TestLate(t *testing.T) {
	t.Parallel()
	r, root, kv := reader(t)
	var keys []string
	for n := range 350 {
		keys = append(keys, fmt.Sprintf("%s/%d/%03d", root, n%2, n))
	}
	put(t, keys, fixed("1"))
	now := time.Now()
	r.config.Now = func() time.Time { return now }
	kv.before = func() { now = now.Add(enough) }
	first := query(t, r, v1alpha1.StoredKeyQuerySpec{Delimiter: "/"})
	if got := lines(first, root); !slices.Equal(got, []string{"/0/ 175 -1"}) || !first.More {
		t.Errorf("%q, more is %v", got, first.More)
	}
	second := query(t, r, v1alpha1.StoredKeyQuerySpec{Delimiter: "/", After: first.Keys[0].Key})
	if len(second.Keys) != 1 || second.Keys[0].Keys != 175 {
		t.Errorf("continued: %+v", second)
	}
}

// TestUnreadableKeys: what JSON can't have is left out, and does not end a list.
func TestUnreadableKeys(t *testing.T) {
	t.Parallel()
	r, root, _ := reader(t)
	put(t, []string{root + "/a", root + "/b\xff", root + "/b\xff/x", root + "/c", root + "/d/\xff"}, fixed("1"))
	for after, n := "", 0; n < 3; n++ {
		status := query(t, r, v1alpha1.StoredKeyQuerySpec{Delimiter: "/", Limit: 1, After: after})
		want := []string{"/a 0 1", "/c 0 1", "/d/ 1 1"}[n]
		if got := lines(status, root); !slices.Equal(got, []string{want}) || status.More != (n < 2) {
			t.Fatalf("%q, more is %v; want %q", got, status.More, want)
		}
		after = status.Keys[0].Key
	}
}

// failing is an etcd that does not answer.
type failing struct{ err error }

func (f failing) Get(context.Context, string, ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return nil, f.err
}

func TestFailures(t *testing.T) {
	t.Parallel()
	r := New(Config{KV: failing{errors.New("no leader")}, Prefix: "/registry"})
	for _, spec := range []v1alpha1.StoredKeyQuerySpec{{}, {Key: "/registry/a"}} {
		if _, err := r.Query(t.Context(), spec); !apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), "no leader") {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	expired, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if err := apiError(expired, context.DeadlineExceeded); !apierrors.IsTimeout(err) {
		t.Errorf("out of time: %v", err)
	}
}
