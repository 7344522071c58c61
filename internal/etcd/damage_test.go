package etcd

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/version"
)

const sampleKeys = 400

func sampleValue(i int) string { return fmt.Sprintf("value %06d ", i) + strings.Repeat("v", 200) }

// sample makes a data directory with sampleKeys keys. Stopped cleanly, the
// database has all of them; copied from under a running member it lags behind
// the log, as after a kill.
func sample(t *testing.T, stopped bool) string {
	t.Helper()
	c := testConfig(t)
	m := mustStart(t, c)
	fill(t, m.Client(), sampleKeys, sampleValue)
	if stopped {
		mustStop(t, m)
		return shorten(t, c.Dir)
	}
	dir := filepath.Join(t.TempDir(), "copy")
	copyDir(t, c.Dir, dir)
	mustStop(t, m)
	return shorten(t, dir)
}

// shorten gives back most of the 64 MB that are reserved for the log, the 64 MB
// for its next file, and most of the 16 MB for the database, so that copying
// dir is cheap.
func shorten(t *testing.T, dir string) string {
	t.Helper()
	wal := onlyWAL(t, dir)
	must(t, os.Truncate(wal, logEnd(t, wal)+64<<10))
	must(t, os.Truncate(dbPath(dir), usedSize(t, dir)))
	next, err := filepath.Glob(filepath.Join(walDir(dir), "*.tmp"))
	must(t, err)
	for _, p := range next {
		must(t, os.Remove(p))
	}
	return dir
}

