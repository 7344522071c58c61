package etcd

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

// TestCutOffFirstStart: a first start that was killed at any record of the log
// before the first commit leaves a directory that can be used. etcd by itself
// would wait for ever.
func TestCutOffFirstStart(t *testing.T) {
	t.Parallel()
	base := sample(t, false)
	// The records of a first start: checksum, identity, snapshot, entry, state.
	for records, name := range map[int]string{3: "snapshot written", 4: "entry written"} {
		for db, spoil := range map[string]func(t *testing.T, dir string){
			"no database":     func(*testing.T, string) {},
			"empty file":      func(t *testing.T, dir string) { writeFile(t, dbPath(dir), nil) },
			"unused database": unusedDB,
		} {
			t.Run(name+", "+db, func(t *testing.T) {
				t.Parallel()
				c := testConfig(t)
				copyDir(t, base, c.Dir)
				cutLog(t, c.Dir, records)
				must(t, os.Remove(dbPath(c.Dir)))
				spoil(t, c.Dir)
				m := mustStart(t, c)
				if _, err := m.Client().Put(t.Context(), "a", "b"); err != nil {
					t.Error(err)
				}
				mustStop(t, m)
				m = mustStart(t, c)
				if got := content(t, m.Client()); got["a"] != "b" || len(got) != 1 {
					t.Errorf("after a restart there is %v", got)
				}
			})
		}
	}
}

// TestLostBeginning: a log whose first records are gone is not taken for one
// that was never used.
func TestLostBeginning(t *testing.T) {
	t.Parallel()
	base := sample(t, false)
	for _, records := range []int{3, 4} {
		t.Run(fmt.Sprintf("%d records left", records), func(t *testing.T) {
			t.Parallel()
			c := testConfig(t)
			copyDir(t, base, c.Dir)
			must(t, os.Remove(dbPath(c.Dir)))
			wal := onlyWAL(t, c.Dir)
			overwrite(t, wal, recordStart(t, wal, records), make([]byte, sectorSize))
			_ = mustRefuse(t, c, "write-ahead log is damaged", wal, "breaks off")
		})
	}
}

// cutLog leaves the first records of the log, and zeros behind them.
func cutLog(t *testing.T, dir string, records int) {
	t.Helper()
	wal := onlyWAL(t, dir)
	b := readFile(t, wal)
	at := recordStart(t, wal, records)
	writeFile(t, wal, append(b[:at:at], bytes.Repeat([]byte{0}, len(b)-int(at))...))
}
