package data

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
)

// BenchmarkFrame is one frame of 10,000 objects of which 400 have changed: five a
// second at 2,000 changes a second.
func BenchmarkFrame(b *testing.B) {
	rows := make([]kinds.Object, 0, 10_000)
	for i := range cap(rows) {
		row := &Row{Cells: []any{"a", "b"}}
		row.Namespace, row.Name, row.ResourceVersion = "default", fmt.Sprintf("%05d", i), "1"
		rows = append(rows, row)
	}
	hub := NewHub(HubOptions{Source: newFake()})
	defer hub.Close()
	hub.lock.Lock()
	f := newFeed(hub, podsKey)
	f.state = Live
	f.store.replace(rows)
	hub.feeds[podsKey] = f
	hub.lock.Unlock()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		hub.lock.Lock()
		for i := range 400 {
			changed := *rows[(n*37+i*25)%len(rows)].(*Row)
			f.store.set(&changed)
		}
		hub.changed()
		frame := hub.frame()
		hub.lock.Unlock()
		if len(frame.View(podsKey).Objects) != 10_000 {
			b.Fatal("objects are missing")
		}
	}
}

// BenchmarkEvent is one change, from the watch to the store.
func BenchmarkEvent(b *testing.B) {
	hub := NewHub(HubOptions{Source: newFake()})
	defer hub.Close()
	f := newFeed(hub, tracesKey)
	one := trace(1, time.Now(), time.Millisecond)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.event(context.Background(), watch.Event{Type: watch.Added, Object: one}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTick is what an idle server costs each second.
func BenchmarkTick(b *testing.B) {
	hub := NewHub(HubOptions{Source: newFake()})
	defer hub.Close()
	hub.lock.Lock()
	f := newFeed(hub, tracesKey)
	hub.feeds[tracesKey] = f
	hub.connection.state = Live
	for i := range TracesKept {
		f.store.set(trace(i, time.Now(), time.Millisecond))
	}
	hub.lock.Unlock()
	b.ReportAllocs()
	for b.Loop() {
		hub.lock.Lock()
		hub.tick()
		hub.lock.Unlock()
	}
}
