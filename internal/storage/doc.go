// Package storage is the path between the registries of the server chain and
// the embedded etcd: a RESTOptionsGetter whose stores talk to etcd by function
// call instead of by gRPC.
//
// One Backend serves all layers and all custom resources. What upstream's
// storage factory (k8s.io/apiserver/pkg/storage/storagebackend/factory) adds
// around a store is kept, each part once for the whole process instead of once
// for each resource:
//
//   - the latency tracker that books etcd time on the request (latency.go of etcd3),
//   - the compactor, and the compact revision that it tells the watch caches,
//   - transformers (encryption at rest) and their health checks,
//   - deletion of corrupt objects behind its feature gate,
//   - the check whether etcd can be asked for watch progress,
//   - readiness and health checks, the database size monitor,
//   - the lease manager of each store, and destroy functions.
//
// Resources that an operator sends elsewhere (--etcd-servers-overrides) and a
// whole external etcd (--etcd-servers) go upstream's way, unchanged.
//
// What must not be one for all is the stream of watches: see ownStreams.
//
// Watch events are shared between the watchers of the in-process client:
// nothing behind a store may change the bytes that it is given.
//
// The package may import k8s.io/apiserver and the etcd client, but not the etcd
// server: it is handed a client.
package storage