// TestDamageIsRefused: whatever is wrong with a data directory is named, with
// the way out, and nothing is written.
func TestDamageIsRefused(t *testing.T) {
	t.Parallel()
	base := sample(t, true)
	later := sampleWithSnapshot(t)
	other := sample(t, true)
	for _, tc := range []struct {
		name  string
		base  string
		spoil func(t *testing.T, dir string)
		want  []string
	}{
		{"log/byte in a record", base, func(t *testing.T, dir string) {
			flip(t, onlyWAL(t, dir), locate(t, onlyWAL(t, dir), keyOf(sampleKeys/2)))
		}, []string{"write-ahead log is damaged", ".wal", "at byte", "checksum"}},
		{"log/length of a record", base, func(t *testing.T, dir string) {
			flip(t, onlyWAL(t, dir), recordStart(t, onlyWAL(t, dir), sampleKeys/2)+5)
		}, []string{"write-ahead log is damaged", ".wal", "at byte"}},
		{"log/length of the last record", base, func(t *testing.T, dir string) {
			flip(t, onlyWAL(t, dir), recordStart(t, onlyWAL(t, dir), -1)+5)
		}, []string{"write-ahead log is damaged", ".wal", "at byte"}},
		{"log/length zeroed", base, func(t *testing.T, dir string) {
			overwrite(t, onlyWAL(t, dir), recordStart(t, onlyWAL(t, dir), sampleKeys/2), make([]byte, 8))
		}, []string{"write-ahead log is damaged", ".wal", "at byte", "length"}},
		{"log/sector in the middle lost", base, func(t *testing.T, dir string) {
			at := recordStart(t, onlyWAL(t, dir), sampleKeys/2)
			overwrite(t, onlyWAL(t, dir), at/sectorSize*sectorSize, make([]byte, 2*sectorSize))
		}, []string{"write-ahead log", "ends with entry"}},
		{"log/empty file", base, func(t *testing.T, dir string) {
			writeFile(t, onlyWAL(t, dir), nil)
		}, []string{"write-ahead log is damaged", ".wal"}},
		{"log/not a log", base, func(t *testing.T, dir string) {
			writeFile(t, onlyWAL(t, dir), []byte(strings.Repeat("this is a text\n", 1000)))
		}, []string{"write-ahead log is damaged", ".wal"}},
		{"log/empty directory", base, func(t *testing.T, dir string) {
			must(t, os.Remove(onlyWAL(t, dir)))
		}, []string{"write-ahead log is missing", "wal"}},
		{"log/file missing in between", base, func(t *testing.T, dir string) {
			b := readFile(t, onlyWAL(t, dir))
			writeFile(t, filepath.Join(walDir(dir), fmt.Sprintf("%016x-%016x.wal", 2, 9000)), b)
		}, []string{"write-ahead log is damaged", "file 1 of the log is missing"}},
		{"database/both meta pages", base, func(t *testing.T, dir string) {
			overwrite(t, dbPath(dir), 16, []byte{1, 2, 3, 4})
			overwrite(t, dbPath(dir), 4096+16, []byte{1, 2, 3, 4})
		}, []string{"database is damaged", "snap/db", "meta pages"}},
		{"database/cut short", base, func(t *testing.T, dir string) {
			must(t, os.Truncate(dbPath(dir), 3*4096))
		}, []string{"database is damaged", "snap/db", "cut short"}},
		{"database/page overwritten", base, func(t *testing.T, dir string) {
			at := locate(t, dbPath(dir), sampleValue(7)) / 4096 * 4096
			overwrite(t, dbPath(dir), at, bytes.Repeat([]byte{0xAA}, 4096))
		}, []string{"database is damaged", "snap/db", "page"}},
		{"database/type of a page", base, func(t *testing.T, dir string) {
			flip(t, dbPath(dir), locate(t, dbPath(dir), sampleValue(7))/4096*4096+8)
		}, []string{"database is damaged", "snap/db", "page"}},
		{"database/not a database", base, func(t *testing.T, dir string) {
			writeFile(t, dbPath(dir), []byte(strings.Repeat("this is a text\n", 10000)))
		}, []string{"database is damaged", "snap/db"}},
		{"database/revision that contradicts itself", base, func(t *testing.T, dir string) {
			// mod_revision precedes version and value in a key's value.
			b := readFile(t, dbPath(dir))
			key := bytes.LastIndex(b, []byte(keyOf(7)))
			flip(t, dbPath(dir), int64(bytes.IndexByte(b[key:], 0x18)+key+1))
		}, []string{"database is damaged", "snap/db", "revision"}},
		{"database/missing", later, func(t *testing.T, dir string) {
			must(t, os.Remove(dbPath(dir)))
		}, []string{"database is missing", "snap/db"}},
		{"database/older than the log", later, func(t *testing.T, dir string) {
			must(t, setMeta(dir, "consistent_index", binary.BigEndian.AppendUint64(nil, 10)))
		}, []string{"ends with log entry 10", "snap/db"}},
		{"database/of another cluster", base, func(t *testing.T, dir string) {
			writeFile(t, dbPath(dir), readFile(t, dbPath(other)))
		}, []string{"different clusters"}},
		{"log/of another cluster", base, func(t *testing.T, dir string) {
			must(t, os.RemoveAll(walDir(dir)))
			copyDir(t, walDir(other), walDir(dir))
		}, []string{"different clusters"}},
		{"newer version/of the storage", base, func(t *testing.T, dir string) {
			must(t, setMeta(dir, "storageVersion", []byte("3.9.0")))
		}, []string{"etcd 3.9", "etcd " + version.Version}},
		{"newer version/of the cluster", base, func(t *testing.T, dir string) {
			must(t, setKey(dir, "cluster", "clusterVersion", []byte("4.0.0")))
		}, []string{"etcd 4.0", "etcd " + version.Version}},
		{"cluster of several members", base, func(t *testing.T, dir string) {
			b, err := json.Marshal(map[string]any{"id": 7, "name": "second", "peerURLs": []string{"http://10.0.0.2:2380"}})
			must(t, err)
			must(t, setKey(dir, "members", "7", b))
		}, []string{"cluster of 2 members", "second"}},
		{"not etcd's", base, func(t *testing.T, dir string) {
			must(t, os.RemoveAll(memberDir(dir)))
			writeFile(t, filepath.Join(dir, "holiday.jpg"), []byte("jpg"))
		}, []string{"not an etcd data directory", "holiday.jpg"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := testConfig(t)
			copyDir(t, tc.base, c.Dir)
			tc.spoil(t, c.Dir)
			_ = mustRefuse(t, c, tc.want...)
		})
	}
}

