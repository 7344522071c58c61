package chain

import (
	"fmt"
	"net"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/client-go/informers"
	informerscore "k8s.io/client-go/informers/core"
	informerscorev1 "k8s.io/client-go/informers/core/v1"
	listerscorev1 "k8s.io/client-go/listers/core/v1"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
)

// ServicePort names a port of a Service.
type ServicePort struct {
	Namespace, Name string
	Port            int32
}

// ServiceMap tells at which address ("host:port") a service is reached, for
// services that run beside kapi instead of in a cluster.
type ServiceMap map[ServicePort]string

// has tells whether any port of the service is mapped, and where to.
func (m ServiceMap) has(namespace, name string) (host string, ports []corev1.ServicePort) {
	for service, address := range m {
		if service.Namespace == namespace && service.Name == name {
			host, _, _ = net.SplitHostPort(address)
			ports = append(ports, corev1.ServicePort{Name: "port-" + strconv.Itoa(int(service.Port)), Port: service.Port})
		}
	}
	return host, ports
}

// newServiceResolver finds the server behind a service: the service map first,
// then default/kubernetes as this server itself, then ExternalName and
// EndpointSlices (or cluster IPs with --enable-aggregator-routing=false), but no
// pods that are not there.
func newServiceResolver(cfg Config, g *generic, endpoints proxy.EndpointSliceGetter) (aggregator.ServiceResolver, error) {
	services := g.informers.Core().V1().Services().Lister()
	resolver := aggregator.NewClusterIPServiceResolver(services)
	if cfg.Options.EnableAggregatorRouting {
		resolver = aggregator.NewEndpointServiceResolver(services, endpoints)
	}
	self, err := url.Parse(g.config.LoopbackClientConfig.Host)
	if err != nil {
		return nil, fmt.Errorf("reading the loopback address: %w", err)
	}
	if cfg.Nowhere != nil {
		resolver = realResolver{resolver, cfg.Nowhere}
	}
	resolver = externalResolver{resolver, services}
	return mappedResolver{aggregator.NewLoopbackServiceResolver(resolver, self), cfg.Services}, nil
}

// externalResolver finds services with an external name, which upstream's
// resolver over EndpointSlices refuses (only the one over cluster IPs takes them).
type externalResolver struct {
	aggregator.ServiceResolver

	services listerscorev1.ServiceLister
}

// ResolveEndpoint implements aggregator.ServiceResolver.
func (r externalResolver) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	service, err := r.services.Services(namespace).Get(name)
	if err == nil && service.Spec.Type == corev1.ServiceTypeExternalName {
		return &url.URL{Scheme: "https", Host: net.JoinHostPort(service.Spec.ExternalName, strconv.Itoa(int(port)))}, nil
	}
	return r.ServiceResolver.ResolveEndpoint(namespace, name, port)
}

type mappedResolver struct {
	aggregator.ServiceResolver

	services ServiceMap
}

// ResolveEndpoint implements aggregator.ServiceResolver.
func (r mappedResolver) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	if address, ok := r.services[ServicePort{namespace, name, port}]; ok {
		return &url.URL{Scheme: "https", Host: address}, nil
	}
	return r.ServiceResolver.ResolveEndpoint(namespace, name, port)
}

// mappedInformers shows mapped services to the controller that decides whether
// an APIService is available. It wants the Service to exist, and of a
// cluster-IP service it wants endpoints; a mapped service may have neither.
// The three wrappers only lead to mappedServices.Get.
type mappedInformers struct {
	informers.SharedInformerFactory

	services ServiceMap
}

// Core implements informers.SharedInformerFactory.
func (f mappedInformers) Core() informerscore.Interface {
	return mappedCore{f.SharedInformerFactory.Core(), f.services}
}

type mappedCore struct {
	informerscore.Interface

	services ServiceMap
}

// V1 implements core.Interface.
func (c mappedCore) V1() informerscorev1.Interface { return mappedV1{c.Interface.V1(), c.services} }

type mappedV1 struct {
	informerscorev1.Interface

	services ServiceMap
}

// Services implements v1.Interface.
func (v mappedV1) Services() informerscorev1.TypedServiceInformer {
	return mappedInformer{v.Interface.Services(), v.services}
}

type mappedInformer struct {
	informerscorev1.TypedServiceInformer

	services ServiceMap
}

// Lister implements v1.ServiceInformer.
func (i mappedInformer) Lister() listerscorev1.ServiceLister {
	return mappedLister{i.TypedServiceInformer.Lister(), i.services}
}

type mappedLister struct {
	listerscorev1.ServiceLister

	services ServiceMap
}

// Services implements v1.ServiceLister.
func (l mappedLister) Services(namespace string) listerscorev1.ServiceNamespaceLister {
	return mappedServices{l.ServiceLister.Services(namespace), namespace, l.services}
}

type mappedServices struct {
	listerscorev1.ServiceNamespaceLister

	namespace string
	services  ServiceMap
}

// Get implements v1.ServiceNamespaceLister: a mapped service is one with an
// external name, whether it exists or not.
func (s mappedServices) Get(name string) (*corev1.Service, error) {
	service, err := s.ServiceNamespaceLister.Get(name)
	host, ports := s.services.has(s.namespace, name)
	if len(ports) == 0 || (err != nil && !apierrors.IsNotFound(err)) {
		return service, err
	}
	if err != nil {
		service = &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, Spec: corev1.ServiceSpec{Ports: ports}}
	}
	service = service.DeepCopy()
	service.Spec.Type, service.Spec.ExternalName = corev1.ServiceTypeExternalName, host
	return service, nil
}

// List implements v1.ServiceNamespaceLister; services that exist only in the map are not in it.
func (s mappedServices) List(selector labels.Selector) ([]*corev1.Service, error) {
	return s.ServiceNamespaceLister.List(selector)
}
