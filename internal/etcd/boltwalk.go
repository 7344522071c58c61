package etcd

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// boltWalk visits the pages of a database that are in use.
type boltWalk struct {
	data    []byte
	meta    boltMeta
	shallow bool   // leave out the leaves of the key bucket
	seen    []byte // one bit for each page
	state   dbState
}

func newBoltWalk(data []byte, m boltMeta, shallow bool) *boltWalk {
	return &boltWalk{data: data, meta: m, shallow: shallow, seen: make([]byte, m.pages/8+1)}
}

// run visits everything and fills state.
func (w *boltWalk) run() error {
	if err := w.freelist(); err != nil {
		return err
	}
	return w.tree(w.meta.root, walkRange{}, 0, w.bucket)
}

// walkRange is what a branch says of the keys below it: from low (inclusive)
// to high (exclusive); nil is no bound.
type walkRange struct{ low, high []byte }

func (r walkRange) holds(key []byte) bool {
	return (r.low == nil || bytes.Compare(key, r.low) >= 0) && (r.high == nil || bytes.Compare(key, r.high) < 0)
}

// visit receives one element of a leaf.
type visit func(page uint64, key, value []byte, isBucket bool) error

// bucket visits a bucket of the root: its value is the ID of its root page and
// a sequence, followed by its only page where the ID is 0.
func (w *boltWalk) bucket(page uint64, name, value []byte, isBucket bool) error {
	if !isBucket || len(value) < 16 {
		return pageError{page, fmt.Sprintf("%q is not a bucket", name)}
	}
	fn := func(page uint64, key, val []byte, isBucket bool) error {
		if isBucket {
			return pageError{page, fmt.Sprintf("a bucket within bucket %q", name)}
		}
		if reason := w.state.element(string(name), key, val); reason != "" {
			return pageError{page, reason}
		}
		return nil
	}
	root := binary.LittleEndian.Uint64(value)
	if root == 0 {
		return w.leaf(page, value[16:], walkRange{}, fn)
	}
	depth := 0
	if w.shallow && string(name) == "key" {
		d, err := w.height(root)
		if err != nil {
			return err
		}
		depth = maxDepth - d + 1 // tree ends at maxDepth: one level before the leaves
	}
	return w.tree(root, walkRange{}, depth, fn)
}

// height is the number of levels of the tree at id.
func (w *boltWalk) height(id uint64) (int, error) {
	for n := 1; n <= maxDepth; n++ {
		p, err := w.page(id)
		if err != nil || flagsOf(p) != pageBranch {
			return n, err
		}
		if countOf(p) == 0 || len(p) < pageHeader+16 {
			return n, pageError{id, "a branch without children"}
		}
		id = binary.LittleEndian.Uint64(p[pageHeader+8:])
	}
	return 0, pageError{id, "the tree has no end"}
}

// tree visits the page id and all below it, to a depth of maxDepth.
func (w *boltWalk) tree(id uint64, r walkRange, depth int, fn visit) error {
	if depth >= maxDepth {
		if w.shallow {
			return w.mark(id, 1)
		}
		return pageError{id, "the tree has no end"}
	}
	p, err := w.page(id)
	if err != nil {
		return err
	}
	if err := w.mark(id, len(p)/int(w.meta.pageSize)); err != nil {
		return err
	}
	switch flagsOf(p) {
	case pageLeaf:
		return w.leaf(id, p, r, fn)
	case pageBranch:
		return w.branch(id, p, r, depth, fn)
	}
	return pageError{id, fmt.Sprintf("it has the type %#x, which is neither branch nor leaf", flagsOf(p))}
}

// branch visits the children of a branch. Element: offset of the key from the
// element, its size (4 bytes each), page of the child (8 bytes).
func (w *boltWalk) branch(id uint64, p []byte, r walkRange, depth int, fn visit) error {
	n := countOf(p)
	if n == 0 || pageHeader+16*n > len(p) {
		return pageError{id, fmt.Sprintf("a branch of %d children", n)}
	}
	key := func(i int) ([]byte, bool) {
		at := pageHeader + 16*i
		return part(p, at+u32(p, at), u32(p, at+4))
	}
	low, ok := key(0)
	for i := range n {
		if !ok || !r.holds(low) {
			return pageError{id, fmt.Sprintf("the key of child %d is out of place", i)}
		}
		child := walkRange{low: low, high: r.high}
		if i+1 < n {
			if child.high, ok = key(i + 1); !ok || bytes.Compare(low, child.high) >= 0 {
				return pageError{id, fmt.Sprintf("the key of child %d is out of place", i+1)}
			}
		}
		if err := w.tree(binary.LittleEndian.Uint64(p[pageHeader+16*i+8:]), child, depth+1, fn); err != nil {
			return err
		}
		low = child.high
	}
	return nil
}