// sampleWithSnapshot makes a data directory whose log has a snapshot record.
func sampleWithSnapshot(t *testing.T) string {
	t.Helper()
	c := testConfig(t)
	c.UnsafeNoFsync = true
	m := mustStart(t, c)
	fill(t, m.Client(), snapshotCount+200, func(int) string { return "v" })
	mustStop(t, m)
	st, err := scanWAL(walDir(c.Dir))
	if err != nil || st.snapshot == 0 {
		t.Fatalf("log %+v, %v; want a snapshot", st, err)
	}
	return shorten(t, c.Dir)
}

// TestTornWrite: a write that was cut off by a power failure, after one that
// was acknowledged, is cut away and all that was acknowledged is kept.
func TestTornWrite(t *testing.T) {
	t.Parallel()
	base := sample(t, false)
	end := logEnd(t, onlyWAL(t, base))
	frame := func(n int, body ...byte) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, uint64(n)), body...)
	}
	for name, tail := range map[string][]byte{
		"length only":           frame(4096),
		"first part":            frame(4096, 0x08, 0x02, 0x10, 0x7F, 0x1A, 0x80, 0x10, 1, 2, 3),
		"length beyond the end": frame(1 << 40),
		"half a length":         {0x10, 0x20},
	} {
		t.Run(name, func(t *testing.T) {
			// Not side by side: copies of one member have one ID, and raft shows its state by that.
			c := testConfig(t)
			copyDir(t, base, c.Dir)
			overwrite(t, onlyWAL(t, c.Dir), end, tail)
			mustHaveSample(t, c)
			mustHaveSample(t, c) // and again, after what the first start has repaired
		})
	}
	t.Run("file ends within the record", func(t *testing.T) {
		c := testConfig(t)
		copyDir(t, base, c.Dir)
		overwrite(t, onlyWAL(t, c.Dir), end, frame(4096, bytes.Repeat([]byte{1}, 1000)...))
		must(t, os.Truncate(onlyWAL(t, c.Dir), end+500))
		mustHaveSample(t, c)
	})
}

// TestFirstStartCutOff: what a kill during the first start leaves is no
// obstacle.
func TestFirstStartCutOff(t *testing.T) {
	t.Parallel()
	base := sample(t, false)
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"directory only": func(t *testing.T, dir string) { must(t, os.MkdirAll(snapDir(dir), 0o700)) },
		"a probe":        func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, ".touch"), nil) },
		"empty database": func(t *testing.T, dir string) {
			must(t, os.MkdirAll(snapDir(dir), 0o700))
			writeFile(t, dbPath(dir), nil)
		},
		"unused database": unusedDB,
		"half a log": func(t *testing.T, dir string) {
			unusedDB(t, dir)
			must(t, os.MkdirAll(walDir(dir)+".tmp", 0o700))
			writeFile(t, filepath.Join(walDir(dir)+".tmp", "0000000000000000-0000000000000000.wal"), make([]byte, 1<<20))
		},
		"empty log directory": func(t *testing.T, dir string) { unusedDB(t, dir); must(t, os.MkdirAll(walDir(dir), 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testConfig(t)
			must(t, os.MkdirAll(c.Dir, 0o700))
			prepare(t, c.Dir)
			m := mustStart(t, c)
			if _, err := m.Client().Put(t.Context(), "a", "b"); err != nil {
				t.Error(err)
			}
			mustStop(t, m)
			if got := content(t, mustStart(t, c).Client()); got["a"] != "b" {
				t.Errorf("content after a restart: %v", got)
			}
		})
	}
	t.Run("database lost, log complete", func(t *testing.T) {
		t.Parallel()
		c := testConfig(t)
		copyDir(t, base, c.Dir)
		must(t, os.Remove(dbPath(c.Dir)))
		mustHaveSample(t, c)
	})
}

// unusedDB makes a database as etcd does before it has made the log.
func unusedDB(t *testing.T, dir string) {
	must(t, os.MkdirAll(snapDir(dir), 0o700))
	db, err := bbolt.Open(dbPath(dir), 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("meta")); return err }))
	must(t, db.Close())
}

