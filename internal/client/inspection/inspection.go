// Package inspection is how a client sees an API server: what it is, and what it
// shows of itself in the kinds of inspect.kapi.dev. Three implementations of
// Server answer alike, so that a command or a page need not know which it has:
// live (kapi itself, through its API), foreign (any other API server, put
// together from what it exposes) and recorded (a file).
//
// It is not a cache and keeps nothing. It may import client, the API types and
// client-go, and no server package.
package inspection

import (
	"context"
	"iter"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Server is an API server as a client sees it. All methods are safe for
// concurrent use. Their errors are those of client-go (IsForbidden and the like
// hold), never wrapped in a way that hides them from errors.As.
type Server interface {
	// About says what the server is. Fields that it does not tell are empty.
	About(ctx context.Context) (About, error)
	// List returns the objects of a kind, in the order in which the server lists
	// them. Of a single name it returns the one object, or a NotFound error.
	List(ctx context.Context, kind kinds.Kind, query Query) (Listing, error)
	// Watch reports the changes after a listing. It ends when ctx does, when the
	// server ends it, and with an Error event that holds a *metav1.Status.
	Watch(ctx context.Context, kind kinds.Kind, query Query, resourceVersion string) (watch.Interface, error)
	// Definitions are all CustomResourceDefinitions, fetched in chunks.
	Definitions(ctx context.Context) iter.Seq2[*apiextensionsv1.CustomResourceDefinition, error]
	// APIServices are all APIServices, fetched in chunks.
	APIServices(ctx context.Context) iter.Seq2[*apiregistrationv1.APIService, error]
	// TerminatingNamespaces are the namespaces that are being deleted and are still
	// there; the server selects them.
	TerminatingNamespaces(ctx context.Context) iter.Seq2[*corev1.Namespace, error]
	// Explain is a dry run of one request.
	Explain(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error)
}

// Type is what kind of server it is.
type Type string

// The types of servers.
const (
	// Kapi serves inspect.kapi.dev.
	Kapi Type = "kapi"
	// Foreign is any other API server.
	Foreign Type = "foreign"
	// Recorded is a file.
	Recorded Type = "recorded"
)

// About is what a server is.
type About struct {
	// Type says how what is shown was come by. Of a recording it is that of the
	// server that was recorded; RecordedFrom says that it is one.
	Type Type `json:"type"`
	// Address is the URL of the server.
	Address string `json:"address,omitempty"`
	// KubernetesVersion is gitVersion of /version ("v1.37.2").
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// ServerID is the identity of the API server that answers; empty if unknown.
	ServerID string `json:"serverID,omitempty"`
	// StartedAt is when its process began; zero if unknown.
	StartedAt time.Time `json:"startedAt,omitzero"`
	// At is the time that ages count up to: now, or when a recording was made.
	At time.Time `json:"at"`
	// RecordedFrom is the file of a recording; empty for a server that answers.
	RecordedFrom string `json:"-"`
}

// Query narrows a list or a watch. The zero value is everything.
type Query struct {
	// Name is one object's.
	Name string
	// LabelSelector and FieldSelector are those of the API. The fields of a kind
	// are in its table.
	LabelSelector, FieldSelector string
	// ServerID leaves the objects of one server only.
	ServerID string
}

// Listing is what a list has returned.
type Listing struct {
	// Objects are the items; pointers to types of v1alpha1, with TypeMeta set.
	Objects []kinds.Object
	// ResourceVersion is where a watch goes on.
	ResourceVersion string
	// Gaps are what this server does not show.
	Gaps []Gap
}

// Gap is something that a server does not show, and why.
type Gap struct {
	// Column is a column of the kind's table that is empty because of it; empty
	// if the kind as a whole is not shown.
	Column string `json:"column,omitempty"`
	// Reason is a clause that follows the column's name and a colon: "kube-apiserver
	// does not count requests by layer".
	Reason string `json:"reason"`
}

// GroupResource returns the resource that a kind is served as.
func GroupResource(kind kinds.Kind) schema.GroupResource {
	return v1alpha1.SchemeGroupVersion.WithResource(kind.Resource).GroupResource()
}
