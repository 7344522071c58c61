package data

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/objects"
	"github.com/kapi-dev/kapi/internal/fault"
)

// Source is what feeds get their objects from. All methods are safe for concurrent
// use. Errors are those of client-go; what can't be had at all is bad input
// (fault.Usagef), as is a watch of what never changes.
type Source interface {
	// About says what the server is.
	About(ctx context.Context) (inspection.About, error)
	// List returns what a feed has. With an error it may return what there is
	// nevertheless.
	List(ctx context.Context, key Key) (Listed, error)
	// Watch reports the changes after a list. It ends with ctx, when the server ends
	// it, and with an Error event that holds a *metav1.Status.
	Watch(ctx context.Context, key Key, resourceVersion string) (watch.Interface, error)
}

// Listed is what a list has returned.
type Listed struct {
	// Objects are of the types that View.Objects names, in the server's order.
	Objects []kinds.Object
	// Columns are those of rows.
	Columns []Column
	// Gaps are what the server does not show.
	Gaps []inspection.Gap
	// ResourceVersion is where a watch goes on.
	ResourceVersion string
}

// serverSource is a server. Without tables and reader it is a recording.
type serverSource struct {
	server inspection.Server
	reader *objects.Reader
	tables *tables
	// failed is why there is no client.
	failed error
}

// NewServerSource is the source of a server. config is that of its connection; nil
// for a recording, which has no other objects than those that it was made of.
func NewServerSource(server inspection.Server, config *rest.Config) Source {
	s := &serverSource{server: server}
	if config == nil {
		return s
	}
	if s.reader, s.failed = objects.New(config); s.failed == nil {
		s.tables, s.failed = newTables(config)
	}
	return s
}

// About implements Source.
func (s *serverSource) About(ctx context.Context) (inspection.About, error) {
	return s.server.About(ctx)
}

// Ping asks for the version, the smallest of all answers. A recording needs none.
func (s *serverSource) Ping(ctx context.Context) error {
	if s.tables == nil {
		return s.failed
	}
	return s.tables.ping(ctx)
}

// List implements Source.
func (s *serverSource) List(ctx context.Context, key Key) (Listed, error) {
	switch {
	case s.failed != nil:
		return Listed{}, s.failed
	case key.Inspect != "":
		return s.inspected(ctx, key)
	case key == Definitions:
		return s.definitions(ctx)
	case key == APIServices:
		return s.services(ctx)
	case key == Terminating:
		return s.terminating(ctx)
	case key.Logs:
		return Listed{}, fault.WithHint(fault.Usagef("the log of a server is shown where the server runs"), `start it with "kapi serve --tui"`)
	case s.tables == nil:
		return Listed{}, s.notRecorded(ctx, key)
	case key.Name != "":
		return s.tables.get(ctx, key)
	}
	return s.tables.list(ctx, key)
}

// Watch implements Source.
func (s *serverSource) Watch(ctx context.Context, key Key, resourceVersion string) (watch.Interface, error) {
	switch {
	case s.failed != nil:
		return nil, s.failed
	case key.Inspect != "":
		kind, err := kindOf(key)
		if err != nil {
			return nil, err
		}
		return s.server.Watch(ctx, kind, inspection.Query{}, resourceVersion)
	case s.tables == nil:
		return nil, s.notRecorded(ctx, key)
	case key == Definitions:
		return s.reader.Watch(ctx, objects.DefinitionsPath, "", resourceVersion)
	case key == APIServices:
		return s.reader.Watch(ctx, objects.APIServicesPath, "", resourceVersion)
	case key == Terminating:
		return s.reader.WatchTerminatingNamespaces(ctx, resourceVersion)
	}
	return s.tables.watch(ctx, key, resourceVersion)
}

func (s *serverSource) inspected(ctx context.Context, key Key) (Listed, error) {
	kind, err := kindOf(key)
	if err != nil {
		return Listed{}, err
	}
	listing, err := s.server.List(ctx, kind, inspection.Query{})
	return Listed{Objects: listing.Objects, Gaps: listing.Gaps, ResourceVersion: listing.ResourceVersion}, err
}

func (s *serverSource) definitions(ctx context.Context) (Listed, error) {
	var listed Listed
	all := s.server.Definitions(ctx)
	if s.reader != nil {
		all = s.reader.Definitions(ctx, &listed.ResourceVersion)
	}
	for one, err := range all {
		if err != nil {
			return listed, err
		}
		one.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		listed.Objects = append(listed.Objects, one)
	}
	return listed, nil
}

func (s *serverSource) services(ctx context.Context) (Listed, error) {
	var listed Listed
	all := s.server.APIServices(ctx)
	if s.reader != nil {
		all = s.reader.APIServices(ctx, &listed.ResourceVersion)
	}
	for one, err := range all {
		if err != nil {
			return listed, err
		}
		one.SetGroupVersionKind(apiregistrationv1.SchemeGroupVersion.WithKind("APIService"))
		listed.Objects = append(listed.Objects, one)
	}
	return listed, nil
}

func (s *serverSource) terminating(ctx context.Context) (Listed, error) {
	var listed Listed
	all := s.server.TerminatingNamespaces(ctx)
	if s.reader != nil {
		all = s.reader.TerminatingNamespaces(ctx, &listed.ResourceVersion)
	}
	for one, err := range all {
		if err != nil {
			return listed, err
		}
		one.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		listed.Objects = append(listed.Objects, one)
	}
	return listed, nil
}

func kindOf(key Key) (kinds.Kind, error) {
	kind, ok := kinds.ByName(key.Inspect)
	if !ok {
		return kind, fault.Usagef("inspect.kapi.dev has no resource %q", key.Inspect)
	}
	return kind, nil
}

// notRecorded is the error for what only a server that answers has.
func (s *serverSource) notRecorded(ctx context.Context, key Key) error {
	name := "a recording"
	if about, err := s.server.About(ctx); err == nil && about.RecordedFrom != "" {
		name = about.RecordedFrom
	}
	return fault.WithHint(fault.Usagef("%s has no %s", name, nameOf(key)), "ask the server itself")
}

// nameOf is what a feed is called in messages.
func nameOf(key Key) string {
	switch {
	case key.Logs:
		return "log"
	case key.Inspect != "":
		return key.Inspect
	case key.Name != "" && key.Name != "*":
		return key.Resource.GroupResource().String() + " " + namespaced(key.Namespace, key.Name)
	}
	return key.Resource.GroupResource().String()
}

func namespaced(namespace, name string) string {
	if namespace == metav1.NamespaceAll {
		return name
	}
	return namespace + "/" + name
}
