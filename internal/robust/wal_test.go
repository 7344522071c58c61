package robust

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

func dbFile(dir string) string { return filepath.Join(dir, "etcd", "member", "snap", "db") }

// onlyWAL is the one file of the write-ahead log.
func onlyWAL(t testing.TB, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "etcd", "member", "wal", "*.wal"))
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("the log has the files %q, want one", found)
	}
	return found[0]
}

// walEnd returns where the records of a log file end. Each begins with its
// length; the lower three bits of the top byte are the padding, if its highest
// bit is set (etcd: server/storage/wal/decoder.go).
func walEnd(t testing.TB, file string) int64 {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	at := uint64(0)
	for at+8 <= uint64(len(text)) {
		field := binary.LittleEndian.Uint64(text[at:])
		if field == 0 {
			break
		}
		length := field &^ (0xff << 56)
		if field>>63 != 0 {
			length += field >> 56 & 7
		}
		at += 8 + length
	}
	return int64(at)
}

// overwrite changes a file in place.
func overwrite(t testing.TB, file string, at int64, with []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt(with, at)
	must(t, err)
	must(t, f.Close())
}

// flip inverts a byte of a file.
func flip(t testing.TB, file string, at int64) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	overwrite(t, file, at, []byte{^text[at]})
}

// placesOf returns where a file holds text, which is at least one place.
func placesOf(t testing.TB, file, text string) []int64 {
	t.Helper()
	content, err := os.ReadFile(file)
	must(t, err)
	var places []int64
	for from := 0; ; from += len(text) {
		next := bytes.Index(content[from:], []byte(text))
		if next < 0 {
			break
		}
		from += next
		places = append(places, int64(from))
	}
	if len(places) == 0 {
		t.Fatalf("%s does not hold %q", file, text)
	}
	return places
}
