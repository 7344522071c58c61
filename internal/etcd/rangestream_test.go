package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// streamed is what a stream delivered.
type streamed struct {
	kvs    []*mvccpb.KeyValue
	chunks int
	last   clientv3.RangeStreamResponse // the final chunk
	err    error
}

// drain reads a stream to its end.
func drainStream(c clientv3.GetStreamChan) (s streamed) {
	for r := range c {
		if err := r.Err(); err != nil {
			s.err = err
			continue
		}
		s.chunks++
		s.kvs = append(s.kvs, r.Kvs...)
		s.last = r
	}
	return s
}

func mustStream(ctx context.Context, t testing.TB, kv clientv3.KV, opts ...clientv3.OpOption) clientv3.GetStreamChan {
	t.Helper()
	c, err := kv.GetStream(ctx, "key-", opts...)
	if err != nil {
		t.Fatalf("opening a stream: %v", err)
	}
	return c
}

// streamMember has n keys of size bytes.
func streamMember(t testing.TB, n, size int) *Member {
	t.Helper()
	c := testConfig(t)
	c.UnsafeNoFsync = true
	m := mustStart(t, c)
	fill(t, m.Client(), n, func(i int) string { return fmt.Sprintf("%0*d", size, i) })
	return m
}

// awaitStreams waits until no goroutine of a stream is left: the one that sends
// is counted, and ends after the one of etcd's client.
func awaitStreams(t *testing.T, m *Member) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.streams.running.Wait()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("a goroutine of a stream is left")
	}
}

// equalKVs compares with what pages say.
func equalKVs(t *testing.T, got, want []*mvccpb.KeyValue) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d keys, want %d", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i].Key, want[i].Key) || !bytes.Equal(got[i].Value, want[i].Value) ||
			got[i].ModRevision != want[i].ModRevision || got[i].CreateRevision != want[i].CreateRevision || got[i].Version != want[i].Version {
			t.Fatalf("entry %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// paged reads everything in pages, at the revision of the first.
func paged(t testing.TB, kv clientv3.KV, limit int64) (all []*mvccpb.KeyValue, rev int64) {
	t.Helper()
	from, end := "key-", clientv3.GetPrefixRangeEnd("key-")
	for {
		r, err := kv.Get(t.Context(), from, clientv3.WithRange(end), clientv3.WithLimit(limit), clientv3.WithRev(rev))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Kvs...)
		if rev == 0 {
			rev = r.Header.Revision
		}
		if !r.More {
			return all, rev
		}
		from = string(r.Kvs[len(r.Kvs)-1].Key) + "\x00"
	}
}

func TestStreamEqualsPages(t *testing.T) {
	t.Parallel()
	m := streamMember(t, 20_000, 512)
	kv := m.Client().KV
	want, rev := paged(t, kv, 500)

	s := drainStream(mustStream(t.Context(), t, kv, clientv3.WithPrefix()))
	if s.err != nil {
		t.Fatal(s.err)
	}
	equalKVs(t, s.kvs, want)
	if s.chunks < 3 {
		t.Errorf("%d chunks, want it in pieces", s.chunks)
	}
	if !slices.IsSortedFunc(s.kvs, func(a, b *mvccpb.KeyValue) int { return bytes.Compare(a.Key, b.Key) }) {
		t.Error("the keys are not in order")
	}
	if h := s.last.Header; h == nil || h.Revision != rev || h.ClusterId == 0 || h.MemberId == 0 || s.last.Count != 20_000 || s.last.More {
		t.Errorf("the last chunk has header %v, count %d, more %v; want revision %d, count 20000, no more", h, s.last.Count, s.last.More, rev)
	}

	t.Run("limit", func(t *testing.T) {
		s := drainStream(mustStream(t.Context(), t, kv, clientv3.WithPrefix(), clientv3.WithLimit(1234)))
		if s.err != nil {
			t.Fatal(s.err)
		}
		equalKVs(t, s.kvs, want[:1234])
		if !s.last.More || s.last.Count != 20_000 {
			t.Errorf("more %v, count %d; want more, count 20000", s.last.More, s.last.Count)
		}
	})
	t.Run("old revision", func(t *testing.T) {
		// Writes and deletions after the stream's revision don't show.
		if _, err := kv.Delete(t.Context(), "key-0", clientv3.WithPrefix()); err != nil {
			t.Fatal(err)
		}
		s := drainStream(mustStream(t.Context(), t, kv, clientv3.WithPrefix(), clientv3.WithRev(rev)))
		if s.err != nil {
			t.Fatal(s.err)
		}
		equalKVs(t, s.kvs, want)
		if s := drainStream(mustStream(t.Context(), t, kv, clientv3.WithPrefix())); s.err != nil || len(s.kvs) != 0 {
			t.Errorf("the latest revision has %d keys and error %v, want none", len(s.kvs), s.err)
		}
	})
}

// TestStreamKeepsItsRevision: what is written while it runs is not in it.
func TestStreamKeepsItsRevision(t *testing.T) {
	t.Parallel()
	m := streamMember(t, 2000, 16)
	kv := m.Client().KV
	want, _ := paged(t, kv, 500)
	stream := mustStream(t.Context(), t, kv, clientv3.WithPrefix())
	first := <-stream
	if first.Err() != nil {
		t.Fatal(first.Err())
	}
	if _, err := kv.Put(t.Context(), "key-999999", "late"); err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Delete(t.Context(), keyOf(1999)); err != nil {
		t.Fatal(err)
	}
	s := drainStream(stream)
	if s.err != nil {
		t.Fatal(s.err)
	}
	equalKVs(t, append(first.Kvs, s.kvs...), want)
}

func TestStreamErrors(t *testing.T) {
	t.Parallel()
	m := streamMember(t, 200, 16)
	kv := m.Client().KV
	_, rev := paged(t, kv, 500)
	if _, err := kv.Compact(t.Context(), rev); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		opts []clientv3.OpOption
		is   func(error) bool
	}{
		"compacted":       {[]clientv3.OpOption{clientv3.WithRev(rev - 1)}, func(err error) bool { return errors.Is(err, rpctypes.ErrCompacted) }},
		"future revision": {[]clientv3.OpOption{clientv3.WithRev(rev + 1000)}, func(err error) bool { return errors.Is(err, rpctypes.ErrFutureRev) }},
		// The caller falls back to pages on exactly this code.
		"sorted": {[]clientv3.OpOption{clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortDescend)},
			func(err error) bool { return status.Code(err) == codes.Unimplemented }},
	} {
		t.Run(name, func(t *testing.T) {
			s := drainStream(mustStream(t.Context(), t, kv, append(c.opts, clientv3.WithPrefix())...))
			if s.err == nil || !c.is(s.err) || s.chunks != 0 {
				t.Errorf("%d chunks and error %v", s.chunks, s.err)
			}
		})
	}
	t.Run("half-way", func(t *testing.T) {
		stream := mustStream(t.Context(), t, kv, clientv3.WithPrefix())
		first := <-stream // 10 keys; the next 20 are in the channel, 40 wait for room
		r, err := kv.Put(t.Context(), "other", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kv.Compact(t.Context(), r.Header.Revision); err != nil {
			t.Fatal(err)
		}
		s := drainStream(stream)
		if !errors.Is(s.err, rpctypes.ErrCompacted) || len(first.Kvs)+len(s.kvs) >= 200 {
			t.Errorf("%d keys and error %v, want a part of 200 and the compaction", len(first.Kvs)+len(s.kvs), s.err)
		}
	})
}

