package chain

import (
	"crypto/tls"
	"fmt"

	restful "github.com/emicklei/go-restful/v3"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/metrics/legacyregistry"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/kapi-dev/kapi/internal/inspect"
	"github.com/kapi-dev/kapi/internal/inspect/conditions"
	"github.com/kapi-dev/kapi/internal/inspect/resources"
	"github.com/kapi-dev/kapi/internal/inspect/route"
	"github.com/kapi-dev/kapi/internal/inspect/stored"
)

// finished are the servers of the chain whose types are more than the generic one.
type finished struct {
	configs       *configs
	layers        []Layer
	aggregator    *aggregator.APIAggregator
	apiExtensions *apiextensions.CustomResourceDefinitions
}

// inspected is the finished server, for the observers that look into it.
func (f *finished) inspected(cfg Config) (inspect.Target, error) {
	kube := f.configs.kubeAPIs.ControlPlane.Generic
	apiServices := f.aggregator.APIRegistrationInformers.Apiregistration().V1().APIServices()
	target := inspect.Target{
		Layers:           f.layers,
		Definitions:      f.apiExtensions.Informers.Apiextensions().V1().CustomResourceDefinitions().Informer(),
		APIServices:      apiServices.Informer(),
		APIServiceLister: apiServices.Lister(),
		// The admission plugin NamespaceLifecycle and the controller of system
		// namespaces watch them anyway.
		Namespaces:  f.configs.generic.informers.Core().V1().Namespaces().Informer(),
		Controllers: cfg.Controllers,
		Probes:      f.probes(cfg),
		Route: route.Config{
			RequestInfo: kube.RequestInfoResolver, LongRunning: kube.LongRunningFunc,
			Authorizer: kube.Authorization.Authorizer, Layers: f.routes(),
		},
	}
	if kube.FlowControl != nil {
		flowControl := f.configs.generic.informers.Flowcontrol().V1()
		target.FlowSchemas, target.PriorityLevels = flowControl.FlowSchemas().Lister(), flowControl.PriorityLevelConfigurations().Lister()
	}
	var err error
	target.Resources, err = f.resources(cfg)
	target.Stored = stored.Config{Prefix: cfg.Options.Etcd.StorageConfig.Prefix, Scheme: legacyscheme.Scheme}
	if client := cfg.Etcd.Client; client != nil {
		target.Stored.KV = client
	}
	return target, err
}

// probes says how the aggregator reaches aggregated servers.
func (f *finished) probes(cfg Config) conditions.ProbesConfig {
	services := f.configs.aggregator.GenericConfig.SharedInformerFactory.Core().V1().Services().Lister()
	probes := conditions.ProbesConfig{
		Service: func(namespace, name string) (*corev1.Service, error) { return services.Services(namespace).Get(name) },
		Resolve: f.configs.aggregator.ExtraConfig.ServiceResolver.ResolveEndpoint,
	}
	if cert, key := cfg.Options.ProxyClientCertFile, cfg.Options.ProxyClientKeyFile; cert != "" {
		probes.ClientCert = func() (tls.Certificate, error) { return tls.LoadX509KeyPair(cert, key) }
	}
	return probes
}

// routes says what each layer answers itself.
func (f *finished) routes() []route.Layer {
	var routes []route.Layer
	for _, layer := range f.layers {
		handler := layer.Server.Handler
		one := route.Layer{
			Name:        layer.Name,
			WebServices: func() []*restful.WebService { return handler.GoRestfulContainer.RegisteredWebServices() },
			Paths:       func() []string { return append(handler.ListedPaths(), f.unlisted()...) },
		}
		if layer.Name == LayerAPIExtensions {
			one.CustomResources = f.apiExtensions.Informers.Apiextensions().V1().CustomResourceDefinitions().Lister()
		}
		routes = append(routes, one)
	}
	return routes
}

