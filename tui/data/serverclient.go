package data

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/describe"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/live"
	"github.com/kapi-dev/kapi/internal/fault"
)

// ClientOptions say which server a client asks.
type ClientOptions struct {
	// Server is how it shows itself.
	Server inspection.Server
	// Config is its connection; nil for a recording.
	Config *rest.Config
	// ReadOnly refuses whatever changes something, before it is sent.
	ReadOnly bool
	// Explain says what an error means to a person.
	Explain func(error) error
}

// serverClient implements Client.
type serverClient struct {
	options ClientOptions
	config  *rest.Config
	found   discovered
	objects dynamic.Interface
	kapi    *live.Server
	// failed is why nothing can be asked.
	failed error
}

// NewClient returns a client; it makes no request. What is wrong with the
// configuration is the error of each method.
func NewClient(options ClientOptions) Client {
	c := &serverClient{options: options, found: discovered{busy: make(chan struct{}, 1)}}
	if options.Config == nil {
		c.failed = recordingError(options.Server)
		return c
	}
	c.config = rest.CopyConfig(options.Config)
	c.config.QPS, c.config.RateLimiter = -1, nil
	c.config.WarningHandler = rest.NoWarnings{}
	if options.ReadOnly {
		c.config = ReadOnly(c.config)
	}
	c.failed = c.connect()
	return c
}

func (c *serverClient) connect() (err error) {
	if c.found.client, err = discovery.NewDiscoveryClientForConfig(c.config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if c.objects, err = dynamic.NewForConfig(c.config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	c.kapi, err = live.New(c.config)
	return err
}

// recordingError is what can't be asked of a file.
func recordingError(server inspection.Server) error {
	name := "this"
	if server != nil {
		if about, err := server.About(context.Background()); err == nil && about.RecordedFrom != "" { // a recording does not wait
			name = about.RecordedFrom
		}
	}
	return fault.WithHint(fault.Usagef("%s is a recording: there is no server to ask", name), "ask the server itself")
}

func (c *serverClient) explained(err error) error {
	if err == nil || c.options.Explain == nil {
		return err
	}
	return c.options.Explain(err)
}

// Server implements Client.
func (c *serverClient) Server() inspection.Server { return c.options.Server }

// Resources implements Client. They are remembered for a minute.
func (c *serverClient) Resources(ctx context.Context) ([]Resource, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	resources, err := c.found.resources(ctx)
	return resources, c.explained(err)
}

// Get implements Client.
func (c *serverClient) Get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	object, err := c.objects.Resource(resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, c.explained(err)
	}
	return object, nil
}

// describeTime is how long a description may take where ctx has no deadline.
const describeTime = 30 * time.Second

// Describe implements Client.
func (c *serverClient) Describe(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (string, error) {
	known, err := c.Resources(ctx)
	if err != nil {
		return "", err
	}
	mapping := mappingOf(known, resource)
	if mapping == nil {
		return "", fault.WithHint(fault.Usagef("the server has no resource %s in version %s", resource.GroupResource(), resource.GroupVersion()), "its CRD or APIService may have been deleted")
	}
	// Describers take no context.
	own := rest.CopyConfig(c.config)
	own.Timeout = describeTime
	if deadline, ok := ctx.Deadline(); ok {
		own.Timeout = max(time.Millisecond, time.Until(deadline))
	}
	describer, ok := describe.DescriberFor(mapping.GroupVersionKind.GroupKind(), own)
	if !ok {
		describer, ok = describe.GenericDescriberFor(mapping, own)
	}
	if !ok {
		return "", fmt.Errorf("describing %s: no client can be made", resource.GroupResource())
	}
	text, err := describer.Describe(namespace, name, describe.DescriberSettings{ShowEvents: true, ChunkSize: tableChunk})
	return text, c.explained(err)
}

func mappingOf(known []Resource, resource schema.GroupVersionResource) *meta.RESTMapping {
	for _, one := range known {
		if one.GroupVersionResource == resource {
			mapping := &meta.RESTMapping{Resource: resource, GroupVersionKind: resource.GroupVersion().WithKind(one.Kind), Scope: meta.RESTScopeRoot}
			if one.Namespaced {
				mapping.Scope = meta.RESTScopeNamespace
			}
			return mapping
		}
	}
	return nil
}

// Stored implements Client.
func (c *serverClient) Stored(ctx context.Context, spec v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	answer, err := c.kapi.Stored(ctx, spec)
	switch {
	case (apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)) && !c.served(ctx):
		return nil, onlyKapi(err)
	case err != nil:
		return nil, c.explained(err)
	}
	return answer, nil
}

// served asks whether the server has queries of stored keys; where that is not known
// it does.
func (c *serverClient) served(ctx context.Context) bool {
	known, err := c.found.resources(ctx)
	if err != nil {
		return true
	}
	for _, one := range known {
		if one.Group == v1alpha1.GroupName && one.Resource == v1alpha1.ResourceStoredKeyQueries {
			return true
		}
	}
	return false
}

func onlyKapi(err error) error {
	return fault.WithHint(fmt.Errorf("this server does not let its store be looked into: %w", err), "only kapi serves storedkeyqueries; elsewhere etcdctl reads keys, with the certificates of etcd")
}

// Explain implements Client.
func (c *serverClient) Explain(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error) {
	if c.options.Server == nil {
		return nil, c.failed
	}
	explanation, err := c.options.Server.Explain(ctx, spec)
	if err != nil {
		return nil, c.explained(err)
	}
	return explanation, nil
}

// Delete implements Client. What belongs to the object is deleted in the background.
func (c *serverClient) Delete(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, uid types.UID) error {
	switch {
	case c.options.ReadOnly:
		return errReadOnly(fmt.Sprintf("the deletion of %s %s", resource.GroupResource(), namespaced(namespace, name)))
	case c.failed != nil:
		return c.failed
	}
	propagation := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &propagation}
	if uid != "" {
		options.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	objects := c.objects.Resource(resource).Namespace(namespace)
	err := objects.Delete(ctx, name, options)
	if uid != "" && apierrors.IsConflict(err) { // there are other conflicts, too: a namespace that is going already
		if now, missing := objects.Get(ctx, name, metav1.GetOptions{}); missing == nil && now.GetUID() != uid {
			return fault.WithHint(fmt.Errorf("nothing was deleted: %s %s is another object of that name now: %w", resource.GroupResource(), namespaced(namespace, name), err), "look at what it is now before you delete it")
		}
	}
	return c.explained(err)
}