// leaf visits the elements of a leaf. Element: flags, offset of the key from
// the element, size of the key, size of the value (4 bytes each); the value
// follows its key.
func (w *boltWalk) leaf(id uint64, p []byte, r walkRange, fn visit) error {
	n := 0
	if len(p) >= pageHeader {
		n = countOf(p)
	}
	if len(p) < pageHeader+16*n || flagsOf(p) != pageLeaf {
		return pageError{id, fmt.Sprintf("a leaf of %d elements", n)}
	}
	var last []byte
	for i := range n {
		at := pageHeader + 16*i
		pos, ksize, vsize := at+u32(p, at+4), u32(p, at+8), u32(p, at+12)
		key, ok1 := part(p, pos, ksize)
		value, ok2 := part(p, pos+ksize, vsize)
		if !ok1 || !ok2 {
			return pageError{id, fmt.Sprintf("element %d reaches beyond its page", i)}
		}
		if !r.holds(key) || i > 0 && bytes.Compare(last, key) >= 0 {
			return pageError{id, fmt.Sprintf("the key of element %d is out of place", i)}
		}
		if err := fn(id, key, value, u32(p, at)&1 != 0); err != nil {
			return err
		}
		last = key
	}
	return nil
}

// freelist checks the list of free pages, where one is stored.
func (w *boltWalk) freelist() error {
	id := w.meta.freelist
	if id == boltNoFreelist {
		return nil
	}
	p, err := w.page(id)
	if err != nil {
		return err
	}
	n, at := countOf(p), pageHeader
	if n == 0xFFFF && len(p) >= at+8 {
		n, at = int(binary.LittleEndian.Uint64(p[at:])), at+8
	}
	if flagsOf(p) != pageFree || n < 0 || n > (len(p)-at)/8 {
		return pageError{id, "the list of free pages is not one"}
	}
	for i := range n {
		if free := binary.LittleEndian.Uint64(p[at+8*i:]); free < 2 || free >= w.meta.pages {
			return pageError{id, fmt.Sprintf("it lists the free page %d of %d", free, w.meta.pages)}
		}
	}
	return w.mark(id, len(p)/int(w.meta.pageSize))
}

// page returns the page id with the pages that it extends over. Header: ID (8
// bytes), flags, number of elements (2 bytes each), number of further pages.
func (w *boltWalk) page(id uint64) ([]byte, error) {
	if id < 2 || id >= w.meta.pages {
		return nil, w.noSuchPage(id)
	}
	p := w.data[id*w.meta.pageSize:]
	if self := binary.LittleEndian.Uint64(p); self != id {
		return nil, pageError{id, fmt.Sprintf("it says that it is page %d", self)}
	}
	more := uint64(u32(p, 12))
	if more >= w.meta.pages-id {
		return nil, pageError{id, fmt.Sprintf("it extends over %d more pages than there are", more)}
	}
	return p[:(more+1)*w.meta.pageSize], nil
}

// mark notes that n pages from id on are in use, once.
func (w *boltWalk) mark(id uint64, n int) error {
	for i := id; i < id+uint64(n); i++ {
		if i >= w.meta.pages {
			return w.noSuchPage(id)
		}
		if w.seen[i/8]&(1<<(i%8)) != 0 {
			return pageError{i, "it is in use twice"}
		}
		w.seen[i/8] |= 1 << (i % 8)
	}
	return nil
}

func flagsOf(p []byte) int      { return int(binary.LittleEndian.Uint16(p[8:])) }
func countOf(p []byte) int      { return int(binary.LittleEndian.Uint16(p[10:])) }
func u32(p []byte, off int) int { return int(binary.LittleEndian.Uint32(p[off:])) }
func part(p []byte, off, n int) ([]byte, bool) {
	if off < 0 || n < 0 || off > len(p) || n > len(p)-off {
		return nil, false
	}
	return p[off : off+n : off+n], true
}

func (w *boltWalk) noSuchPage(id uint64) error {
	return pageError{reason: fmt.Sprintf("page %d is referred to, of %d pages", id, w.meta.pages)}
}