// unlisted are the paths that each layer answers and does not list.
func (f *finished) unlisted() []string {
	var paths []string
	kube := f.configs.kubeAPIs.ControlPlane.Generic
	if kube.FlowControl != nil {
		for _, dump := range []string{"dump_priority_levels", "dump_queues", "dump_requests"} {
			paths = append(paths, "/debug/api_priority_and_fairness/"+dump)
		}
	}
	if kube.EnableProfiling {
		paths = append(paths, "/debug/pprof", "/debug/pprof/", "/debug/flags", "/debug/flags/")
	}
	return paths
}

// resources says where each layer's resources are, and who counts them.
func (f *finished) resources(cfg Config) (resources.Config, error) {
	etcd, kube := cfg.Options.Etcd, f.configs.kubeAPIs.ControlPlane.Generic
	var encryption func(schema.GroupResource) string
	if file := etcd.EncryptionProviderConfigFilepath; file != "" {
		var err error
		if encryption, err = resources.EncryptionProviders(file, etcd.EncryptionProviderConfigAutomaticReload); err != nil {
			return resources.Config{}, fmt.Errorf("reading the encryption configuration: %w", err)
		}
	}
	definitions := f.apiExtensions.Informers.Apiextensions().V1().CustomResourceDefinitions().Lister()
	apiServices := f.aggregator.APIRegistrationInformers.Apiregistration().V1().APIServices().Lister()
	known := &resources.Known{
		Scheme: legacyscheme.Scheme, Layer: LayerKubeAPIServer, Config: kube.MergedResourceConfig,
		Version:     kube.EffectiveVersion.EmulationVersion(),
		GateEnabled: func(gate string) bool { return feature.DefaultFeatureGate.Enabled(featuregate.Feature(gate)) },
	}
	result := resources.Config{
		Layers:  f.stored(etcd.StorageConfig.Prefix),
		Handler: f.aggregator.GenericAPIServer.UnprotectedHandler(),
		Custom: resources.Custom{
			Layer: LayerAPIExtensions, Prefix: etcd.StorageConfig.Prefix,
			Definitions: func() ([]*apiextensionsv1.CustomResourceDefinition, error) {
				return definitions.List(labels.Everything())
			},
		},
		APIServices: func() ([]*apiregistrationv1.APIService, error) { return apiServices.List(labels.Everything()) },
		ProxyLayer:  LayerAggregator,
		Known:       known,
		Metrics:     legacyregistry.DefaultGatherer,
		EncryptedBy: encryption,
	}
	if client := cfg.Etcd.Client; client != nil {
		result.KV = client
		result.Etcd = resources.Etcd{Client: client, Endpoints: cfg.Etcd.Endpoints, Embedded: cfg.Backend != nil, Quota: cfg.Etcd.Quota}
	}
	if cfg.Backend != nil {
		result.Etcd.Metrics = prometheus.DefaultGatherer
	}
	return result, nil
}

// stored says where the objects of each layer are.
func (f *finished) stored(prefix string) []resources.Layer {
	places := map[string]resources.StoredFunc{
		LayerAggregator:    resources.StoredByGroup(prefix, encodeVersion(apiregistrationv1.SchemeGroupVersion)),
		LayerKubeAPIServer: resources.StoredByFactory(f.configs.generic.storage, legacyscheme.Scheme),
		LayerAPIExtensions: resources.StoredByGroup(prefix, encodeVersion(apiextensionsv1beta1.SchemeGroupVersion)),
	}
	var layers []resources.Layer
	for _, layer := range f.layers {
		layers = append(layers, resources.Layer{
			Name: layer.Name, Discovery: resources.DiscoveryOf(layer.Server), Stored: places[layer.Name],
		})
	}
	return layers
}

// encodeVersion is the version that a layer writes all of its objects as.
func encodeVersion(version schema.GroupVersion) runtime.GroupVersioner {
	return runtime.NewMultiGroupVersioner(version, schema.GroupKind{Group: version.Group})
}
