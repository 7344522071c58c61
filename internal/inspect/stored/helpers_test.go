package stored

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/etcd"
)

var update = flag.Bool("update", false, "write the files in testdata")

// sharedEtcd is a member for all tests; each has keys of its own in it.
var sharedEtcd *etcd.Member

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	klog.SetLogger(logr.Discard())
	flag.Parse()
	dir, err := os.MkdirTemp("", "kapi-stored")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	sharedEtcd, err = etcd.Start(context.Background(), etcd.Config{
		Dir: filepath.Join(dir, "etcd"), RunDir: filepath.Join(dir, "run"), UnsafeNoFsync: true, QuotaBytes: 1 << 30,
	})
	if err != nil {
		return 1, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		err = errors.Join(err, sharedEtcd.Stop(ctx))
	}()
	return m.Run(), nil
}

// guarded fails a test that reads outside of a prefix, whatever was asked.
type guarded struct {
	testing.TB

	kv   Getter
	root string
	// before is called before each read, if it is set.
	before func()
	reads  int
}

func (g *guarded) Get(ctx context.Context, key string, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	g.reads++
	if g.before != nil {
		g.before()
	}
	op := clientv3.OpGet(key, options...)
	last := string(op.RangeBytes())
	if !strings.HasPrefix(key, g.root) && key != behindAll(g.root) || last > behindAll(g.root) || last == "\x00" {
		g.Errorf("keys from %q to %q are read, which are not all below %q", key, last, g.root)
	}
	return g.kv.Get(ctx, key, options...)
}

// reader returns a Reader below a prefix that no other test has.
func reader(t testing.TB) (r *Reader, root string, kv *guarded) {
	t.Helper()
	prefix := fmt.Sprintf("/%s-%d", strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-")), time.Now().UnixNano())
	kv = &guarded{TB: t, kv: sharedEtcd.Client(), root: prefix + "/"}
	return New(Config{KV: kv, Prefix: prefix, Scheme: scheme.Scheme}), prefix, kv
}

// put writes keys, in transactions as large as etcd takes them.
func put(t testing.TB, keys []string, value func(key string) string) {
	t.Helper()
	const most = 128
	for len(keys) > 0 {
		part := keys[:min(most, len(keys))]
		keys = keys[len(part):]
		var operations []clientv3.Op
		for _, key := range part {
			operations = append(operations, clientv3.OpPut(key, value(key)))
		}
		if _, err := sharedEtcd.Client().Txn(t.Context()).Then(operations...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

func fixed(value string) func(string) string { return func(string) string { return value } }

func query(t testing.TB, r *Reader, spec v1alpha1.StoredKeyQuerySpec) v1alpha1.StoredKeyQueryStatus {
	t.Helper()
	status, err := r.Query(t.Context(), spec)
	if err != nil {
		t.Fatalf("%+v: %v", spec, err)
	}
	return status
}

// lines are the entries of a list as KEY KEYS BYTES.
func lines(status v1alpha1.StoredKeyQueryStatus, root string) []string {
	var all []string
	for _, key := range status.Keys {
		all = append(all, fmt.Sprintf("%s %d %d", strings.TrimPrefix(key.Key, root), key.Keys, key.Bytes))
	}
	return all
}
