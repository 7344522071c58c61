package joined

import (
	"context"
	"iter"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// A server that can return one object by its name saves looking through all.
type (
	definitionGetter interface {
		Definition(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error)
	}
	apiServiceGetter interface {
		APIService(ctx context.Context, name string) (*apiregistrationv1.APIService, error)
	}
)

// LoadDefinition asks a server for everything about one definition, as it is at the
// time now. It fails only where the definition itself can't be had: NotFound if there
// is none of that name.
func LoadDefinition(ctx context.Context, server inspection.Server, name string, now time.Time) (Definition, error) {
	plural, group, _ := strings.Cut(name, ".") // the API accepts no other names
	var (
		parts DefinitionParts
		err   error
		lost  [4][]Missing
		work  sync.WaitGroup
	)
	work.Go(func() { parts.Definition, err = getDefinition(ctx, server, name) })
	work.Go(func() {
		parts.Transitions, lost[0] = list[*v1alpha1.ConditionTransition](ctx, server, partTransitions, history(kindDefinition, name))
	})
	work.Go(func() {
		parts.Storages, lost[1] = list[*v1alpha1.ResourceStorage](ctx, server, partStorages, where("spec.group", group, "spec.resource", plural))
	})
	work.Go(func() {
		parts.Registrations, lost[2] = list[*v1alpha1.APIResourceRegistration](ctx, server, partRegistrations, where("spec.group", group))
	})
	work.Go(func() {
		parts.Discovery, lost[3] = list[*v1alpha1.DiscoveryState](ctx, server, partDiscovery, where("spec.group", group))
	})
	work.Wait()
	if err != nil {
		return Definition{}, err
	}
	for _, missing := range lost {
		parts.Missing = append(parts.Missing, missing...)
	}
	return JoinDefinition(parts, now), nil
}

// Definitions asks a server for all definitions, a line each, as they are at the time
// now. What they are joined with is fetched at once, the definitions themselves while
// the lines are taken, and none is kept. The second result is what the lines lack.
func Definitions(ctx context.Context, server inspection.Server, now time.Time) (iter.Seq2[DefinitionLine, error], []Missing) {
	var (
		transitions []*v1alpha1.ConditionTransition
		storages    []*v1alpha1.ResourceStorage
		lost        [2][]Missing
		work        sync.WaitGroup
	)
	work.Go(func() {
		transitions, lost[0] = list[*v1alpha1.ConditionTransition](ctx, server, partTransitions, where("spec.object.kind", kindDefinition))
	})
	work.Go(func() {
		storages, lost[1] = list[*v1alpha1.ResourceStorage](ctx, server, partStorages, inspection.Query{})
	})
	work.Wait()
	index := NewDefinitionIndex(storages, transitions)
	lines := func(yield func(DefinitionLine, error) bool) {
		for object, err := range server.Definitions(ctx) {
			if err != nil {
				yield(DefinitionLine{}, err)
				return
			}
			if !yield(index.Line(object, now), nil) {
				return
			}
		}
	}
	return lines, append(lost[0], lost[1]...)
}

func getDefinition(ctx context.Context, server inspection.Server, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	if getter, ok := server.(definitionGetter); ok {
		return getter.Definition(ctx, name)
	}
	return find(server.Definitions(ctx), name, apierrors.NewNotFound(apiextensionsv1.Resource(partDefinitions), name))
}

func getAPIService(ctx context.Context, server inspection.Server, name string) (*apiregistrationv1.APIService, error) {
	if getter, ok := server.(apiServiceGetter); ok {
		return getter.APIService(ctx, name)
	}
	return find(server.APIServices(ctx), name, apierrors.NewNotFound(apiregistrationv1.Resource(partAPIServices), name))
}

// find looks for an object of a name, and stops there.
func find[T metav1.Object](all iter.Seq2[T, error], name string, notFound error) (T, error) {
	var none T
	for object, err := range all {
		if err != nil {
			return none, err
		}
		if object.GetName() == name {
			return object, nil
		}
	}
	return none, notFound
}

// where selects by fields; pairs are names and values.
func where(pairs ...string) inspection.Query {
	set := fields.Set{}
	for i := 0; i+1 < len(pairs); i += 2 {
		set[pairs[i]] = pairs[i+1]
	}
	return inspection.Query{FieldSelector: set.AsSelector().String()}
}

// history selects the transitions of one object.
func history(kind, name string) inspection.Query {
	return where("spec.object.kind", kind, "spec.object.name", name)
}
