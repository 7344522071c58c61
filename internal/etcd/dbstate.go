package etcd

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
)

// dbState is what preflight needs of the database. Names of buckets and keys:
// etcd, server/storage/schema/bucket.go.
type dbState struct {
	consistentIndex uint64 // index of the last log entry that is in the database
	keys            int    // revisions of keys; 0 where they were not read
	storageVersion  string // "3.7.0"; "" before etcd has written it
	clusterVersion  string
	members         map[uint64]string // names by ID
}

// element checks one element of a bucket as far as etcd decodes it without
// forgiveness, and keeps what it says. It returns what is wrong, or "".
func (s *dbState) element(bucket string, key, value []byte) string {
	switch bucket {
	case "key":
		s.keys++
		return checkRevision(key, value)
	case "meta":
		return s.meta(string(key), value)
	case "cluster":
		if string(key) == "clusterVersion" {
			s.clusterVersion = string(value)
		}
	case "members":
		return s.member(key, value)
	}
	return ""
}

func (s *dbState) meta(key string, value []byte) string {
	switch key {
	case "consistent_index", "term":
		if len(value) != 8 {
			return fmt.Sprintf("%s has %d bytes", key, len(value))
		}
		if key == "consistent_index" {
			s.consistentIndex = binary.BigEndian.Uint64(value)
		}
	case "scheduledCompactRev", "finishedCompactRev":
		if len(value) != revisionSize {
			return fmt.Sprintf("%s has %d bytes", key, len(value))
		}
	case "storageVersion":
		s.storageVersion = string(value)
	}
	return ""
}

func (s *dbState) member(key, value []byte) string {
	var m struct {
		ID   uint64 `json:"id"`
		Name string `json:"name"`
	}
	id, err := strconv.ParseUint(string(key), 16, 64)
	if err == nil {
		err = json.Unmarshal(value, &m)
	}
	if err != nil {
		return fmt.Sprintf("a member can't be decoded: %v", err)
	}
	if s.members == nil {
		s.members = map[uint64]string{}
	}
	s.members[id] = m.Name
	return ""
}

// revisionSize is that of a key of the key bucket: main revision, '_', sub
// revision. A deletion has a 't' behind it.
const revisionSize = 8 + 1 + 8

// checkRevision checks an element of the key bucket: the revision, whose parts
// are not negative, and a value that says the same revision unless it is a
// deletion.
func checkRevision(key, value []byte) string {
	deletion := len(key) == revisionSize+1 && key[revisionSize] == 't'
	if len(key) != revisionSize && !deletion || key[8] != '_' || key[0] > 0x7f || key[9] > 0x7f {
		return fmt.Sprintf("%q is not a revision", key)
	}
	kv, ok := uintFields(value)
	if !ok {
		return fmt.Sprintf("the value of revision %d can't be decoded", binary.BigEndian.Uint64(key))
	}
	if rev := binary.BigEndian.Uint64(key); !deletion && kv[3] != rev {
		return fmt.Sprintf("the value of revision %d says that it is of revision %d", rev, kv[3])
	}
	return ""
}
