package chain

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/pkg/controlplane"
)

// Nowhere tells of addresses behind which there is nothing, such as those of pods that
// nobody runs. On the network of this machine somebody else may have them: nothing is
// sent there.
type Nowhere func(netip.Addr) bool

// at tells of a host, with or without a port.
func (n Nowhere) at(host string) bool {
	if alone, _, err := net.SplitHostPort(host); err == nil {
		host = alone
	}
	address, err := netip.ParseAddr(host)
	return err == nil && n(address)
}

// realResolver refuses services that lead nowhere.
type realResolver struct {
	aggregator.ServiceResolver

	nowhere Nowhere
}

// ResolveEndpoint implements aggregator.ServiceResolver.
func (r realResolver) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	found, err := r.ServiceResolver.ResolveEndpoint(namespace, name, port)
	if err == nil && r.nowhere.at(found.Host) {
		return nil, fmt.Errorf("the pods of service %s/%s are on fake nodes, where nothing answers; --map-service %s/%s:%d=HOST:PORT leads to a server that runs elsewhere",
			namespace, name, namespace, name, port)
	}
	return found, err
}

// useReal keeps what is proxied to pods and services from going nowhere.
func useReal(config *controlplane.Config, nowhere Nowhere) {
	if nowhere == nil {
		return
	}
	transport := config.ControlPlane.ProxyTransport.Clone()
	transport.DialContext = nowhere.refuse(transport)
	config.ControlPlane.ProxyTransport = transport
}

// refuse returns the dial function of a transport for everything but nowhere.
func (n Nowhere) refuse(transport *http.Transport) func(ctx context.Context, network, address string) (net.Conn, error) {
	dial := transport.DialContext
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if n.at(address) {
			return nil, fmt.Errorf("%s is the address of a pod on a fake node, where nothing answers", address)
		}
		return dial(ctx, network, address)
	}
}
