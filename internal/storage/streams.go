package storage

import (
	"context"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/grpc/metadata"
)

// streamKey is the metadata by which etcd's client tells streams apart: watches
// with equal metadata share one (streamKeyFromCtx in client/v3/watch.go). The
// server does not read it.
const streamKey = "kapi-watch-stream"

// ownStreams keeps the watches of a store off the streams of others. On one
// stream for all,
//
//   - a single watch that waits for a future revision, as each does that begins
//     at the latest one, silences the progress notifications of all others, and
//     their caches ask etcd instead (progressIfSync in server/storage/mvcc);
//   - watches that end together can stop the stream for ever: the in-process
//     pipe has no room, so that client and server wait for each other to
//     receive, the one with a request to cancel and the other with events.
//
// A stream with a single watch never sends a request to cancel.
type ownStreams struct {
	clientv3.Watcher
	next func() string // the stream of a new watch, or of a request for progress
}

// Watch implements clientv3.Watcher.
func (w ownStreams) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	return w.Watcher.Watch(w.mark(ctx), key, opts...)
}

// RequestProgress implements clientv3.Watcher.
func (w ownStreams) RequestProgress(ctx context.Context) error {
	return w.Watcher.RequestProgress(w.mark(ctx))
}

func (w ownStreams) mark(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, streamKey, w.next())
}

func (b *Backend) newStream() string { return strconv.FormatInt(b.streams.Add(1), 10) }

// streamPerWatch returns the client of a store without a watch cache, where
// every watch of a user is one of etcd.
func (b *Backend) streamPerWatch() *kubernetes.Client { return b.withStreams(b.newStream) }

// streamPerStore returns the client of a store with a watch cache: the cache is
// its one watch, and asks for its progress.
func (b *Backend) streamPerStore() *kubernetes.Client {
	stream := b.newStream()
	return b.withStreams(func() string { return stream })
}

func (b *Backend) withStreams(next func() string) *kubernetes.Client {
	c := sameConnections(b.client.Client)
	c.Watcher = ownStreams{c.Watcher, next}
	return &kubernetes.Client{Client: c, Kubernetes: b.client.Kubernetes}
}

// sameConnections returns a client whose parts are those of c, to exchange some
// of them where c itself must stay as it is. It owns nothing, and needs no Close.
func sameConnections(c *clientv3.Client) *clientv3.Client {
	n := clientv3.NewCtxClient(context.WithoutCancel(c.Ctx()), clientv3.WithZapLogger(c.GetLogger()))
	n.Cluster, n.KV, n.Lease, n.Watcher = c.Cluster, c.KV, c.Lease, c.Watcher
	n.Auth, n.Maintenance = c.Auth, c.Maintenance
	return n
}
