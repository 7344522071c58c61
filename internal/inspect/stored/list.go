package stored

import (
	"context"
	"unicode/utf8"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Bounds of one list. A value has to be read to be measured.
const (
	// measuredKeys and measuredBytes are how much is read for that.
	measuredKeys  = 20_000
	measuredBytes = 64 << 20
	// pageValues is how many are read at a time: etcd bounds an answer by the number of
	// keys only, and each value may have 1.5 MiB.
	pageValues = 100
	// pageKeys is the same without values.
	pageKeys = 1000
)

// unknown is a size that was not measured.
const unknown = -1

// listing is one list while it is made. All of its reads but the first are of the
// revision that the first one was answered at, so that entries fit together.
type listing struct {
	question

	kv       Getter
	revision int64
	// keysLeft and bytesLeft are how much may still be measured.
	keysLeft, bytesLeft int64
	// late says that no more time is to be spent.
	late    func() bool
	entries []v1alpha1.StoredKey
}

func (r *Reader) list(ctx context.Context, q question) (v1alpha1.StoredKeyQueryStatus, error) {
	return r.listing(q).run(ctx)
}

func (r *Reader) listing(q question) *listing {
	deadline := r.config.Now().Add(enough)
	return &listing{
		question: q, kv: r.config.KV, keysLeft: measuredKeys, bytesLeft: measuredBytes,
		late: func() bool { return r.config.Now().After(deadline) },
	}
}

func (l *listing) run(ctx context.Context) (v1alpha1.StoredKeyQueryStatus, error) {
	more, err := l.pages(ctx)
	return v1alpha1.StoredKeyQueryStatus{Prefix: l.prefix, Revision: l.revision, Keys: l.entries, More: more}, err
}

// pages reads page by page. An entry that goes on behind its page is finished by itself,
// so that the keys in it need not all be read.
func (l *listing) pages(ctx context.Context) (more bool, err error) {
	at, end := l.start(), l.end()
	for {
		page, err := l.read(ctx, at, end)
		if err != nil {
			return false, err
		}
		for _, kv := range page.kvs {
			if !l.add(kv, page.size(kv)) {
				return true, nil
			}
		}
		if !page.more {
			return false, nil
		}
		last := string(page.kvs[len(page.kvs)-1].Key)
		at = behind(last)
		if child, folded := l.fold(last); folded && l.isLast(child) {
			at = behindAll(child)
			if err := l.finish(ctx, &l.entries[len(l.entries)-1], behind(last), at); err != nil {
				return false, err
			}
		}
		if l.late() && len(l.entries) > 0 {
			return true, nil
		}
	}
}

// page is an answer of etcd.
type page struct {
	kvs  []*mvccpb.KeyValue
	more bool
	// measured says that it has values.
	measured bool
}

func (p page) size(kv *mvccpb.KeyValue) int64 {
	if !p.measured {
		return unknown
	}
	return int64(len(kv.Value))
}

// read reads the keys from at to before end, with their values while those may be measured.
func (l *listing) read(ctx context.Context, at, end string) (page, error) {
	measured := l.keysLeft > 0 && l.bytesLeft > 0 && !l.late()
	limit := pageValues
	options := []clientv3.OpOption{clientv3.WithRange(end), clientv3.WithRev(l.revision)}
	if !measured {
		limit = pageKeys
		options = append(options, clientv3.WithKeysOnly())
	}
	if l.delimiter == "" { // one more tells whether there are more
		limit = min(limit, l.limit-len(l.entries)+1)
	}
	answer, err := l.kv.Get(ctx, at, append(options, clientv3.WithLimit(int64(limit)))...)
	if err != nil {
		return page{}, err
	}
	if l.revision == 0 {
		l.revision = answer.Header.GetRevision()
	}
	p := page{kvs: answer.Kvs, more: answer.More && len(answer.Kvs) > 0, measured: measured}
	for _, kv := range p.kvs {
		if measured {
			l.keysLeft--
			l.bytesLeft -= p.size(kv)
		}
	}
	return p, nil
}

// add puts a key into the last entry or makes one of it; false if there would be too many.
func (l *listing) add(kv *mvccpb.KeyValue, size int64) bool {
	entry := keyOf(kv, size)
	if child, folded := l.fold(entry.Key); folded {
		if l.isLast(child) {
			last := &l.entries[len(l.entries)-1]
			last.Keys++
			last.Bytes = plus(last.Bytes, size)
			return true
		}
		entry = v1alpha1.StoredKey{Key: child, Keys: 1, Bytes: size}
	}
	if !utf8.ValidString(entry.Key) { // JSON can't have it
		return true
	}
	if len(l.entries) == l.limit {
		return false
	}
	l.entries = append(l.entries, entry)
	return true
}

func (l *listing) isLast(child string) bool {
	return len(l.entries) > 0 && l.entries[len(l.entries)-1].Key == child
}

// finish counts the keys from at to before end into an entry, and measures them if
// that many may still be.
func (l *listing) finish(ctx context.Context, entry *v1alpha1.StoredKey, at, end string) error {
	answer, err := l.kv.Get(ctx, at, clientv3.WithRange(end), clientv3.WithRev(l.revision), clientv3.WithCountOnly())
	if err != nil {
		return err
	}
	entry.Keys += answer.Count
	if answer.Count > l.keysLeft {
		entry.Bytes = unknown
	}
	for rest := answer.Count; rest > 0 && entry.Bytes != unknown; {
		page, err := l.read(ctx, at, end)
		if err != nil {
			return err
		}
		for _, kv := range page.kvs {
			entry.Bytes = plus(entry.Bytes, page.size(kv))
			at = behind(string(kv.Key))
		}
		if !page.more {
			break
		}
	}
	return nil
}

// plus adds sizes, of which one that is not known makes the sum so.
func plus(a, b int64) int64 {
	if a == unknown || b == unknown {
		return unknown
	}
	return a + b
}

func keyOf(kv *mvccpb.KeyValue, size int64) v1alpha1.StoredKey {
	return v1alpha1.StoredKey{
		Key: string(kv.Key), Bytes: size,
		CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision, Version: kv.Version, Lease: kv.Lease,
	}
}
