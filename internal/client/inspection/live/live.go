// Package live is kapi as a client sees it: what inspect.kapi.dev serves, asked for
// when it is needed. It may import inspection and client-go.
package live

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/objects"
)

// Server is a kapi. It implements inspection.Server.
type Server struct {
	client  *rest.RESTClient
	objects *objects.Reader
}

var _ inspection.Server = &Server{}

// New returns the server of a client configuration; it makes no request.
func New(config *rest.Config) (*Server, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	own := rest.CopyConfig(config)
	own.APIPath, own.GroupVersion = "/apis", &v1alpha1.SchemeGroupVersion
	own.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	own.ContentType = runtime.ContentTypeJSON
	client, err := rest.RESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	reader, err := objects.New(config)
	if err != nil {
		return nil, err
	}
	return &Server{client: client, objects: reader}, nil
}

// Serves asks whether the server is a kapi. Any other error than that it is not
// is returned.
func (s *Server) Serves(ctx context.Context) (bool, error) {
	err := s.client.Get().AbsPath("/apis/" + v1alpha1.SchemeGroupVersion.String()).Do(ctx).Error()
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// About implements inspection.Server. What the boot steps say is left out where
// they may not be read.
func (s *Server) About(ctx context.Context) (inspection.About, error) {
	about := inspection.About{Type: inspection.Kapi, Address: s.client.Get().URL().Scheme + "://" + s.client.Get().URL().Host, At: time.Now()}
	raw, err := s.client.Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return about, err
	}
	var info version.Info
	if err := json.Unmarshal(raw, &info); err != nil {
		return about, fmt.Errorf("reading the server's version: %w", err)
	}
	about.KubernetesVersion = info.GitVersion
	steps := &v1alpha1.BootStepList{}
	err = s.client.Get().Resource("bootsteps").Do(ctx).Into(steps)
	switch {
	case apierrors.IsForbidden(err) || err == nil && len(steps.Items) == 0:
	case err != nil:
		return about, err
	default: // those of the newest start come first
		about.ServerID, about.StartedAt = steps.Items[0].ServerID, steps.Items[0].Spec.BootedAt.Time
	}
	return about, nil
}

// List implements inspection.Server.
func (s *Server) List(ctx context.Context, kind kinds.Kind, query inspection.Query) (inspection.Listing, error) {
	if query.Name != "" && query.LabelSelector == "" && query.FieldSelector == "" {
		return s.get(ctx, kind, query)
	}
	list := kind.NewList()
	options := listOptions(query)
	err := s.client.Get().Resource(kind.Resource).VersionedParams(&options, metav1.ParameterCodec).Do(ctx).Into(list)
	if err != nil {
		return inspection.Listing{}, err
	}
	var listing inspection.Listing
	err = meta.EachListItem(list, func(item runtime.Object) error {
		if object, ok := typed(kind, item); ok && of(object, query.ServerID) {
			listing.Objects = append(listing.Objects, object)
		}
		return nil
	})
	if accessor, ok := list.(metav1.ListInterface); ok {
		listing.ResourceVersion = accessor.GetResourceVersion()
	}
	listing.Gaps = gaps(listing.Objects)
	if err == nil && query.Name != "" && len(listing.Objects) == 0 {
		err = apierrors.NewNotFound(inspection.GroupResource(kind), query.Name)
	}
	return listing, err
}

// get reads one object: some are looked at more closely when they are named.
func (s *Server) get(ctx context.Context, kind kinds.Kind, query inspection.Query) (inspection.Listing, error) {
	into := kind.New()
	if err := s.client.Get().Resource(kind.Resource).Name(query.Name).Do(ctx).Into(into); err != nil {
		return inspection.Listing{}, err
	}
	object, ok := typed(kind, into)
	if !ok || !of(object, query.ServerID) {
		return inspection.Listing{}, apierrors.NewNotFound(inspection.GroupResource(kind), query.Name)
	}
	return inspection.Listing{Objects: []kinds.Object{object}, ResourceVersion: object.GetResourceVersion()}, nil
}

