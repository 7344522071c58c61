package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// The database is a bbolt file: pages of a fixed size, the first two of which
// are meta pages with a checksum. The valid one with the higher transaction is
// current; it names the root of a copy-on-write B+ tree of buckets, each of
// which is again a tree (bbolt: internal/common). Pages have no checksum: what
// can be verified is the structure, and the keys and values that etcd decodes.
//
// This reader exists because bbolt answers a damaged page with a panic or a
// memory fault, on goroutines of etcd where nobody can catch it.

// deepCheckLimit is the size of the file up to which every page is read, at
// about 0.2 ms per MB. Beyond it the leaves of the key bucket, which are nearly
// all pages, are not, so that a start is not held up for long.
const deepCheckLimit = 512 << 20

const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	// boltNoFreelist stands for "not stored", which is how etcd leaves it.
	boltNoFreelist = ^uint64(0)

	pageHeader = 16
	pageBranch = 0x01
	pageLeaf   = 0x02
	pageFree   = 0x10
	// metaSize is the part of a meta page that its checksum covers.
	metaSize = 56

	// maxDepth bounds a walk: a tree of etcd's keys with 8 GiB has 5 levels.
	maxDepth = 64
)

// errLocked: another process has the database open.
var errLocked = errors.New("the database is open in another process")

// scanDB reads the database at path and changes nothing. The file is locked,
// shared, in the meantime. A file of size 0 is the zero dbState. An error that
// isn't one of reading, nor errLocked, is a *damage.
func scanDB(path string) (st dbState, err error) {
	f, err := os.Open(path)
	if err != nil {
		return dbState{}, err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errLocked
		}
		return dbState{}, fmt.Errorf("locking %s: %w", path, err)
	}
	fi, err := f.Stat()
	if err != nil || fi.Size() == 0 {
		return dbState{}, err
	}
	meta, err := readMeta(f, fi.Size())
	if err == nil && meta.pages > uint64(fi.Size())/meta.pageSize {
		err = pageError{reason: fmt.Sprintf("the file is cut short: it has %d bytes and needs %d", fi.Size(), meta.pages*meta.pageSize)}
	}
	if err != nil {
		return dbState{}, located(err, path, meta.pageSize)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(fi.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return dbState{}, fmt.Errorf("mapping %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, unix.Munmap(data)) }()
	// Only a hint, so that a cold file is read ahead while it is checked.
	_ = unix.Madvise(data, unix.MADV_WILLNEED)

	// A bad sector under a mapping is a memory fault, not an error.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			st, err = dbState{}, fmt.Errorf("reading %s: %w (%v)", path, unix.EIO, r)
		}
	}()
	w := newBoltWalk(data, meta, fi.Size() > deepCheckLimit)
	if err := w.run(); err != nil {
		return dbState{}, located(err, path, meta.pageSize)
	}
	return w.state, nil
}

// pageError is what is wrong with a page.
type pageError struct {
	page   uint64
	reason string
}

func (e pageError) Error() string { return fmt.Sprintf("page %d: %s", e.page, e.reason) }

// located makes a *damage of a pageError.
func located(err error, path string, pageSize uint64) error {
	var p pageError
	if !errors.As(err, &p) {
		return err
	}
	d := &damage{what: dbName, file: path, offset: -1, reason: p.reason}
	if p.page > 0 {
		d.offset = int64(p.page * pageSize)
		d.reason = p.Error()
	}
	return d
}

// boltMeta is the content of a meta page.
type boltMeta struct {
	pageSize uint64
	root     uint64 // page of the root bucket
	freelist uint64
	pages    uint64 // number of pages in use or free: no page has this ID
	tx       uint64
}

// readMeta returns the current meta page.
func readMeta(r io.ReaderAt, size int64) (boltMeta, error) {
	var best boltMeta
	found := false
	keep := func(off int64) {
		var b [pageHeader + metaSize + 8]byte
		if _, err := r.ReadAt(b[:], off); err != nil {
			return
		}
		if m, ok := parseMeta(b[pageHeader:]); ok && (!found || m.tx > best.tx) {
			best, found = m, true
		}
	}
	keep(0)
	if found {
		keep(int64(best.pageSize))
	} else {
		// The first one is gone, and with it the page size.
		for off := int64(1024); off <= 16<<20 && off < size; off *= 2 {
			keep(off)
		}
	}
	if !found {
		return best, pageError{reason: "neither of its two meta pages is valid"}
	}
	return best, nil
}

// parseMeta decodes a meta page behind its header. In memory order, which is
// little-endian on every platform kapi is built for: magic, version, page size
// and flags (4 bytes each), root page, root sequence, freelist page, number of
// pages, transaction and checksum (8 bytes each).
func parseMeta(b []byte) (boltMeta, bool) {
	u32, u64 := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	sum := fnv.New64a()
	sum.Write(b[:metaSize])
	m := boltMeta{
		pageSize: uint64(u32(b[8:])),
		root:     u64(b[16:]),
		freelist: u64(b[32:]),
		pages:    u64(b[40:]),
		tx:       u64(b[48:]),
	}
	ok := u32(b) == boltMagic && u32(b[4:]) == boltVersion && u64(b[metaSize:]) == sum.Sum64() &&
		m.pageSize >= 512 && m.pageSize <= 16<<20
	return m, ok
}
