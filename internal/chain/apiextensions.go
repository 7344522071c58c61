package chain

import (
	"fmt"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/util/webhook"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
)

// newAPIExtensions configures the layer that serves CustomResourceDefinitions
// and the custom resources that they define.
func newAPIExtensions(cfg Config, kube *controlplane.Config, services aggregator.ServiceResolver, initializers []admission.PluginInitializer) (*apiextensions.Config, error) {
	generic := kube.ControlPlane.Generic
	config, err := controlplaneapiserver.CreateAPIExtensionsConfig(*generic, kube.ControlPlane.VersionedInformers,
		initializers, cfg.Options.CompletedOptions, cfg.Options.MasterCount, services,
		webhook.NewDefaultAuthenticationInfoResolverWrapper(kube.ControlPlane.ProxyTransport,
			generic.EgressSelector, generic.LoopbackClientConfig, generic.TracerProvider))
	if err != nil {
		return nil, err
	}
	if cfg.Backend == nil {
		return config, nil
	}
	etcd := cfg.Options.Etcd
	config.GenericConfig.RESTOptionsGetter, err = cfg.Backend.RESTOptions(
		config.GenericConfig.RESTOptionsGetter, etcd.EnableWatchCache, etcd.WatchCacheSizes)
	if err != nil {
		return nil, fmt.Errorf("storing custom resource definitions: %w", err)
	}
	// Sizes are not for custom resources: all of them have a watch cache or none has.
	config.ExtraConfig.CRDRESTOptionsGetter, err = cfg.Backend.RESTOptions(
		config.ExtraConfig.CRDRESTOptionsGetter, etcd.EnableWatchCache, nil)
	if err != nil {
		return nil, fmt.Errorf("storing custom resources: %w", err)
	}
	return config, nil
}