// Watch implements inspection.Server.
func (s *Server) Watch(ctx context.Context, kind kinds.Kind, query inspection.Query, resourceVersion string) (watch.Interface, error) {
	options := listOptions(query)
	options.Watch, options.ResourceVersion, options.AllowWatchBookmarks = true, resourceVersion, true
	changes, err := s.client.Get().Resource(kind.Resource).VersionedParams(&options, metav1.ParameterCodec).Watch(ctx)
	if err != nil {
		return nil, err
	}
	return inspection.FilterWatch(changes, func(event watch.Event) (watch.Event, bool) {
		if event.Type == watch.Error || event.Type == watch.Bookmark {
			return event, true
		}
		object, ok := typed(kind, event.Object)
		event.Object = object
		return event, ok && of(object, query.ServerID)
	}), nil
}

// Definitions implements inspection.Server.
func (s *Server) Definitions(ctx context.Context) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error] {
	return s.objects.Definitions(ctx, nil)
}

// APIServices implements inspection.Server.
func (s *Server) APIServices(ctx context.Context) iter.Seq2[*apiregistrationv1.APIService, error] {
	return s.objects.APIServices(ctx, nil)
}

// TerminatingNamespaces implements inspection.Server.
func (s *Server) TerminatingNamespaces(ctx context.Context) iter.Seq2[*corev1.Namespace, error] {
	return s.objects.TerminatingNamespaces(ctx, nil)
}

// Definition returns one definition, or NotFound.
func (s *Server) Definition(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	return s.objects.Definition(ctx, name)
}

// APIService returns one APIService, or NotFound.
func (s *Server) APIService(ctx context.Context, name string) (*apiregistrationv1.APIService, error) {
	return s.objects.APIService(ctx, name)
}

// Explain implements inspection.Server.
func (s *Server) Explain(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error) {
	explanation := &v1alpha1.RouteExplanation{Spec: spec}
	err := s.client.Post().Resource(v1alpha1.ResourceRouteExplanations).Body(explanation).Do(ctx).Into(explanation)
	explanation.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("RouteExplanation"))
	return explanation, err
}

// Stored asks which keys stand in the store, or what one of them holds.
func (s *Server) Stored(ctx context.Context, spec v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
	query := &v1alpha1.StoredKeyQuery{Spec: spec}
	err := s.client.Post().Resource(v1alpha1.ResourceStoredKeyQueries).Body(query).Do(ctx).Into(query)
	query.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("StoredKeyQuery"))
	return query, err
}

func listOptions(query inspection.Query) metav1.ListOptions {
	options := metav1.ListOptions{LabelSelector: query.LabelSelector, FieldSelector: query.FieldSelector}
	if query.Name != "" {
		name := "metadata.name=" + query.Name
		if options.FieldSelector != "" {
			name = "," + name
		}
		options.FieldSelector += name
	}
	return options
}

// typed returns an item with its kind, which lists leave out.
func typed(kind kinds.Kind, item runtime.Object) (kinds.Object, bool) {
	object, ok := item.(kinds.Object)
	if ok {
		object.GetObjectKind().SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(kind.Kind))
	}
	return object, ok
}

// of tells whether an object was seen in a server; empty is any.
func of(object kinds.Object, serverID string) bool {
	return serverID == "" || kinds.ServerID(object) == serverID
}

// gaps are what kapi itself leaves open, and why.
func gaps(objects []kinds.Object) []inspection.Gap {
	for _, object := range objects {
		if state, ok := object.(*v1alpha1.DiscoveryState); ok && state.Status.OpenAPIV2.Error != "" {
			return []inspection.Gap{{Column: "V2", Reason: state.Status.OpenAPIV2.Error}}
		}
	}
	return nil
}
