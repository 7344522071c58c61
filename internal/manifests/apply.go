package manifests

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

type runtimeObject = runtime.Object

// FieldManager owns the fields that Apply sets.
const FieldManager = "kapi-manifests"

const (
	// servedPoll is how often Apply asks whether a definition is established and served.
	servedPoll = 25 * time.Millisecond
	// servedTimeout bounds that for one definition.
	servedTimeout = 30 * time.Second
)

var definitions = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// Result says what Apply has done.
type Result struct {
	// Applied is the number of objects that are in the server now.
	Applied int
	// Errs holds an error for each that is not, with its place.
	Errs []error
}

// Apply applies objects in three rounds: definitions, and waits until they are
// established and in discovery; namespaces; everything else, in the order given.
// Conflicts are forced: the files are the wish of whoever runs the server.
// It fails as a whole only when ctx ends or no client can be made.
func Apply(ctx context.Context, config *rest.Config, objects []Object) (Result, error) {
	a, err := newApplier(config)
	if err != nil {
		return Result{}, err
	}
	var result Result
	for round := range 3 {
		for _, object := range objects {
			if roundOf(object) != round {
				continue
			}
			if err := a.apply(ctx, object); err != nil {
				result.Errs = append(result.Errs, fmt.Errorf("%s: %w", object, err))
			} else {
				result.Applied++
			}
			if ctx.Err() != nil {
				return result, fmt.Errorf("applying manifests: %w", ctx.Err())
			}
		}
		if round == 0 {
			result.Errs = append(result.Errs, a.waitServed(ctx)...)
		}
	}
	return result, nil
}

func roundOf(o Object) int {
	switch o.GroupVersionKind().GroupKind() {
	case definitions:
		return 0
	case schema.GroupKind{Kind: "Namespace"}:
		return 1
	}
	return 2
}

type applier struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
	// applied are the definitions that must be served before the next round.
	applied []Object
}

func newApplier(config *rest.Config) (*applier, error) {
	config = rest.CopyConfig(config)
	// Custom resources have no protobuf.
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a discovery client: %w", err)
	}
	return &applier{client: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))}, nil
}

func (a *applier) apply(ctx context.Context, o Object) error {
	resource, err := a.resource(o)
	if err != nil {
		return err
	}
	_, err = resource.Apply(ctx, o.GetName(), o.Unstructured, metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	if err != nil {
		return err
	}
	if roundOf(o) == 0 {
		a.applied = append(a.applied, o)
	}
	return nil
}

// resource finds where objects of o's kind live. The mapper asks the server
// again, once, when it doesn't know a kind.
func (a *applier) resource(o Object) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return a.client.Resource(mapping.Resource), nil
	}
	namespace := o.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return a.client.Resource(mapping.Resource).Namespace(namespace), nil
}

func (a *applier) waitServed(ctx context.Context) []error {
	var errs []error
	for _, o := range a.applied {
		if err := a.served(ctx, o); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", o, err))
		}
	}
	if len(a.applied) > 0 {
		a.mapper.Reset()
	}
	return errs
}

// served waits until a definition is established. An established one is in
// discovery a moment later; the mapper asks again for kinds that it misses.
func (a *applier) served(ctx context.Context, o Object) error {
	resource, err := a.resource(o)
	if err != nil {
		return err
	}
	var last string
	err = wait.PollUntilContextTimeout(ctx, servedPoll, servedTimeout, true, func(ctx context.Context) (bool, error) {
		current, err := resource.Get(ctx, o.GetName(), metav1.GetOptions{})
		if err != nil {
			last = err.Error()
			return false, nil //nolint:nilerr // asked again, until the time is over
		}
		established, why := conditionsOf(current)
		last = why
		return established && a.listed(ctx, current), nil
	})
	if err != nil {
		return errors.New("is not established: " + last)
	}
	return nil
}

// conditionsOf tells whether a definition is established, and if not, why.
func conditionsOf(crd *unstructured.Unstructured) (established bool, why string) {
	why = "it has no conditions yet"
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		condition, ok := c.(map[string]any)
		if !ok {
			continue
		}
		switch {
		case condition["type"] == "Established" && condition["status"] == "True":
			established = true
		case condition["status"] != "True" && condition["type"] != "Terminating":
			why = fmt.Sprintf("%v: %v", condition["reason"], condition["message"])
		}
	}
	return established, why
}

// listed tells whether the resource of an established definition can be listed.
func (a *applier) listed(ctx context.Context, crd *unstructured.Unstructured) bool {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		version, ok := v.(map[string]any)
		if !ok || version["served"] != true {
			continue
		}
		gvr := schema.GroupVersionResource{Group: group, Version: fmt.Sprint(version["name"]), Resource: plural}
		if _, err := a.client.Resource(gvr).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
			return false
		}
	}
	return true
}
