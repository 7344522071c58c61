package data

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// Client asks a server for something once. All methods are safe for concurrent
// use; their errors are explained (fault.Hint has the way out). Where there is no
// server, because a recording is shown, everything but Server fails and says so.
type Client interface {
	// Server is how the server shows itself.
	Server() inspection.Server
	// Resources are all resources in discovery, those that are preferred first.
	Resources(ctx context.Context) ([]Resource, error)
	// Get returns an object.
	Get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (*unstructured.Unstructured, error)
	// Describe is what kubectl describe prints of it.
	Describe(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (string, error)
	// Stored reads keys of the store, or one with its value.
	Stored(ctx context.Context, spec v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error)
	// Explain is a dry run of one request.
	Explain(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error)
	// Send really sends a request that only reads (get, list, watch for a moment), and
	// returns its trace; of a server that keeps none, what was seen from here.
	Send(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RequestTrace, error)
	// Delete deletes the object that has a UID; an empty one is any of that name. It is
	// refused where nothing may be changed.
	Delete(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, uid types.UID) error
}

// Resource is a resource in discovery.
type Resource struct {
	schema.GroupVersionResource
	// Kind, Singular and ShortNames are its other names.
	Kind       string
	Singular   string
	ShortNames []string
	Namespaced bool
	Verbs      []string
}

// Row is one row of a server's table.
type Row struct {
	metav1.PartialObjectMetadata
	// Cells are in the order of View.Columns.
	Cells []any
}

// Column is a column of a server's table.
type Column struct {
	Name, Type, Description string
	// Wide columns are shown on demand.
	Wide bool
}

// LogLine is a line of the server's log.
type LogLine struct {
	metav1.PartialObjectMetadata
	At time.Time
	// Level is info, warning, error or debug; empty if the line has none.
	Level string
	Text  string
}
