package chain

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/features"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/apiserver/pkg/server/filters"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"
	"k8s.io/kubernetes/pkg/kubeapiserver"
	"k8s.io/kubernetes/pkg/kubeapiserver/authorizer/modes"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"

	"github.com/kapi-dev/kapi/internal/inspect/rest"
	"github.com/kapi-dev/kapi/internal/storage"
)

// informerResync is how often shared informers go through their objects again.
const informerResync = 10 * time.Minute

// generic is the configuration that all layers share, while it is made.
type generic struct {
	cfg Config

	config    *genericapiserver.Config
	client    kubernetes.Interface
	informers informers.SharedInformerFactory
	storage   *serverstorage.DefaultStorageFactory
	// inspectScheme knows the types of inspect.kapi.dev.
	inspectScheme *runtime.Scheme
}

// genericSteps make the generic configuration. The order is a chain of needs:
// the loopback client needs the listener, informers need the client, features
// need informers, storage needs the enabled APIs and the egress selector,
// authentication needs OpenAPI and storage, authorization needs informers.
// Source: BuildGenericConfig in k8s.io/kubernetes/pkg/controlplane/apiserver/config.go.
var genericSteps = []struct {
	name  string
	apply func(*generic) error
}{
	{"server run options", (*generic).runOptions},
	{"secure serving", (*generic).serving},
	{"loopback client and informers", (*generic).loopback},
	{"features", (*generic).features},
	{"API enablement", (*generic).apis},
	{"egress selector", (*generic).egress},
	{"tracing", (*generic).tracing},
	{"OpenAPI", (*generic).openAPI},
	{"storage factory", (*generic).storageFactory},
	{"storage", (*generic).stores},
	{"authentication", (*generic).authentication},
	{"authorization", (*generic).authorization},
	{"audit", (*generic).audit},
	{"aggregated discovery", (*generic).discovery},
}

func newGeneric(cfg Config) (*generic, error) {
	g := &generic{cfg: cfg}
	codecs := legacyscheme.Codecs
	if feature.DefaultFeatureGate.Enabled(features.CBORServingAndStorage) {
		codecs = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.WithSerializer(cbor.NewSerializerInfo))
	}
	g.config = genericapiserver.NewConfig(codecs)
	if cfg.Identity != "" {
		g.config.APIServerID = ServerID(cfg.Identity)
	}
	g.config.Flagz = cfg.Options.Flagz
	g.config.MergedResourceConfig = controlplane.DefaultAPIResourceConfigSource()
	g.config.LongRunningFunc = filters.BasicLongRunningRequestCheck(
		sets.NewString("watch", "proxy"),
		sets.NewString("attach", "exec", "proxy", "log", "portforward"),
	)
	for _, step := range genericSteps {
		if err := step.apply(g); err != nil {
			return nil, fmt.Errorf("applying %s: %w", step.name, err)
		}
	}
	return g, nil
}

// ServerID is the name of the server with an identity: in its identity lease, in
// inspect.kapi.dev, and in the lease of the controllers. It is in upstream's form, but
// upstream makes it of the host's name alone: two servers on a host would take the
// identity lease from one another.
func ServerID(identity string) string {
	sum := sha256.Sum256([]byte(identity))
	return "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}

func (g *generic) runOptions() error {
	if err := g.cfg.Options.GenericServerRunOptions.ApplyTo(g.config); err != nil {
		return err
	}
	g.config.EffectiveVersion = reported{g.config.EffectiveVersion, g.cfg.GitVersion}
	return nil
}

func (g *generic) serving() error {
	if err := g.cfg.Options.SecureServing.SecureServingOptions.ApplyTo(&g.config.SecureServing); err != nil {
		return err
	}
	return serveLoopback(g.config)
}

func (g *generic) loopback() error {
	// To itself the server speaks protobuf, and does not compress: the "network" is memory.
	g.config.LoopbackClientConfig.ContentType = runtime.ContentTypeProtobuf
	g.config.LoopbackClientConfig.DisableCompression = true
	client, err := kubernetes.NewForConfig(g.config.LoopbackClientConfig)
	if err != nil {
		return err
	}
	name := g.cfg.Options.InformerName
	if name == nil {
		if name, err = cache.NewInformerName("kube-apiserver"); err != nil {
			return err
		}
	}
	g.client = client
	g.informers = informers.NewSharedInformerFactoryWithOptions(client, informerResync,
		informers.WithTransform(dropManagedFields), informers.WithInformerName(name))
	return nil
}

// dropManagedFields keeps out of informer caches what no controller of the server reads.
func dropManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil && accessor.GetManagedFields() != nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}

