package storage

import (
	"strings"
	"testing"

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
			mustCreate(t, f, "goes-1", 1)
			mustCreate(t, f, "goes-2", 1)

			mustCreate(t, f, "later-1", 3600)
			mustCreate(t, f, "later-2", 3600)
			leases := f.leases(t)
			lease := leases[podKey("goes-1")]
			if len(leases) != 5 || leases[podKey("stays")] != 0 || lease == 0 || leases[podKey("goes-2")] == 0 {
				t.Errorf("the leases are %v, want some for all but the first object", leases)
			}
			if later := leases[podKey("later-1")]; later == lease || later != leases[podKey("later-2")] {
				t.Errorf("the leases are %v, want one for both objects that live for an hour", leases)
			}

			got := map[string]int{}
			for len(got) < 6 {
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

// leases are those of the keys in etcd.
func (f *fixture) leases(t *testing.T) map[string]clientv3.LeaseID {
	t.Helper()
	r, err := f.etcd.Get(t.Context(), f.prefix+"/pods/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	leases := map[string]clientv3.LeaseID{}
	for _, kv := range r.Kvs {
		leases[strings.TrimPrefix(string(kv.Key), f.prefix)] = clientv3.LeaseID(kv.Lease)
	}
	return leases
}
