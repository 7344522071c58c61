package chain

import (
	"fmt"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/apiserver/pkg/util/proxy"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	"k8s.io/kubernetes/pkg/controlplane/reconcilers"
	kubeadmission "k8s.io/kubernetes/pkg/kubeapiserver/admission"
)

// servicePort is the port of the Service default/kubernetes.
const servicePort = 443

// newKubeAPIs configures the layer with the built-in groups. The service
// resolver and the admission initializers serve the other layers too.
func newKubeAPIs(cfg Config, g *generic) (*controlplane.Config, aggregator.ServiceResolver, []admission.PluginInitializer, error) {
	opts := cfg.Options
	capabilities.Setup(opts.AllowPrivileged, opts.MaxConnectionBytesPerSec)

	initializers, err := (&kubeadmission.Config{}).New()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("making admission initializers: %w", err)
	}
	endpoints, err := proxy.NewEndpointSliceIndexerGetter(g.informers.Discovery().V1().EndpointSlices())
	if err != nil {
		return nil, nil, nil, fmt.Errorf("indexing endpoint slices: %w", err)
	}
	services, err := newServiceResolver(cfg, g, endpoints)
	if err != nil {
		return nil, nil, nil, err
	}
	controlPlane, genericInitializers, err := controlplaneapiserver.CreateConfig(
		opts.CompletedOptions, g.config, g.informers, endpoints, g.storage, services, initializers)
	if err != nil {
		return nil, nil, nil, err
	}
	config := &controlplane.Config{
		ControlPlane: *controlPlane,
		Extra: controlplane.Extra{
			KubeletClientConfig:       opts.KubeletConfig,
			ServiceIPRange:            opts.PrimaryServiceClusterIPRange,
			SecondaryServiceIPRange:   opts.SecondaryServiceClusterIPRange,
			APIServerServiceIP:        opts.APIServerServiceIP,
			APIServerServicePort:      servicePort,
			ServiceNodePortRange:      opts.ServiceNodePortRange,
			KubernetesServiceNodePort: opts.KubernetesServiceNodePort,
			EndpointReconcilerType:    reconcilers.Type(opts.EndpointReconcilerType),
			MasterCount:               opts.MasterCount,
		},
	}
	if err := useEgress(config); err != nil {
		return nil, nil, nil, err
	}
	useReal(config, cfg.Nowhere)
	return config, services, genericInitializers, nil
}

// useEgress sends what goes to nodes and pods through the egress selector, if there is one.
func useEgress(config *controlplane.Config) error {
	selector := config.ControlPlane.Generic.EgressSelector
	if selector == nil {
		return nil
	}
	config.KubeletClientConfig.Lookup = selector.Lookup
	dial, err := selector.Lookup(egressselector.Cluster.AsNetworkContext())
	if err != nil {
		return fmt.Errorf("looking up the egress to the cluster: %w", err)
	}
	transport := config.ControlPlane.ProxyTransport.Clone()
	transport.DialContext = dial
	config.ControlPlane.ProxyTransport = transport
	return nil
}
