// Package objects reads the objects that kapi and any other API server have in
// common: CustomResourceDefinitions, APIServices and the namespaces that are being
// deleted, in chunks, so that a list of
// any length needs the memory of one chunk. It may import inspection and client-go.
package objects

import (
	"context"
	"errors"
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// chunk is how many objects are asked for at once. A definition with its schemas
// can be half a megabyte.
const chunk = 250

// Reader reads them. The zero value is not usable.
type Reader struct {
	client *rest.RESTClient
	query  runtime.ParameterCodec
}

// New returns a Reader; it makes no request.
func New(config *rest.Config) (*Reader, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	own := rest.CopyConfig(config)
	own.GroupVersion = &apiextensionsv1.SchemeGroupVersion // of no consequence: paths are absolute
	own.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	own.ContentType = runtime.ContentTypeJSON
	client, err := rest.UnversionedRESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &Reader{client: client, query: runtime.NewParameterCodec(scheme)}, nil
}

// Paths of the resources.
const (
	NamespacesPath  = "/api/v1/namespaces"
	DefinitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	APIServicesPath = "/apis/apiregistration.k8s.io/v1/apiservices"
)

// Definitions returns all definitions. version may be nil; else it is set to where
// a watch goes on, before the first is returned.
func (r *Reader) Definitions(ctx context.Context, version *string) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error] {
	return pages(ctx, r, DefinitionsPath, "", version, func() (*apiextensionsv1.CustomResourceDefinitionList, func() []apiextensionsv1.CustomResourceDefinition) {
		list := &apiextensionsv1.CustomResourceDefinitionList{}
		return list, func() []apiextensionsv1.CustomResourceDefinition { return list.Items }
	}, definitionKind)
}

// APIServices returns all APIServices; version is as for Definitions.
func (r *Reader) APIServices(ctx context.Context, version *string) iter.Seq2[*apiregistrationv1.APIService, error] {
	return pages(ctx, r, APIServicesPath, "", version, func() (*apiregistrationv1.APIServiceList, func() []apiregistrationv1.APIService) {
		list := &apiregistrationv1.APIServiceList{}
		return list, func() []apiregistrationv1.APIService { return list.Items }
	}, serviceKind)
}

// terminating selects the namespaces that are being deleted.
const terminating = "status.phase=" + string(corev1.NamespaceTerminating)

// TerminatingNamespaces returns the namespaces that are being deleted; version is as
// for Definitions.
func (r *Reader) TerminatingNamespaces(ctx context.Context, version *string) iter.Seq2[*corev1.Namespace, error] {
	return pages(ctx, r, NamespacesPath, terminating, version, func() (*corev1.NamespaceList, func() []corev1.Namespace) {
		list := &corev1.NamespaceList{}
		return list, func() []corev1.Namespace { return list.Items }
	}, namespaceKind)
}

// WatchTerminatingNamespaces reports which namespaces begin to be deleted, change,
// and go.
func (r *Reader) WatchTerminatingNamespaces(ctx context.Context, resourceVersion string) (watch.Interface, error) {
	return r.watch(ctx, NamespacesPath, terminating, resourceVersion)
}

// Definition returns the definition of a name, or NotFound.
func (r *Reader) Definition(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	one := &apiextensionsv1.CustomResourceDefinition{}
	err := r.client.Get().AbsPath(DefinitionsPath, name).Do(ctx).Into(one)
	definitionKind(one)
	return one, err
}

// APIService returns the APIService of a name, or NotFound.
func (r *Reader) APIService(ctx context.Context, name string) (*apiregistrationv1.APIService, error) {
	one := &apiregistrationv1.APIService{}
	err := r.client.Get().AbsPath(APIServicesPath, name).Do(ctx).Into(one)
	serviceKind(one)
	return one, err
}

// Items of a list and of a watch come without their kind.

func definitionKind(one *apiextensionsv1.CustomResourceDefinition) {
	one.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
}

func serviceKind(one *apiregistrationv1.APIService) {
	one.SetGroupVersionKind(apiregistrationv1.SchemeGroupVersion.WithKind("APIService"))
}

func namespaceKind(one *corev1.Namespace) {
	one.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
}

// Watch reports changes of what is at a path, from a resource version on; empty
// means that what is there comes first. A name narrows it to one object.
func (r *Reader) Watch(ctx context.Context, path, name, resourceVersion string) (watch.Interface, error) {
	selector := ""
	if name != "" {
		selector = "metadata.name=" + name
	}
	return r.watch(ctx, path, selector, resourceVersion)
}

func (r *Reader) watch(ctx context.Context, path, selector, resourceVersion string) (watch.Interface, error) {
	options := metav1.ListOptions{Watch: true, ResourceVersion: resourceVersion, AllowWatchBookmarks: true, FieldSelector: selector}
	changes, err := r.client.Get().AbsPath(path).VersionedParams(&options, metav1.ParameterCodec).Watch(ctx)
	if err != nil {
		return nil, err
	}
	return inspection.FilterWatch(changes, func(event watch.Event) (watch.Event, bool) {
		switch object := event.Object.(type) {
		case *apiextensionsv1.CustomResourceDefinition:
			definitionKind(object)
		case *apiregistrationv1.APIService:
			serviceKind(object)
		case *corev1.Namespace:
			namespaceKind(object)
		}
		return event, true
	}), nil
}

// list is a list type of the API.
type list interface {
	runtime.Object
	metav1.ListInterface
}

// pages yields the items of all pages; selector is one of fields, or empty. Where it takes so long that the server no
// longer has the state that it began with, it goes on with what is there now, as the
// server offers. empty makes a list, and tells what its items are.
func pages[L list, T any](ctx context.Context, r *Reader, path, selector string, version *string, empty func() (L, func() []T), typed func(*T)) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		options := metav1.ListOptions{Limit: chunk, FieldSelector: selector}
		for {
			page, items := empty()
			err := r.client.Get().AbsPath(path).VersionedParams(&options, metav1.ParameterCodec).Do(ctx).Into(page)
			if now := offered(err); now != "" && now != options.Continue {
				options.Continue = now
				continue
			}
			if err != nil {
				yield(nil, err)
				return
			}
			// Pages are of one version, unless that is gone. The first is the oldest:
			// a watch from there misses nothing.
			if version != nil && *version == "" {
				*version = page.GetResourceVersion()
			}
			all := items()
			for i := range all {
				typed(&all[i])
				if !yield(&all[i], nil) {
					return
				}
			}
			if options.Continue = page.GetContinue(); options.Continue == "" {
				return
			}
		}
	}
}

// offered is the continue token that comes with the error of an expired one.
func offered(err error) string {
	if api := apierrors.APIStatus(nil); apierrors.IsResourceExpired(err) && errors.As(err, &api) {
		return api.Status().Continue
	}
	return ""
}
