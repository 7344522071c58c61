// Package objects reads the objects that kapi and any other API server have in
// common: CustomResourceDefinitions and APIServices, in chunks, so that a list of
// any length needs the memory of one chunk. It may import inspection and client-go.
package objects

import (
	"context"
	"fmt"
	"iter"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// chunk is how many objects are asked for at once. A definition with its schemas
// can be half a megabyte.
const chunk = 200

// Reader reads them. The zero value is not usable.
type Reader struct {
	client *rest.RESTClient
	query  runtime.ParameterCodec
}

// New returns a Reader; it makes no request.
func New(config *rest.Config) (*Reader, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme} {
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

// Paths of the two resources.
const (
	DefinitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	APIServicesPath = "/apis/apiregistration.k8s.io/v1/apiservices"
)

// Definitions returns all definitions, or the one of a name unless it is empty.
func (r *Reader) Definitions(ctx context.Context, name string) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error] {
	return pages(ctx, r, DefinitionsPath, name, func() *apiextensionsv1.CustomResourceDefinitionList {
		return &apiextensionsv1.CustomResourceDefinitionList{}
	}, func(list *apiextensionsv1.CustomResourceDefinitionList) []apiextensionsv1.CustomResourceDefinition {
		return list.Items
	}, func(one *apiextensionsv1.CustomResourceDefinition) {
		one.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	})
}

// APIServices returns all APIServices, or the one of a name unless it is empty.
func (r *Reader) APIServices(ctx context.Context, name string) iter.Seq2[*apiregistrationv1.APIService, error] {
	return pages(ctx, r, APIServicesPath, name, func() *apiregistrationv1.APIServiceList {
		return &apiregistrationv1.APIServiceList{}
	}, func(list *apiregistrationv1.APIServiceList) []apiregistrationv1.APIService {
		return list.Items
	}, func(one *apiregistrationv1.APIService) {
		one.SetGroupVersionKind(apiregistrationv1.SchemeGroupVersion.WithKind("APIService"))
	})
}

// Watch reports changes of what is at a path, from a resource version on; empty
// means that what is there comes first.
func (r *Reader) Watch(ctx context.Context, path, name, resourceVersion string) (watch.Interface, error) {
	return r.client.Get().AbsPath(path).VersionedParams(&metav1.ListOptions{
		Watch: true, ResourceVersion: resourceVersion, FieldSelector: byName(name), AllowWatchBookmarks: true,
	}, metav1.ParameterCodec).Watch(ctx)
}

func byName(name string) string {
	if name == "" {
		return ""
	}
	return "metadata.name=" + name
}

// list is a list type of the API.
type list interface {
	runtime.Object
	metav1.ListInterface
}

func pages[L list, T any](ctx context.Context, r *Reader, path, name string, empty func() L, items func(L) []T, typed func(*T)) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		options := metav1.ListOptions{Limit: chunk, FieldSelector: byName(name)}
		for {
			page := empty()
			err := r.client.Get().AbsPath(path).VersionedParams(&options, metav1.ParameterCodec).Do(ctx).Into(page)
			if err != nil {
				yield(nil, err)
				return
			}
			all := items(page)
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