func (g *generic) features() error {
	return g.cfg.Options.Features.ApplyTo(g.config, g.client, g.informers)
}

func (g *generic) apis() error {
	return g.cfg.Options.APIEnablement.ApplyTo(g.config, g.config.MergedResourceConfig, legacyscheme.Scheme)
}

func (g *generic) egress() error { return g.cfg.Options.EgressSelector.ApplyTo(g.config) }

func (g *generic) tracing() error {
	return g.cfg.Options.Traces.ApplyTo(g.config.EgressSelector, g.config)
}

// schemes are those of all layers: a type that no scheme here knows has no name in OpenAPI.
func (g *generic) schemes() []*runtime.Scheme {
	return []*runtime.Scheme{legacyscheme.Scheme, apiextensions.Scheme, aggregatorscheme.Scheme, g.inspectScheme}
}

func (g *generic) openAPI() error {
	var err error
	if g.inspectScheme, err = rest.NewScheme(); err != nil {
		return err
	}
	definitions := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(definitions)
	namer := openapinamer.NewDefinitionNamer(g.schemes()...)
	g.config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	g.config.OpenAPIConfig.Info.Title = "Kubernetes"
	g.config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	g.config.OpenAPIV3Config.Info.Title = "Kubernetes"
	return nil
}

func (g *generic) storageFactory() error {
	etcd := g.cfg.Options.Etcd
	if g.config.EgressSelector != nil {
		etcd.StorageConfig.Transport.EgressLookup = g.config.EgressSelector.Lookup
	}
	etcd.StorageConfig.Transport.TracerProvider = g.config.TracerProvider
	factory := kubeapiserver.NewStorageFactoryConfigEffectiveVersion(g.config.EffectiveVersion)
	factory.APIResourceConfig = g.config.MergedResourceConfig
	factory.DefaultResourceEncoding.SetEffectiveVersion(g.config.EffectiveVersion)
	var err error
	if g.storage, err = factory.Complete(etcd).New(); err != nil {
		return err
	}
	// Copied from the options before the tracker existed.
	g.storage.StorageConfig.StorageObjectCountTracker = g.config.StorageObjectCountTracker
	return nil
}

// context ends when the last request has been answered.
func (g *generic) context() context.Context { return wait.ContextForChannel(g.config.DrainedNotify()) }

func (g *generic) authentication() error {
	return g.cfg.Options.Authentication.ApplyTo(g.context(), &g.config.Authentication, g.config.SecureServing,
		g.config.EgressSelector, g.config.OpenAPIConfig, g.config.OpenAPIV3Config, g.client, g.informers, g.config.APIServerID)
}

func (g *generic) authorization() error {
	cfg, err := g.cfg.Options.Authorization.ToAuthorizationConfig(g.informers)
	if err != nil {
		return err
	}
	if cfg == nil {
		return errors.New("no authorization mode is set")
	}
	if g.config.EgressSelector != nil {
		if cfg.CustomDial, err = g.config.EgressSelector.Lookup(egressselector.ControlPlane.AsNetworkContext()); err != nil {
			return err
		}
	}
	g.config.Authorization.Authorizer, g.config.RuleResolver, err = cfg.New(g.context(), g.config.APIServerID)
	if err != nil {
		return err
	}
	rbac := slices.ContainsFunc(cfg.AuthorizationConfiguration.Authorizers, isRBAC)
	if !rbac {
		g.config.DisabledPostStartHooks.Insert(rbacrest.PostStartHookName)
	}
	return nil
}

func (g *generic) audit() error { return g.cfg.Options.Audit.ApplyTo(g.config) }

func (g *generic) discovery() error {
	g.config.AggregatedDiscoveryGroupManager = aggregated.NewResourceManager("apis")
	return nil
}

func isRBAC(a apiserver.AuthorizerConfiguration) bool { return string(a.Type) == modes.ModeRBAC }

// stores decides where objects live: the embedded etcd by function call, or an
// external one by upstream's way.
func (g *generic) stores() error {
	etcd := g.cfg.Options.Etcd
	if g.cfg.Backend == nil {
		return etcd.ApplyWithStorageFactoryTo(g.storage, g.config)
	}
	if err := g.cfg.Backend.AddHealthChecks(g.config, etcd); err != nil {
		return err
	}
	err := storage.ApplyEncryption(g.config, etcd.EncryptionProviderConfigFilepath, etcd.EncryptionProviderConfigAutomaticReload)
	if err != nil {
		return err
	}
	g.config.RESTOptionsGetter, err = g.cfg.Backend.RESTOptions(
		etcd.CreateRESTOptionsGetter(g.storage, g.config.ResourceTransformers), etcd.EnableWatchCache, etcd.WatchCacheSizes)
	return err
}
