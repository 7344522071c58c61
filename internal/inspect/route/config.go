package route

import (
	"context"

	restful "github.com/emicklei/go-restful/v3"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	flowcontrollisters "k8s.io/client-go/listers/flowcontrol/v1"

	apiextensionslisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	apiregistrationlisters "k8s.io/kube-aggregator/pkg/client/listers/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Names of filters that decide something here, as package handlerchain has them.
const (
	filterCORS                = "cors"
	filterAuthentication      = "authentication"
	filterPriorityAndFairness = "priority-and-fairness"
	filterMaxInFlight         = "max-in-flight"
	filterAuthorization       = "authorization"
)

// layerNotFound is the end of the chain.
const layerNotFound = "not-found"

// Config is what an Explainer asks. All but the listers must be set.
type Config struct {
	// RequestInfo is the server's resolver.
	RequestInfo request.RequestInfoResolver
	// LongRunning says which requests have no deadline.
	LongRunning request.LongRunningRequestCheck
	// Authorizer decides whether somebody may have the request of another user explained.
	Authorizer authorizer.UnconditionalAuthorizer
	// Authorization says what the server's authorizers would decide, and which of them.
	Authorization func(context.Context, authorizer.Attributes) v1alpha1.ExplainedAuthorization
	// Anonymous says whether a request without credentials may come in by a path.
	Anonymous func(path string) bool
	// Filters are the filters of the handler chain, outermost first.
	Filters func() []Filter
	// FlowSchemas are those of priority and fairness; nil when it is off.
	FlowSchemas flowcontrollisters.FlowSchemaLister
	// APIServices are those of the outermost layer; nil when it aggregates nothing.
	APIServices apiregistrationlisters.APIServiceLister
	// Layers are the servers of the chain, outermost first, without the 404 at its end.
	Layers []Layer
	// Admission returns the admission plugins that look at an operation, in order.
	Admission func(admission.Operation) []string
	// StorageKey returns the key in etcd of an object or, without a name, of a
	// collection; empty for what is not stored.
	StorageKey func(group, resource, namespace, name string) string
}

// Filter is one entry of the handler chain.
type Filter struct {
	Name    string
	Enabled bool
}

// Layer is one server of the chain, and what it answers itself.
type Layer struct {
	// Name is the layer's.
	Name string
	// WebServices answer all that is below their root paths, also with 404 and 405.
	WebServices func() []*restful.WebService
	// Paths are the listed paths of the layer's own mux; one that ends in "/" stands
	// for all below it. Those below /api and /apis may be there, but decide nothing.
	Paths func() []string
	// CustomResources are those that the layer serves by CRDs; nil when it does not.
	CustomResources apiextensionslisters.CustomResourceDefinitionLister
}

// Explainer explains requests. It holds no state.
type Explainer struct {
	cfg Config
}

// New returns an Explainer.
func New(cfg Config) *Explainer { return &Explainer{cfg} }
