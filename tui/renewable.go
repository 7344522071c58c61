package tui

import (
	"context"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/tui/data"
)

// renewable is a data.Client whose credentials can be replaced while pages hold it:
// a kubeconfig is written anew when a certificate has expired.
type renewable struct{ current atomic.Pointer[data.Client] }

var _ data.Client = &renewable{}

func newRenewable(options Options, target Target, server inspection.Server) *renewable {
	r := &renewable{}
	r.renew(options, target, server)
	return r
}

// renew takes a server that was connected to once more.
func (r *renewable) renew(options Options, target Target, server inspection.Server) {
	client := data.NewClient(data.ClientOptions{Server: server, Config: target.Config, ReadOnly: options.ReadOnly, Explain: target.Explain})
	r.current.Store(&client)
}

func (r *renewable) client() data.Client { return *r.current.Load() }

// Server implements data.Client.
func (r *renewable) Server() inspection.Server { return r.client().Server() }

// Resources implements data.Client.
func (r *renewable) Resources(ctx context.Context) ([]data.Resource, error) {
	return r.client().Resources(ctx)
}

// Get implements data.Client.
func (r *renewable) Get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error) {
	return r.client().Get(ctx, resource, namespace, name)
}

// Describe implements data.Client.
func (r *renewable) Describe(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (string, error) {
	return r.client().Describe(ctx, resource, namespace, name)
}

// Stored implements data.Client.
func (r *renewable) Stored(ctx context.Context, spec v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
	return r.client().Stored(ctx, spec)
}

// Explain implements data.Client.
func (r *renewable) Explain(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error) {
	return r.client().Explain(ctx, spec)
}

// Send implements data.Client.
func (r *renewable) Send(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RequestTrace, error) {
	return r.client().Send(ctx, spec)
}

// Delete implements data.Client.
func (r *renewable) Delete(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, uid types.UID) error {
	return r.client().Delete(ctx, resource, namespace, name, uid)
}
