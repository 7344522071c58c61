package etcd

import (
	"hash/crc32"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// walRecord is a record of the write-ahead log. data points into the reader's
// buffer.
type walRecord struct {
	typ    uint64
	crc    uint32
	data   []byte
	parsed bool
	frame  []byte // all of it, behind its length
	at     int64  // offset of frame in the file
}

// broken is the error for a record that isn't right: of a torn write if a
// sector is missing, else of damage.
func (r walRecord) broken(reason string) error {
	if hasZeroSector(r.frame, r.at) {
		return errTorn
	}
	return recordError(reason)
}

// sectorSize is the unit in which a disk writes all or nothing.
const sectorSize = 512

// hasZeroSector reports whether data, which stands at off in its file, has a
// part within one sector that is all zeros: that sector was never written.
func hasZeroSector(data []byte, off int64) bool {
	for len(data) > 0 {
		n := min(int(sectorSize-off%sectorSize), len(data))
		if !slices.ContainsFunc(data[:n], func(b byte) bool { return b != 0 }) {
			return true
		}
		data, off = data[n:], off+int64(n)
	}
	return false
}

// parseRecord decodes a record {1: type, 2: crc, 3: data}. If it is whole, b
// holds nothing else; otherwise more may follow the data.
func parseRecord(b []byte, whole bool) (walRecord, bool) {
	var rec walRecord
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return rec, false
		}
		b = b[n:]
		switch {
		case num == 1 && typ == protowire.VarintType:
			rec.typ, n = protowire.ConsumeVarint(b)
		case num == 2 && typ == protowire.VarintType:
			var v uint64
			v, n = protowire.ConsumeVarint(b)
			rec.crc = uint32(v)
		case num == 3 && typ == protowire.BytesType:
			rec.data, n = protowire.ConsumeBytes(b)
			if n >= 0 && !whole {
				return rec, rec.typ != 0
			}
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return rec, false
		}
		b = b[n:]
	}
	return rec, whole && rec.typ != 0
}

// uintFields decodes a protobuf message as far as its integer fields 1 to 7,
// by number: all that is needed of the log's messages (raftpb.Entry{1: type,
// 2: term, 3: index}, HardState{1: term, 2: vote, 3: commit}, walpb.Snapshot
// {1: index, 2: term}, etcdserverpb.Metadata{1: node, 2: cluster}) and of a
// key's value (mvccpb.KeyValue{2: created, 3: modified, 4: version, 6: lease}).
func uintFields(b []byte) ([8]uint64, bool) {
	var f [8]uint64
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return f, false
		}
		b = b[n:]
		if typ == protowire.VarintType && num < 8 {
			f[num], n = protowire.ConsumeVarint(b)
		} else {
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return f, false
		}
		b = b[n:]
	}
	return f, true
}