// TestRandomDamage: a byte anywhere in the files of a killed member may change.
// Then the start is refused, or everything acknowledged is there; etcd never
// panics, which would end this test. In the database the name or the value of
// one key may be wrong, since nothing in the file could show it, and no more.
func TestRandomDamage(t *testing.T) {
	t.Parallel()
	base := sample(t, false)
	end := logEnd(t, onlyWAL(t, base))
	rounds := 10
	if os.Getenv("KAPI_ROBUST") == "full" {
		rounds = 400
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	refused := 0
	for i := range rounds {
		c := testConfig(t)
		c.UnsafeNoFsync = true
		copyDir(t, base, c.Dir)
		path, at := onlyWAL(t, c.Dir), r.Int64N(end+64)
		if i%2 == 1 {
			path, at = dbPath(c.Dir), r.Int64N(usedSize(t, c.Dir))
		}
		name := fmt.Sprintf("seed %d, round %d, %s at %d", seed, i, filepath.Base(path), at)
		flip(t, path, at)
		before := tree(t, c.Dir)
		m, err := Start(t.Context(), c)
		if err != nil {
			refused++
			t.Logf("%s: %v", name, err)
			if after := tree(t, c.Dir); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("%s: changed by the refused start (%v)", name, err)
			}
			continue
		}
		got, wrong := content(t, m.Client()), 0
		for k := range sampleKeys {
			if v := got[keyOf(k)]; v != sampleValue(k) {
				wrong++
				t.Logf("%s: %s is %q", name, keyOf(k), v)
			}
		}
		// A changed name may be one that exists already.
		if len(got) < sampleKeys-i%2 || len(got) > sampleKeys || wrong > i%2 {
			t.Errorf("%s: %d keys, of which %d are wrong", name, len(got), wrong)
		}
		if err := m.Stop(context.Background()); err != nil {
			t.Errorf("%s: stopping: %v", name, err)
		}
	}
	t.Logf("%d of %d starts refused", refused, rounds)
}

// usedSize is the part of the database file that has pages.
func usedSize(t *testing.T, dir string) int64 {
	t.Helper()
	b := readFile(t, dbPath(dir))
	m, err := readMeta(bytes.NewReader(b), int64(len(b)))
	must(t, err)
	return int64(m.pages * m.pageSize)
}

func mustHaveSample(t *testing.T, c Config) {
	t.Helper()
	m := mustStart(t, c)
	got := content(t, m.Client())
	for k := range sampleKeys {
		if got[keyOf(k)] != sampleValue(k) {
			t.Errorf("%s is %q", keyOf(k), got[keyOf(k)])
		}
	}
	mustStop(t, m)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// flip inverts the byte of path at off.
func flip(t testing.TB, path string, off int64) {
	t.Helper()
	overwrite(t, path, off, []byte{^readFile(t, path)[off]})
}

func overwrite(t testing.TB, path string, off int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(b, off)
	must(t, err)
	must(t, f.Close())
}

// locate returns the offset of the last s in path.
func locate(t testing.TB, path, s string) int64 {
	t.Helper()
	i := bytes.LastIndex(readFile(t, path), []byte(s))
	if i < 0 {
		t.Fatalf("%q is not in %s", s, path)
	}
	return int64(i)
}

// recordOffsets returns where the records of a log file begin, and its end.
func recordOffsets(t testing.TB, path string) []int64 {
	t.Helper()
	b := readFile(t, path)
	var offs []int64
	for off := int64(0); ; {
		offs = append(offs, off)
		field := binary.LittleEndian.Uint64(b[off:])
		if field == 0 {
			return offs
		}
		off += 8 + (int64(field&^(0xff<<56))+7)/8*8
	}
}

// recordStart returns where record i begins; -1 is the last one.
func recordStart(t testing.TB, path string, i int) int64 {
	offs := recordOffsets(t, path)
	if i < 0 {
		return offs[len(offs)-1+i]
	}
	return offs[i]
}

func logEnd(t testing.TB, path string) int64 {
	offs := recordOffsets(t, path)
	return offs[len(offs)-1]
}

func setMeta(dir, key string, value []byte) error { return setKey(dir, "meta", key, value) }

func setKey(dir, bucket, key string, value []byte) error {
	db, err := bbolt.Open(dbPath(dir), 0o600, &bbolt.Options{NoFreelistSync: true})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucket)).Put([]byte(key), value) })
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	return err
}
