// Package inspect is the lid taken off: it collects what the observers of its
// subpackages see, and serves it as the group inspect.kapi.dev, a layer of the
// server chain. The subpackages are
//
//	store     tables in memory, listed and watched
//	kinds     how each resource looks: names, columns, fields
//	rest      tables as REST resources
//	requests  layers, filters and request traces
//	auth      authenticators, authorizers, admission plugins, flow control
//	route     dry run of a request
//	boot      boot steps, post-start hooks, health checks
//	resources registrations, storage, discovery, etcd
//	conditions transitions and APIService probes
//	metrics   the same as Prometheus metrics
//
// This package puts them together and nothing else. Only chain and app import it.
package inspect

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/kapi-dev/kapi/internal/inspect/kinds"
	inspectrest "github.com/kapi-dev/kapi/internal/inspect/rest"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Sizes and times of tables.
const (
	// history is how many changes of a table a watch can be resumed from.
	history = 1000
	// buffer is how many events a watch may be behind before it is dropped.
	buffer = 1000
	// period is how often counters are published to those who watch.
	period = 500 * time.Millisecond
)

// Inspector holds the tables of all resources.
type Inspector struct {
	revision  *store.Revision
	snapshots map[string]*store.Snapshot
	// collectors fill the snapshots, by resource; there are none before the server is built.
	collectors atomic.Pointer[map[string]store.Collect]
}

// New returns an inspector whose tables are empty.
func New() *Inspector {
	i := &Inspector{revision: store.NewRevision(time.Now()), snapshots: map[string]*store.Snapshot{}}
	i.collectors.Store(&map[string]store.Collect{})
	for _, kind := range kinds.All() {
		i.snapshots[kind.Resource] = store.NewSnapshot(store.SnapshotOptions{
			Revision: i.revision, History: history, Buffer: buffer, Period: period,
		}, i.collect(kind.Resource))
	}
	return i
}

func (i *Inspector) collect(resource string) store.Collect {
	return func(ctx context.Context) ([]store.Object, error) {
		if collect := (*i.collectors.Load())[resource]; collect != nil {
			return collect(ctx)
		}
		return nil, nil
	}
}

// GroupInfo returns the group for a generic server to install.
func (i *Inspector) GroupInfo(scheme *runtime.Scheme) *genericapiserver.APIGroupInfo {
	storages := map[string]rest.Storage{}
	for _, kind := range kinds.All() {
		storages[kind.Resource] = inspectrest.New(kind, i.snapshots[kind.Resource])
	}
	return inspectrest.GroupInfo(scheme, storages)
}

// Close ends all watches.
func (i *Inspector) Close() {
	for _, table := range i.snapshots {
		table.Close()
	}
}
