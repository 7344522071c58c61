package chain

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiserver/pkg/admission"
	genericapiserver "k8s.io/apiserver/pkg/server"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
)

// newAggregatorConfig configures the outermost layer: APIServices, and the
// proxy to the servers that they name.
func newAggregatorConfig(cfg Config, h *handlers, kube *controlplane.Config, services aggregator.ServiceResolver, initializers []admission.PluginInitializer) (*aggregator.Config, error) {
	config, err := controlplaneapiserver.CreateAggregatorConfig(*kube.ControlPlane.Generic, cfg.Options.CompletedOptions,
		kube.ControlPlane.VersionedInformers, services, kube.ControlPlane.ProxyTransport,
		kube.ControlPlane.PeerProxy, initializers)
	if err != nil {
		return nil, err
	}
	config.GenericConfig.BuildHandlerChainFunc = h.build
	if len(cfg.Services) > 0 {
		config.GenericConfig.SharedInformerFactory = mappedInformers{config.GenericConfig.SharedInformerFactory, cfg.Services}
	}
	if cfg.Backend == nil {
		return config, nil
	}
	defer cfg.Backend.ReportSize()
	config.GenericConfig.RESTOptionsGetter, err = cfg.Backend.RESTOptions(
		config.GenericConfig.RESTOptionsGetter, cfg.Options.Etcd.EnableWatchCache, cfg.Options.Etcd.WatchCacheSizes)
	if err != nil {
		return nil, fmt.Errorf("storing APIServices: %w", err)
	}
	return config, nil
}

// newAggregator builds the outermost layer, with an APIService for each group
// version of the inner layers.
func newAggregator(config *aggregator.Config, delegate genericapiserver.DelegationTarget,
	crds *apiextensions.CustomResourceDefinitions, crdConfig *apiextensions.Config,
) (*aggregator.APIAggregator, error) {
	crdsServed := crdConfig.GenericConfig.MergedResourceConfig.ResourceEnabled(
		apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	return controlplaneapiserver.CreateAggregatorServer(config.Complete(), delegate,
		crds.Informers.Apiextensions().V1().CustomResourceDefinitions(), crdsServed, apiServicePriorities())
}
