package etcd

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// A write-ahead log is a series of files SEQUENCE-INDEX.wal. Each is a series
// of frames: a little-endian length whose top byte carries the padding, then a
// protobuf record {type, crc, data}. The crc of a record covers the data of
// all records before it, across files; each file begins with a crc record that
// carries the sum over. Zeros follow the last record, up to the preallocated
// size (etcd: server/storage/wal).
//
// This reader exists because etcd's own either repairs or ends the process,
// and because it takes a damaged length for a torn write: it would cut the log
// there, and acknowledged writes with it.

// Record types (etcd: server/storage/wal/wal.go).
const (
	recMetadata = 1
	recEntry    = 2
	recState    = 3
	recCRC      = 4
	recSnapshot = 5
)

// walState is what a log says when it is read from end to end.
type walState struct {
	files     int
	nodeID    uint64
	clusterID uint64
	last      uint64 // index of the last entry
	commit    uint64 // index up to which entries are committed
	snapshot  uint64 // index of the last snapshot record that is committed
	torn      string // "FILE at byte N" where the last write was torn, or ""
	tornSize  int64  // bytes of that file
}

// walScan reads one log.
type walScan struct {
	walState
	crc       uint32
	metadata  []byte
	entered   bool // an entry or a snapshot has set last
	snapshots []uint64
}

// scanWAL reads all of the log in dir and changes nothing. A log without files
// is the zero walState. An error that isn't one of reading is a *damage.
func scanWAL(dir string) (walState, error) {
	names, err := walNames(dir)
	if err != nil || len(names) == 0 {
		return walState{}, err
	}
	s := &walScan{walState: walState{files: len(names)}}
	for i, name := range names {
		if err := s.file(filepath.Join(dir, name), i == len(names)-1); err != nil {
			return walState{}, err
		}
	}
	return s.finish(filepath.Join(dir, names[len(names)-1]))
}

// walNames lists the log's files in order, without a gap.
func walNames(dir string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*.wal"))
	if err != nil {
		return nil, err
	}
	slices.Sort(found)
	var names []string
	var last uint64
	for _, path := range found {
		var seq, index uint64
		name := filepath.Base(path)
		if n, _ := fmt.Sscanf(name, "%016x-%016x.wal", &seq, &index); n != 2 {
			continue
		}
		if len(names) > 0 && seq != last+1 {
			return nil, &damage{what: walName, file: path, offset: -1,
				reason: fmt.Sprintf("file %d of the log is missing before it", last+1)}
		}
		last = seq
		names = append(names, name)
	}
	return names, nil
}

// file reads one file. Only the last one may end in a torn write.
func (s *walScan) file(path string, last bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	return s.records(&frameReader{r: bufio.NewReaderSize(f, 1<<16), size: fi.Size()}, path, last)
}

// records reads what r has of the file at path.
func (s *walScan) records(r *frameReader, path string, last bool) error {
	for {
		at := r.off
		rec, err := r.next()
		if err == nil {
			err = s.record(rec)
		} else if errors.Is(err, io.EOF) {
			err = s.endsHere(r)
		}
		switch {
		case err == nil:
		case errors.Is(err, errLogEnd):
			return nil
		case errors.Is(err, errTorn) && last && !s.hidesRecord(r):
			s.torn, s.tornSize = fmt.Sprintf("%s at byte %d", path, at), r.size
			return nil
		case errors.Is(err, errTorn), errors.As(err, new(recordError)):
			return &damage{what: walName, file: path, offset: at, reason: err.Error()}
		default:
			return fmt.Errorf("reading %s: %w", path, err)
		}
	}
}

var (
	errLogEnd = errors.New("end of the log file")
	errTorn   = errors.New("a record is incomplete")
)

// recordError is a reason why a record can't be right.
type recordError string

func (e recordError) Error() string { return string(e) }

// endsHere accepts the zeros, or the end of the file, that r has met, unless
// they stand where the length of a record was.
func (s *walScan) endsHere(r *frameReader) error {
	if s.hidesRecord(r) {
		return recordError("the length of a record is damaged")
	}
	return errLogEnd
}

// hidesRecord reports whether a complete record follows the length that r
// could make nothing of: then it's the length that is damaged, and the record
// was once acknowledged. A torn write leaves no complete record.
func (s *walScan) hidesRecord(r *frameReader) bool {
	rest, err := r.peekBehindLength()
	if err != nil {
		return false
	}
	rec, ok := parseRecord(rest, false)
	return ok && rec.typ != recCRC && rec.crc == crc32.Update(s.crc, castagnoli, rec.data)
}

