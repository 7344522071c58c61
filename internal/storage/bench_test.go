package storage

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
)

// benchStores are the store of a Backend and the one of upstream's factory, on
// one etcd: by function call, and over its unix socket.
func benchStores(b *testing.B, run func(*testing.B, storage.Interface)) {
	member := ownEtcd(b)
	config := storagebackend.NewDefaultConfig("/bench", codecs().protobuf).ForResource(podResource)
	config.Transport.ServerList = []string{member.Endpoint()}
	backend := newBackend(b, member, "/bench")
	for _, c := range []struct {
		name string
		open func() (storage.Interface, factory.DestroyFunc, error)
	}{
		{"in-process", func() (storage.Interface, factory.DestroyFunc, error) {
			config.Prefix = "/in-process"
			return backend.Store(*config, newPod, newPodList, "/pods/")
		}},
		{"socket", func() (storage.Interface, factory.DestroyFunc, error) {
			config.Prefix = "/socket"
			return factory.Create(*config, newPod, newPodList, "/pods/")
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			store, destroy, err := c.open()
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(destroy)
			run(b, store)
		})
	}
}

func benchPod(name string) *example.Pod {
	return &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Annotations: map[string]string{"filler": strings.Repeat("x", 900)}}}
}

// benchFill creates n objects of about 1 KiB, and returns the resource version of one of the last.
func benchFill(b *testing.B, store storage.Interface, n int) (rv string) {
	b.Helper()
	var wg sync.WaitGroup
	next := make(chan int)
	for range 64 {
		wg.Go(func() {
			for i := range next {
				name := fmt.Sprintf("pod-%06d", i)
				if err := store.Create(b.Context(), podKey(name), benchPod(name), &example.Pod{}, 0); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	out := &example.Pod{}
	if err := store.Create(b.Context(), podKey("zlast"), benchPod("zlast"), out, 0); err != nil || b.Failed() {
		b.Fatal(err)
	}
	return out.ResourceVersion
}

func BenchmarkGet(b *testing.B) {
	benchStores(b, func(b *testing.B, store storage.Interface) {
		benchFill(b, store, 1)
		benchCPU(b, func() {
			if err := store.Get(b.Context(), podKey("pod-000000"), storage.GetOptions{}, &example.Pod{}); err != nil {
				b.Fatal(err)
			}
		})
	})
}

func BenchmarkCreate(b *testing.B) {
	benchStores(b, func(b *testing.B, store storage.Interface) {
		n := 0
		benchCPU(b, func() {
			n++
			name := fmt.Sprintf("new-%d", n)
			if err := store.Create(b.Context(), podKey(name), benchPod(name), &example.Pod{}, 0); err != nil {
				b.Fatal(err)
			}
		})
	})
}

func BenchmarkList1000(b *testing.B) {
	benchStores(b, func(b *testing.B, store storage.Interface) {
		benchFill(b, store, 999)
		benchCPU(b, func() { benchList(b, store, 1000) })
	})
}

func benchList(b *testing.B, store storage.Interface, want int) {
	b.Helper()
	list := &example.PodList{}
	if err := store.GetList(b.Context(), "/pods/", storage.ListOptions{Recursive: true, Predicate: storage.Everything}, list); err != nil || len(list.Items) != want {
		b.Fatalf("a list of %d: %v", len(list.Items), err)
	}
}

// BenchmarkWatchEvent is from the call that writes to the event that arrives.
func BenchmarkWatchEvent(b *testing.B) {
	benchStores(b, func(b *testing.B, store storage.Interface) {
		rv := benchFill(b, store, 1)
		w, err := store.Watch(b.Context(), "/pods/", storage.ListOptions{ResourceVersion: rv, Recursive: true, Predicate: storage.Everything})
		if err != nil {
			b.Fatal(err)
		}
		defer w.Stop()
		n := 0
		benchCPU(b, func() {
			n++
			name := fmt.Sprintf("watched-%d", n)
			if err := store.Create(b.Context(), podKey(name), benchPod(name), &example.Pod{}, 0); err != nil {
				b.Fatal(err)
			}
			if ev := <-w.ResultChan(); ev.Type != watch.Added {
				b.Fatalf("event %v", ev)
			}
		})
	})
}

// benchCPU measures run, and the time that the process has spent on it.
func benchCPU(b *testing.B, run func()) {
	b.Helper()
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		run()
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// cpuTime is what the process has used: the wall clock says little on a machine
// with other work.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkList20000: a long list.
func BenchmarkList20000(b *testing.B) {
	benchStores(b, func(b *testing.B, store storage.Interface) {
		benchFill(b, store, 19_999)
		benchCPU(b, func() { benchList(b, store, 20_000) })
	})
}

// BenchmarkCacheStart is from nothing to a watch cache of 20,000 objects.
func BenchmarkCacheStart(b *testing.B) {
	f := newFixture(b, setup{own: true, codec: codecs().protobuf})
	benchFill(b, f, 19_999)
	keyFunc := func(obj runtime.Object) (string, error) { return storage.NamespaceKeyFunc("/pods/", obj) }
	benchCPU(b, func() {
		store, destroy, err := f.backend.cached(f.config(), "/pods/", keyFunc, newPod, newPodList, podAttrs, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		eventually(b, "the cache is ready", store.ReadinessCheck)
		destroy()
	})
}
