package etcd

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// TestShallowWalk: without the leaves of the key bucket, the same is read of
// all others, and a damaged branch is still found.
func TestShallowWalk(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	c.UnsafeNoFsync = true
	m := mustStart(t, c)
	fill(t, m.Client(), 3000, sampleValue)
	mustStop(t, m)
	data := readFile(t, dbPath(c.Dir))
	meta, err := readMeta(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	walk := func(shallow bool) (dbState, error) {
		w := newBoltWalk(data, meta, shallow)
		err := w.run()
		return w.state, err
	}
	deep, err := walk(false)
	must(t, err)
	shallow, err := walk(true)
	must(t, err)
	if deep.keys != 3000 || shallow.keys != 0 {
		t.Errorf("%d and %d keys, want 3000 and 0", deep.keys, shallow.keys)
	}
	if deep.consistentIndex != shallow.consistentIndex || deep.clusterVersion != shallow.clusterVersion || len(shallow.members) != 1 {
		t.Errorf("deep %+v, shallow %+v", deep, shallow)
	}

	damaged := map[uint16]int{}
	for id := uint64(2); id < meta.pages; id++ {
		page := data[id*meta.pageSize:]
		kind := uint16(flagsOf(page))
		keep := bytes.Clone(page[:pageHeader])
		copy(page, bytes.Repeat([]byte{0xAA}, pageHeader))
		if _, err := walk(true); errors.As(err, new(pageError)) {
			damaged[kind]++
		}
		copy(page, keep)
	}
	if damaged[pageBranch] == 0 {
		t.Errorf("found by the type of the page: %v; want branches", damaged)
	}
}

// FuzzBoltWalk: whatever the pages hold, the walk ends with an error at worst.
func FuzzBoltWalk(f *testing.F) {
	path := filepath.Join(f.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: 1024})
	must(f, err)
	must(f, db.Update(func(tx *bbolt.Tx) error {
		for _, name := range []string{"key", "meta"} {
			b, err := tx.CreateBucket([]byte(name))
			for i := 0; err == nil && i < 40; i++ {
				err = b.Put([]byte{0, 0, 0, 0, 0, 0, 0, byte(i), '_', 0, 0, 0, 0, 0, 0, 0, 0}, append([]byte{0x18, byte(i), 0x2A, 40}, make([]byte, 40)...))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
	must(f, db.Close())
	data, err := os.ReadFile(path)
	must(f, err)
	meta, err := readMeta(bytes.NewReader(data), int64(len(data)))
	must(f, err)
	must(f, newBoltWalk(data, meta, false).run())
	size := int(meta.pages * meta.pageSize)
	f.Add(data[2*meta.pageSize:size], false)
	f.Add(data[2*meta.pageSize:size], true)
	f.Fuzz(func(_ *testing.T, pages []byte, shallow bool) {
		d := bytes.Clone(data[:size])
		copy(d[2*meta.pageSize:], pages)
		_ = newBoltWalk(d, meta, shallow).run() // any error will do
	})
}

// FuzzLogScan: the same for the log.
func FuzzLogScan(f *testing.F) {
	c := testConfig(f)
	m := mustStart(f, c)
	fill(f, m.Client(), 3, func(int) string { return "v" })
	mustStop(f, m)
	path := onlyWAL(f, c.Dir)
	data := readFile(f, path)[:logEnd(f, path)+16]
	f.Add(data, true)
	f.Fuzz(func(t *testing.T, b []byte, last bool) {
		s := &walScan{}
		err := s.records(&frameReader{r: bufio.NewReader(bytes.NewReader(b)), size: int64(len(b))}, "log", last)
		if err != nil && !errors.As(err, new(*damage)) {
			t.Errorf("error %v is no damage", err)
		}
		_, _ = s.finish("log")
	})
}
