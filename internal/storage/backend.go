package storage

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/etcd3/metrics"
	"k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/utils/clock"
)

// Backend is the embedded etcd as the stores see it: one client, one compactor.
// It is safe for use by many goroutines. Close ends it.
type Backend struct {
	client   *kubernetes.Client // for reads and writes; stores watch by clients of their own
	streams  atomic.Int64       // numbers of watch streams given out
	endpoint string
	prefix   string

	compactor etcd3.Compactor
	stop      func()

	health, ready *probe
}

// Config says what a Backend stands on.
type Config struct {
	// Client is the in-process client. It stays the caller's: Close does not close it.
	Client *clientv3.Client
	// Endpoint is the URL at which the same etcd can be dialled. Stores never
	// use it; it tells resources of this etcd from resources sent elsewhere.
	Endpoint string
	// Prefix is the root of all keys ("/registry").
	Prefix string
	// CompactionInterval is how often old revisions are compacted away; 0 never.
	CompactionInterval time.Duration
	// HealthTimeout and ReadyTimeout bound one probe of the health checks.
	HealthTimeout, ReadyTimeout time.Duration
}

// New returns the Backend on cfg and starts its compactor.
func New(cfg Config) *Backend {
	ctx, cancel := context.WithCancel(cfg.Client.Ctx())
	b := &Backend{
		client:   kubernetesClient(cfg.Client),
		endpoint: cfg.Endpoint,
		prefix:   cfg.Prefix,
	}
	compactor := etcd3.NewCompactor(cfg.Client, cfg.CompactionInterval, clock.RealClock{}, nil)
	b.compactor = compactor
	b.stop = sync.OnceFunc(func() {
		cancel()
		compactor.Stop()
	})
	b.health = newProbe(b.probeKey, cfg.HealthTimeout)
	b.ready = newProbe(b.probeKey, cfg.ReadyTimeout)

	// A client without endpoints passes etcd3's own check as "not supported",
	// and without watch progress every consistent list would go to etcd.
	feature.DefaultFeatureSupportChecker.CheckClient(ctx, statusClient{cfg.Client, cfg.Endpoint}, storage.RequestWatchProgress)
	return b
}

// kubernetesClient returns a client over the same connections as c whose key
// reads and writes are timed. It is a new client because the tracker must not
// show in c, which others use.
func kubernetesClient(c *clientv3.Client) *kubernetes.Client {
	tracked := sameConnections(c)
	tracked.KV = etcd3.NewETCDLatencyTracker(c.KV)
	kc := &kubernetes.Client{Client: tracked}
	kc.Kubernetes = kc
	return kc
}

// Close stops the compactor. Stores must not be used afterwards.
func (b *Backend) Close() { b.stop() }

// Serves tells whether servers (storagebackend.TransportConfig.ServerList) name
// this etcd and no other.
func (b *Backend) Serves(servers []string) bool {
	return len(servers) == 1 && servers[0] == b.endpoint
}

func (b *Backend) probeKey(ctx context.Context) error {
	if _, err := b.client.KV.Get(ctx, "/"+trimSlash(b.prefix)+"/health"); err != nil {
		return fmt.Errorf("reading from embedded etcd: %w", err)
	}
	return nil
}

// ReportSize makes b the source of the apiserver_storage_size_bytes metric.
// Upstream keeps the source in one global, which each use of its own etcd
// options sets anew: call this after the last of them.
func (b *Backend) ReportSize() {
	metrics.SetStorageMonitorGetter(func() ([]metrics.Monitor, error) {
		return []metrics.Monitor{monitor{b}}, nil
	})
}

type monitor struct{ b *Backend }

func (m monitor) Monitor(ctx context.Context) (metrics.StorageMetrics, error) {
	status, err := m.b.client.Status(ctx, m.b.endpoint)
	if err != nil {
		return metrics.StorageMetrics{}, fmt.Errorf("reading the status of embedded etcd: %w", err)
	}
	return metrics.StorageMetrics{Size: status.DbSize}, nil
}

func (m monitor) Close() error { return nil }

// statusClient gives the feature check the endpoint that an in-process client lacks.
type statusClient struct {
	client   *clientv3.Client
	endpoint string
}

func (c statusClient) Endpoints() []string { return []string{c.endpoint} }

func (c statusClient) Status(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error) {
	return c.client.Status(ctx, endpoint)
}