// TestStreamCancelled: a reader that goes away half-way leaves no goroutine, and
// one that stays gets an error and not the end of a list.
func TestStreamCancelled(t *testing.T) {
	t.Parallel()
	m := streamMember(t, 2000, 16)
	for name, read := range map[string]func(context.CancelFunc, clientv3.GetStreamChan){
		"nothing read": func(cancel context.CancelFunc, _ clientv3.GetStreamChan) { cancel() },
		"one chunk read": func(cancel context.CancelFunc, c clientv3.GetStreamChan) {
			<-c
			cancel()
		},
		"read on": func(cancel context.CancelFunc, c clientv3.GetStreamChan) {
			<-c
			cancel()
			if s := drainStream(c); !errors.Is(s.err, context.Canceled) {
				t.Errorf("read on: error %v after %d chunks, want %v", s.err, s.chunks, context.Canceled)
			}
		},
		"read late": func(cancel context.CancelFunc, c clientv3.GetStreamChan) {
			cancel()
			awaitStreams(t, m)
			if s := drainStream(c); !errors.Is(s.err, context.Canceled) {
				t.Errorf("read late: error %v after %d chunks, want %v", s.err, s.chunks, context.Canceled)
			}
		},
	} {
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			read(cancel, mustStream(ctx, t, m.Client(), clientv3.WithPrefix()))
			awaitStreams(t, m)
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestStopEndsStreams: the member stops under a reader that waits.
func TestStopEndsStreams(t *testing.T) {
	t.Parallel()
	m := streamMember(t, 2000, 16)
	client := m.Client()
	stream := mustStream(context.Background(), t, client, clientv3.WithPrefix())
	<-stream
	mustStop(t, m)
	s := drainStream(stream)
	if !errors.Is(s.err, context.Canceled) {
		t.Errorf("error %v after %d chunks, want %v", s.err, s.chunks, context.Canceled)
	}
	if _, err := client.GetStream(context.Background(), "key-", clientv3.WithPrefix()); !errors.Is(err, context.Canceled) {
		t.Errorf("opening a stream on a stopped member: error %v, want %v", err, context.Canceled)
	}
}

// BenchmarkList reads 20,000 objects of 1 KiB in the ways there are: all at
// once and in pages, as before there were streams, and as a stream.
func BenchmarkList(b *testing.B) {
	m := streamMember(b, 20_000, 1024)
	kv := m.Client().KV
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r, err := kv.Get(b.Context(), "key-", clientv3.WithPrefix()); err != nil || len(r.Kvs) != 20_000 {
				b.Fatal(err)
			}
		}
	})
	b.Run("pages", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if all, _ := paged(b, kv, 10_000); len(all) != 20_000 {
				b.Fatal(len(all))
			}
		}
	})
	b.Run("stream", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if s := drainStream(mustStream(b.Context(), b, kv, clientv3.WithPrefix())); s.err != nil || len(s.kvs) != 20_000 {
				b.Fatal(s.err)
			}
		}
	})
}
