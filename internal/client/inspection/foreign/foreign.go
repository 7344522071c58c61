// Package foreign shows an API server that is not kapi as if it served
// inspect.kapi.dev: the objects are put together from what any kube-apiserver
// exposes, which is health checks, metrics, discovery, OpenAPI, conditions, flags
// and the objects of flow control. What it does not expose is left empty, and each
// such column is a Gap with its reason. A page that is forbidden is a Gap too, as
// long as something of the kind can be shown without it.
//
// It does not guess and does not cache; it remembers the last lists only as far as
// a watch needs them. It may import the API types, inspection and its packages
// filter, objects and poll, client-go, and the parser of Prometheus' text format.
package foreign

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/filter"
	"github.com/kapi-dev/kapi/internal/client/inspection/objects"
	"github.com/kapi-dev/kapi/internal/client/inspection/poll"
	"github.com/kapi-dev/kapi/internal/fault"
)

// defaultPeriod is how often a watch lists.
const defaultPeriod = 2 * time.Second

// Server is an API server that is not kapi. It implements inspection.Server.
type Server struct {
	// Period is the time between two lists of a watch; 2 s unless it is set before
	// the first one.
	Period time.Duration

	address string
	http    *http.Client
	rest    rest.Interface
	client  kubernetes.Interface
	objects *objects.Reader
	memory  poll.Memory
}

var _ inspection.Server = (*Server)(nil)

// New returns a Server for a client configuration. It asks nothing yet.
func New(config *rest.Config) (*Server, error) {
	own := rest.CopyConfig(config)
	// JSON is what every server answers in, and a rate limit is for those who ask much.
	own.ContentConfig = rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{}, NegotiatedSerializer: serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion(),
		ContentType: jsonType, AcceptContentTypes: jsonType,
	}
	own.QPS, own.RateLimiter = -1, nil
	own.WarningHandler = rest.NoWarnings{} // whoever looks at deprecated APIs does not use them
	client, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("making the client of %s: %w", config.Host, err)
	}
	raw, err := rest.UnversionedRESTClientForConfigAndClient(own, client)
	if err != nil {
		return nil, fmt.Errorf("making the client of %s: %w", config.Host, err)
	}
	typed, err := kubernetes.NewForConfigAndClient(own, client)
	if err != nil {
		return nil, fmt.Errorf("making the client of %s: %w", config.Host, err)
	}
	reader, err := objects.New(own)
	if err != nil {
		return nil, err
	}
	return &Server{
		Period: defaultPeriod, address: strings.TrimSuffix(raw.Get().URL().String(), "/"),
		http: client, rest: raw, client: typed, objects: reader,
	}, nil
}

// About implements inspection.Server. The time of the start is left out where the
// metrics are not to be had.
func (s *Server) About(ctx context.Context) (inspection.About, error) {
	version, err := s.version(ctx)
	if err != nil {
		return inspection.About{}, err
	}
	return inspection.About{
		Type: inspection.Foreign, Address: s.address, KubernetesVersion: version.GitVersion,
		ServerID: s.serverID(ctx), StartedAt: s.startedAt(ctx), At: time.Now(),
	}, nil
}

// List implements inspection.Server. The objects have no resourceVersion of their own.
func (s *Server) List(ctx context.Context, kind kinds.Kind, query inspection.Query) (inspection.Listing, error) {
	found, gaps, err := s.collect(ctx, kind, query)
	if err != nil {
		return inspection.Listing{}, err
	}
	version, err := s.memory.Remember(kind.Resource, found)
	if err != nil {
		return inspection.Listing{}, err
	}
	return inspection.Listing{Objects: found, ResourceVersion: version, Gaps: gaps}, nil
}

// Watch implements inspection.Server by listing again and again. It goes on from
// one of the last lists, and is answered Expired from any other.
func (s *Server) Watch(ctx context.Context, kind kinds.Kind, query inspection.Query, resourceVersion string) (watch.Interface, error) {
	if _, err := filter.Compile(kind, query); err != nil {
		return nil, err
	}
	from, err := s.memory.Recall(kind.Resource, resourceVersion)
	if err != nil {
		return nil, err
	}
	return poll.Watch(ctx, s.Period, from, func(ctx context.Context) ([]kinds.Object, error) {
		found, _, err := s.collect(ctx, kind, query)
		if notFound(err) { // of the one that is watched: it is gone, or still to come
			return nil, nil
		}
		return found, err
	}), nil
}

// collect returns what a query selects of a kind.
func (s *Server) collect(ctx context.Context, kind kinds.Kind, query inspection.Query) ([]kinds.Object, []inspection.Gap, error) {
	if _, err := filter.Compile(kind, query); err != nil { // before anything is asked
		return nil, nil, err
	}
	found, err := s.found(ctx, kind, query)
	if err != nil {
		return nil, nil, err
	}
	serverID := ""
	if len(found.objects) > 0 {
		serverID = s.serverID(ctx)
	}
	for _, object := range found.objects {
		object.GetObjectKind().SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(kind.Kind))
		setServerID(object, serverID)
	}
	gaps := found.reported(kind)
	objects, err := filter.Apply(kind, query, found.objects)
	if notFound(err) && len(gaps) > 0 && gaps[0].Column == "" {
		err = fault.WithHint(err, "%s", gaps[0].Reason) // no object has a name, whatever it is
	}
	return objects, gaps, err
}
