// Package rest serves tables of package store as REST resources of a generic API
// server: get, list, watch and tables, with selectors and all that clients expect
// of a built-in resource. How a resource looks stands in package kinds; what is
// in it is not known here.
package rest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Table is what a resource is read from; store.Snapshot and store.Log are tables.
type Table interface {
	// Get returns one object, or nil if there is none of that name.
	Get(ctx context.Context, name string) (store.Object, error)
	// List returns all objects in order, and the revision that they are of.
	List(ctx context.Context) ([]store.Object, uint64, error)
	// Watch begins a watch; store.ErrGone means that it can't begin at options.From.
	Watch(ctx context.Context, options store.WatchOptions) (*store.Watcher, error)
}

// Hidden says that an object is left out of what a request gets, unless the
// request's selectors name it. It may be nil.
type Hidden func(ctx context.Context, selector labels.Selector) func(store.Object) bool

// Storage serves one resource. It implements rest.Getter, rest.Lister and rest.Watcher.
type Storage struct {
	kind   kinds.Kind
	table  Table
	hidden Hidden
	limit  func() func() bool
}

var (
	_ rest.Getter               = &Storage{}
	_ rest.Lister               = &Storage{}
	_ rest.Watcher              = &Storage{}
	_ rest.Scoper               = &Storage{}
	_ rest.SingularNameProvider = &Storage{}
	_ rest.ShortNamesProvider   = &Storage{}
	_ rest.CategoriesProvider   = &Storage{}
)

// Option changes what a Storage does.
type Option func(*Storage)

// WithHidden leaves objects out.
func WithHidden(hidden Hidden) Option { return func(s *Storage) { s.hidden = hidden } }

// WithLimit bounds what a watch delivers: limit is called for each watch, and what
// it returns for each event.
func WithLimit(limit func() func() bool) Option { return func(s *Storage) { s.limit = limit } }

// New returns the storage of a resource.
func New(kind kinds.Kind, table Table, options ...Option) *Storage {
	s := &Storage{kind: kind, table: table}
	for _, option := range options {
		option(s)
	}
	return s
}

// New implements rest.Storage.
func (s *Storage) New() runtime.Object { return s.kind.New() }

// NewList implements rest.Lister.
func (s *Storage) NewList() runtime.Object { return s.kind.NewList() }

// Destroy implements rest.Storage. Tables are closed by whoever made them.
func (s *Storage) Destroy() {}

// NamespaceScoped implements rest.Scoper: nothing here is in a namespace.
func (s *Storage) NamespaceScoped() bool { return false }

// GetSingularName implements rest.SingularNameProvider.
func (s *Storage) GetSingularName() string { return s.kind.Singular }

// ShortNames implements rest.ShortNamesProvider.
func (s *Storage) ShortNames() []string { return s.kind.ShortNames }

// Categories implements rest.CategoriesProvider.
func (s *Storage) Categories() []string {
	if s.kind.Busy {
		return nil
	}
	return []string{kinds.Category}
}

func (s *Storage) resource() schema.GroupResource { return v1alpha1.Resource(s.kind.Resource) }

// Get implements rest.Getter.
func (s *Storage) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	object, err := s.table.Get(ctx, name)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("collecting %s: %w", s.kind.Resource, err))
	}
	if object == nil {
		return nil, apierrors.NewNotFound(s.resource(), name)
	}
	return object.DeepCopyObject(), nil // the encoder writes to it
}

// List implements rest.Lister.
func (s *Storage) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	objects, revision, err := s.table.List(ctx)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("collecting %s: %w", s.kind.Resource, err))
	}
	if err := checkRevision(options, revision); err != nil {
		return nil, err
	}
	match := s.match(ctx, options)
	items := make([]runtime.Object, 0, len(objects))
	for _, object := range objects {
		if match(object) {
			items = append(items, object)
		}
	}
	list := s.kind.NewList()
	if err := meta.SetList(list, items); err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("making a list of %s: %w", s.kind.Resource, err))
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("making a list of %s: %w", s.kind.Resource, err))
	}
	accessor.SetResourceVersion(store.Format(revision))
	return list, nil
}

// checkRevision refuses what a list can't be of: it is always of now, and whole.
func checkRevision(options *metainternalversion.ListOptions, now uint64) error {
	if options == nil {
		return nil
	}
	asked, err := store.Parse(options.ResourceVersion)
	switch {
	case err != nil:
		return apierrors.NewBadRequest(err.Error())
	case options.Continue != "":
		return apierrors.NewBadRequest("continue: lists of this group are whole, and give no continue token")
	case asked > now:
		return storage.NewTooLargeResourceVersionError(asked, now, 1)
	case options.ResourceVersionMatch == metav1.ResourceVersionMatchExact && asked != now:
		return gone(options.ResourceVersion)
	}
	return nil
}

// match returns what a request selects.
func (s *Storage) match(ctx context.Context, options *metainternalversion.ListOptions) func(store.Object) bool {
	byLabel, byField := labels.Everything(), fields.Everything()
	if options != nil && options.LabelSelector != nil {
		byLabel = options.LabelSelector
	}
	if options != nil && options.FieldSelector != nil {
		byField = options.FieldSelector
	}
	hidden := func(store.Object) bool { return false }
	if s.hidden != nil {
		hidden = s.hidden(ctx, byLabel)
	}
	return func(object store.Object) bool {
		return byLabel.Matches(labels.Set(object.GetLabels())) && byField.Matches(s.fields(object, byField)) && !hidden(object)
	}
}

// fields returns the fields of an object that a selector asks for.
func (s *Storage) fields(object store.Object, selector fields.Selector) fields.Set {
	set := fields.Set{}
	for _, requirement := range selector.Requirements() {
		if requirement.Field == metadataName {
			set[metadataName] = object.GetName()
		} else if value := s.kind.Fields[requirement.Field]; value != nil {
			set[requirement.Field] = value(object)
		}
	}
	return set
}

const metadataName = "metadata.name"
