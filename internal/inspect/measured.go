package inspect

import (
	"context"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// measured is the table of discovery states. Who reads one of them by name gets
// its OpenAPI v3 document measured too: for that the server may have to build it,
// which is too much to do for all of them in a list.
type measured struct {
	*store.Snapshot

	measure func(ctx context.Context, group, version string)
}

// Get implements rest.Table.
func (m measured) Get(ctx context.Context, name string) (store.Object, error) {
	object, err := m.Snapshot.Get(ctx, name)
	state, ok := object.(*v1alpha1.DiscoveryState)
	if err != nil || !ok {
		return object, err
	}
	m.measure(ctx, state.Spec.Group, state.Spec.Version)
	return m.Snapshot.Get(ctx, name)
}

func (i *Inspector) measure(ctx context.Context, group, version string) {
	if b := i.built.Load(); b.resources != nil {
		_ = b.resources.MeasureOpenAPI(ctx, group, version, false) // the state says why there is no measure
	}
}
