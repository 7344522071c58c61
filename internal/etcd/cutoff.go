package etcd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// bootstrapSize is more than the records of a first start take in the log: the
// member's identity, an empty snapshot, and the entry that makes it a member.
const bootstrapSize = 8 << 10

// cutOff reports whether what lies in dir is a first start that was killed after
// it had made the log, and before it had committed the first entry, by which the
// member joins its own cluster. etcd takes such a log for that of a member without
// a cluster, and waits for ever. Nothing can have been stored yet: entries are
// proposed to a leader, and there was none.
//
// A log that has lost its beginning looks like that, but for the bytes behind it,
// and is refused as damaged.
func cutOff(dir string, log walState, db dbState) (bool, error) {
	if log.files != 1 || log.commit > 0 || log.last > 1 || db.consistentIndex > 0 || db.keys > 0 {
		return false, nil
	}
	names, err := walNames(walDir(dir))
	if err != nil || len(names) != 1 {
		return false, err
	}
	path := filepath.Join(walDir(dir), names[0])
	zeros, err := onlyZeros(path, bootstrapSize)
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", path, err)
	}
	if !zeros {
		return false, damageHint(&damage{what: walName, file: path, offset: -1, reason: "it breaks off before its first entry, and goes on behind that"}, dir)
	}
	return true, nil
}

// onlyZeros reports whether the file has nothing but zeros from the offset on.
func onlyZeros(path string, from int64) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return false, err
	}
	block, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(f, block)
		if !bytes.Equal(block[:n], zeros[:n]) {
			return false, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}
