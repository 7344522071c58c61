package storage

import (
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
)

// TestWatchOfCompactedRevision: who comes back too late is told so, and gets no
// watch with a hole.
func TestWatchOfCompactedRevision(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{own: true})
	old := mustCreate(t, f, "a", 0).ResourceVersion
	mustCreate(t, f, "b", 0)
	mustCreate(t, f, "c", 0)
	if ev := mustReceive(t, mustWatch(t.Context(), t, f, old)); ev.Type != watch.Added || ev.Object.(*example.Pod).Name != "b" {
		t.Fatalf("before the compaction the watch begins with %v", ev)
	}
	f.compact(t.Context(), t, mustCreate(t, f, "d", 0).ResourceVersion)

	t.Run("store", func(t *testing.T) {
		ev := mustReceive(t, mustWatch(t.Context(), t, f, old))
		if err := isExpired(ev); err != nil {
			t.Errorf("the watch begins with %v: %v", ev, err)
		}
	})
	t.Run("cache", func(t *testing.T) {
		// One that has begun after the compaction, as in a server that restarts.
		cached := newFixtureOn(t, f, setup{cached: true, codec: f.codec})
		ev := mustReceive(t, mustWatch(t.Context(), t, cached, old))
		if err := isExpired(ev); err != nil {
			t.Errorf("the watch begins with %v: %v", ev, err)
		}
	})
}

// TestObjectsWithTTLDisappear: events and leases of masters live by it.
func TestObjectsWithTTLDisappear(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]setup{"store": {}, "cache": {cached: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, s)
			stays := mustCreate(t, f, "stays", 0)
			w := mustWatch(t.Context(), t, f, stays.ResourceVersion)
			leaseOf := f.leases(t, stays.ResourceVersion)
			mustCreate(t, f, "goes-1", 1)
			mustCreate(t, f, "goes-2", 1)
			mustCreate(t, f, "later-1", 3600)
			mustCreate(t, f, "later-2", 3600)
			mustCreate(t, f, "stays-2", 0)
			lease := leaseOf("goes-1")
			if lease == 0 || leaseOf("goes-2") == 0 {
				t.Error("an object that lives for a second has no lease")
			}
			if a, b := leaseOf("later-1"), leaseOf("later-2"); a == 0 || a == lease || a != b {
				t.Errorf("objects that live for an hour have the leases %d and %d, want one for both", a, b)
			}
			if got := leaseOf("stays-2"); got != 0 {
				t.Errorf("an object that stays has lease %d", got)
			}

			got := map[string]int{}
			for len(got) < 7 {
				ev := mustReceive(t, w)
				got[string(ev.Type)+" "+podOf(t, ev).Name]++
			}
			for _, want := range []string{"ADDED goes-1", "ADDED goes-2", "DELETED goes-1", "DELETED goes-2"} {
				if got[want] != 1 {
					t.Errorf("the events are %v, want %q", got, want)
				}
			}
			if err := f.Get(t.Context(), podKey("goes-1"), storage.GetOptions{}, &example.Pod{}); !storage.IsNotFound(err) {
				t.Errorf("reading what is gone: %v", err)
			}
			if err := f.Get(t.Context(), podKey("stays"), storage.GetOptions{}, &example.Pod{}); err != nil {
				t.Errorf("reading what stays: %v", err)
			}
			if ttl, err := f.etcd.TimeToLive(t.Context(), lease); err != nil || ttl.TTL >= 0 {
				t.Errorf("the lease is still there: %v, %v", ttl, err)
			}
		})
	}
}

// leases returns a function that tells the lease with which the next object was
// written, whose name must be the one that is asked for. They are read off the
// writes, since the objects may be gone by then.
func (f *fixture) leases(t *testing.T, since string) func(name string) clientv3.LeaseID {
	t.Helper()
	rev, err := strconv.ParseInt(since, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	writes := f.etcd.Watch(t.Context(), f.prefix+"/pods/", clientv3.WithPrefix(), clientv3.WithRev(rev+1), clientv3.WithFilterDelete())
	var pending []*clientv3.Event
	return func(name string) clientv3.LeaseID {
		for len(pending) == 0 {
			select {
			case r := <-writes:
				pending = r.Events
			case <-time.After(patience):
				t.Fatalf("%s is not written", name)
			}
		}
		kv := pending[0].Kv
		pending = pending[1:]
		if string(kv.Key) != f.prefix+podKey(name) {
			t.Fatalf("%s is written, want %s", kv.Key, name)
		}
		return clientv3.LeaseID(kv.Lease)
	}
}