// record checks one record and takes from it what the state needs.
func (s *walScan) record(rec walRecord) error {
	if !rec.parsed {
		return rec.broken("a record can't be decoded")
	}
	if rec.typ == recCRC {
		if s.crc != 0 && rec.crc != s.crc {
			return recordError("the checksum carried over from the file before does not match")
		}
		s.crc = rec.crc
		return nil
	}
	sum := crc32.Update(s.crc, castagnoli, rec.data)
	if rec.crc != sum {
		return rec.broken("checksum mismatch")
	}
	s.crc = sum
	return s.content(rec)
}

func (s *walScan) content(rec walRecord) error {
	switch rec.typ {
	case recMetadata:
		if s.metadata != nil && !bytes.Equal(s.metadata, rec.data) {
			return recordError("it names another member or cluster than the records before")
		}
		ids, ok := uintFields(rec.data)
		if !ok {
			return recordError("the member's identity can't be decoded")
		}
		s.metadata = slices.Clone(rec.data)
		s.nodeID, s.clusterID = ids[1], ids[2]
	case recEntry:
		e, ok := uintFields(rec.data)
		if !ok {
			return recordError("an entry can't be decoded")
		}
		index := e[3]
		if s.entered && index > s.last+1 {
			return recordError(fmt.Sprintf("entry %d follows entry %d", index, s.last))
		}
		s.entered, s.last = true, index
	case recState:
		st, ok := uintFields(rec.data)
		if !ok {
			return recordError("a state can't be decoded")
		}
		s.commit = st[3]
	case recSnapshot:
		sn, ok := uintFields(rec.data)
		if !ok {
			return recordError("a snapshot record can't be decoded")
		}
		s.snapshots = append(s.snapshots, sn[1])
		if sn[1] > s.last {
			s.entered, s.last = true, sn[1]
		}
	default:
		return recordError(fmt.Sprintf("a record has the unknown type %d", rec.typ))
	}
	return nil
}

// finish checks what can be said about the whole log. path is its last file.
func (s *walScan) finish(path string) (walState, error) {
	bad := func(format string, args ...any) (walState, error) {
		return walState{}, &damage{what: walName, file: path, offset: -1, reason: fmt.Sprintf(format, args...)}
	}
	if s.metadata == nil {
		return bad("it does not say which member it belongs to")
	}
	if s.commit > s.last {
		return bad("entries up to %d were committed, but it ends with entry %d", s.commit, s.last)
	}
	committed := slices.DeleteFunc(s.snapshots, func(i uint64) bool { return i > s.commit })
	if len(committed) == 0 {
		return bad("it has no snapshot record to begin from")
	}
	s.snapshot = committed[len(committed)-1]
	return s.walState, nil
}

// frameReader splits a log file into records.
type frameReader struct {
	r    *bufio.Reader
	off  int64 // of the frame that next returned last, and then of the one behind it
	size int64 // of the file
	rest int64 // bytes of the frame consumed beyond its length
	buf  []byte
}

// next returns the record at off. io.EOF: the log ends here, or a length of
// zero stands here; errTorn: the frame is incomplete.
func (r *frameReader) next() (walRecord, error) {
	r.rest = 0
	var head [8]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return walRecord{}, errTorn
		}
		return walRecord{}, err
	}
	field := binary.LittleEndian.Uint64(head[:])
	if field == 0 {
		return walRecord{}, io.EOF
	}
	length := int64(field &^ (0xff << 56))
	var pad int64
	if field>>63 != 0 {
		pad = int64(field>>56) & 7
	}
	if length > r.size-r.off-8-pad {
		return walRecord{}, errTorn
	}
	r.buf = slices.Grow(r.buf[:0], int(length+pad))[:length+pad]
	n, err := io.ReadFull(r.r, r.buf)
	r.rest = int64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return walRecord{}, errTorn
	}
	if err != nil {
		return walRecord{}, err
	}
	rec, ok := parseRecord(r.buf[:length], true)
	rec.parsed = ok
	rec.frame, rec.at = r.buf, r.off+8
	r.off += 8 + length + pad
	return rec, nil
}

// peekBehindLength returns what follows the length of the frame that next met
// last, as far as a record can reach: what next has read of its body, which a
// damaged length may have made too long, or else what can be read now.
func (r *frameReader) peekBehindLength() ([]byte, error) {
	if r.rest != 0 {
		return r.buf[:r.rest], nil
	}
	if first, err := r.r.Peek(1); err != nil || first[0] == 0 {
		return nil, io.ErrUnexpectedEOF // zeros as far as the eye can see
	}
	const largest = 16 << 20 // an entry is a request of at most 1.5 MiB
	rest, err := io.ReadAll(io.LimitReader(r.r, min(largest, max(0, r.size-r.off-8))))
	if err != nil || len(rest) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return rest, nil
}
