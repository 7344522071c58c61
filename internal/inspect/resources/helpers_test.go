package resources

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/filters"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/util/compatibility"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	"k8s.io/sample-apiserver/pkg/apis/wardle/v1alpha1"
	wardle "k8s.io/sample-apiserver/pkg/apiserver"
	wardleopenapi "k8s.io/sample-apiserver/pkg/generated/openapi"

	"github.com/kapi-dev/kapi/internal/etcd"
	"github.com/kapi-dev/kapi/internal/inspect/store"
	"github.com/kapi-dev/kapi/internal/storage"
)

// patience bounds waits that end as soon as what is waited for is there.
const patience = 30 * time.Second

// sharedEtcd is a member for all tests; each has keys of its own in it.
var sharedEtcd *etcd.Member

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	klog.SetLogger(logr.Discard())
	flag.Parse()
	dir, err := os.MkdirTemp("", "kapi-resources")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	sharedEtcd, err = etcd.Start(context.Background(), etcd.Config{
		Dir: filepath.Join(dir, "etcd"), RunDir: filepath.Join(dir, "run"), UnsafeNoFsync: true, QuotaBytes: 1 << 30,
	})
	if err != nil {
		return 1, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		err = errors.Join(err, sharedEtcd.Stop(ctx))
	}()
	return m.Run(), nil
}

// clock is one that the test moves.
type clock struct {
	lock sync.Mutex
	now  time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) time() time.Time {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.now
}

func (c *clock) later(by time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.now = c.now.Add(by)
}

// sample is upstream's sample server, on the shared etcd: real resources, real
// stores, real watch caches.
type sample struct {
	server  *genericapiserver.GenericAPIServer
	prefix  string
	factory *serverstorage.DefaultStorageFactory
}

// flundersBelow is where the sample server keeps flunders, to tell a prefix of
// its own from one that follows from the name.
const flundersBelow = "special/fish"

// ownPrefix is one that no other test has, nor another run of the same one.
func ownPrefix(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("/%s-%d", strings.ToLower(t.Name()), time.Now().UnixNano())
}

func newSample(t *testing.T) *sample {
	t.Helper()
	s := &sample{prefix: ownPrefix(t)}
	codec := wardle.Codecs.LegacyCodec(v1alpha1.SchemeGroupVersion)
	etcdOptions := genericoptions.NewEtcdOptions(storagebackend.NewDefaultConfig(s.prefix, codec))
	etcdOptions.StorageConfig.Transport.ServerList = []string{sharedEtcd.Endpoint()}
	config := serverstorage.NewResourceConfig()
	config.EnableVersions(v1alpha1.SchemeGroupVersion)
	s.factory = serverstorage.NewDefaultStorageFactory(etcdOptions.StorageConfig, runtime.ContentTypeJSON, wardle.Codecs,
		serverstorage.NewDefaultResourceEncodingConfig(wardle.Scheme), config,
		map[schema.GroupResource]string{{Group: v1alpha1.GroupName, Resource: "flunders"}: flundersBelow})

	generic := genericapiserver.NewRecommendedConfig(wardle.Codecs)
	generic.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	generic.LoopbackClientConfig = &clientrest.Config{}
	generic.ExternalAddress = "127.0.0.1:443"
	withOpenAPI(&generic.Config)
	generic.LongRunningFunc = filters.BasicLongRunningRequestCheck(sets.NewString("watch"), sets.NewString())
	generic.Authentication.Authenticator = anonymous.NewAuthenticator(nil)
	generic.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	backend := storage.New(storage.Config{Client: sharedEtcd.Client(), Endpoint: sharedEtcd.Endpoint(), Prefix: s.prefix})
	t.Cleanup(backend.Close)
	var err error
	if generic.RESTOptionsGetter, err = backend.RESTOptions(etcdOptions.CreateRESTOptionsGetter(s.factory, nil), true, nil); err != nil {
		t.Fatal(err)
	}
	built, err := (&wardle.Config{GenericConfig: generic}).Complete().New()
	if err != nil {
		t.Fatal(err)
	}
	s.server = built.GenericAPIServer
	t.Cleanup(s.server.Destroy)
	return s
}

// withOpenAPI gives a server the models of its types; the documents are not served.
func withOpenAPI(config *genericapiserver.Config) {
	namer := openapinamer.NewDefinitionNamer(wardle.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(wardleopenapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(wardleopenapi.GetOpenAPIDefinitions, namer)
	config.SkipOpenAPIInstallation = true
}

// outer is a server without resources, in front of the sample server.
func (s *sample) outer(t *testing.T) *genericapiserver.GenericAPIServer {
	t.Helper()
	config := genericapiserver.NewConfig(wardle.Codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.LoopbackClientConfig = &clientrest.Config{}
	config.ExternalAddress = "127.0.0.1:443"
	withOpenAPI(config)
	server, err := config.Complete(nil).New("outer", s.server)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// request sends a request through all filters of the sample server, again while
// its watch cache begins.
func (s *sample) request(t *testing.T, method, path, body string) {
	t.Helper()
	var answer *httptest.ResponseRecorder
	waitFor(t, method+" "+path, func() bool {
		request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		if body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		answer = httptest.NewRecorder()
		s.server.Handler.ServeHTTP(answer, request)
		return answer.Code != http.StatusTooManyRequests
	})
	if answer.Code >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
}

func (s *sample) layer(name string) Layer {
	return Layer{Name: name, Discovery: DiscoveryOf(s.server), Stored: StoredByFactory(s.factory, wardle.Scheme)}
}

// config is a Config with the sample server as its only layer.
func (s *sample) config() Config {
	return Config{
		ServerID: "server", Layers: []Layer{s.layer("sample")}, Handler: s.server.UnprotectedHandler(), ProxyLayer: "aggregator",
		Metrics: legacyregistry.DefaultGatherer, KV: sharedEtcd.Client(),
	}
}

// named collects, and returns the objects by name; names must be unique.
func named[T store.Object](t *testing.T, collect store.Collect) map[string]T {
	t.Helper()
	objects, err := collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]T{}
	for _, object := range objects {
		name := object.GetName()
		if _, taken := all[name]; taken || name == "" || strings.ContainsAny(name, "/%") {
			t.Errorf("name %q is taken, or no segment of a path", name)
		}
		all[name] = object.(T)
	}
	return all
}
