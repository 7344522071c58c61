package resources

import (
	"context"
	"net/http"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Config is what a Resources asks. What is nil or zero is not asked, and what it
// would have told stays empty.
type Config struct {
	// ServerID is the identity of the API server.
	ServerID string
	// Layers are the layers that serve resources themselves, outermost first.
	Layers []Layer
	// Handler is the whole chain without its filters: it answers aggregated
	// discovery and the list of OpenAPI v3 documents.
	Handler http.Handler

	// Custom says where custom resources come from.
	Custom Custom
	// APIServices returns all APIServices, from a lister.
	APIServices func() ([]*apiregistrationv1.APIService, error)
	// ProxyLayer is the layer that proxies to aggregated servers ("aggregator").
	ProxyLayer string
	// Known are the built-in resources that the server could serve, to tell those
	// that it does not.
	Known *Known

	// Metrics is where upstream counts (legacyregistry.DefaultGatherer).
	Metrics metrics.Gatherer
	// KV reads keys of etcd, to count them.
	KV Getter
	// EncryptedBy names the provider that new objects of a resource are encrypted with.
	EncryptedBy func(schema.GroupResource) string

	// Etcd are the members of etcd.
	Etcd Etcd

	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Layer is a layer that serves resources of its own.
type Layer struct {
	// Name is the layer's ("kube-apiserver").
	Name string
	// Discovery returns the resources that the layer itself serves, without
	// those of its delegate; DiscoveryOf makes one.
	Discovery func(ctx context.Context) ([]*metav1.APIResourceList, error)
	// Stored says where the layer's objects are; nil when it keeps none in etcd.
	Stored StoredFunc
}

// Custom says where custom resources come from.
type Custom struct {
	// Layer serves them ("apiextensions").
	Layer string
	// Definitions returns all CustomResourceDefinitions, from a lister.
	Definitions func() ([]*apiextensionsv1.CustomResourceDefinition, error)
	// Prefix is the root of all keys in etcd ("/registry"); the objects are below
	// PREFIX/GROUP/PLURAL.
	Prefix string
}

// Getter reads keys; a clientv3.Client is one.
type Getter interface {
	Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error)
}

// Etcd says how the members of etcd are asked.
type Etcd struct {
	// Client asks them; nil means that they can't be asked.
	Client MemberClient
	// Endpoints are those that the server uses.
	Endpoints []string
	// Embedded says that the one member runs in this process.
	Embedded bool
	// Quota is the size at which a member that does not tell refuses writes, in bytes.
	Quota int64
	// Metrics has the times of fsync and commit of an embedded member
	// (prometheus.DefaultGatherer).
	Metrics metrics.Gatherer
	// Maintained returns when this process has last defragmented the member, and
	// saved a snapshot of it; zero times for never.
	Maintained func() (defrag, snapshot time.Time)
}

// MemberClient asks the members of etcd; a clientv3.Client is one.
type MemberClient interface {
	Status(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error)
	MemberList(ctx context.Context, opts ...clientv3.OpOption) (*clientv3.MemberListResponse, error)
	AlarmList(ctx context.Context) (*clientv3.AlarmResponse, error)
}

// Resources collects. It is safe for use by many goroutines.
type Resources struct {
	config     Config
	aggregated aggregatedDiscovery
	openAPI    openAPIDocuments
	counts     counts
	members    members
}

// New returns a Resources that has asked nothing yet.
func New(config Config) *Resources {
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Resources{
		config:     config,
		aggregated: aggregatedDiscovery{handler: config.Handler, now: config.Now},
		openAPI:    openAPIDocuments{handler: config.Handler, now: config.Now},
		counts:     counts{kv: config.KV, metrics: gathered{from: config.Metrics, now: config.Now}, now: config.Now},
		members:    members{config: config.Etcd, metrics: gathered{from: config.Etcd.Metrics, now: config.Now}, now: config.Now},
	}
}

// samplePeriod is how often Run takes a sample of sizes.
const samplePeriod = time.Minute

// Run takes samples of sizes, so that growth is known when somebody asks. It
// returns when ctx is done.
func (r *Resources) Run(ctx context.Context) {
	ticker := time.NewTicker(samplePeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.sample(ctx)
		}
	}
}

// sample asks for sizes; an error is one of those that a reader is told too.
func (r *Resources) sample(ctx context.Context) {
	_, _ = r.Storage(ctx)
	_, _ = r.EtcdMembers(ctx)
}
