package scheduler

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	core "k8s.io/client-go/informers/core"
	coreinformers "k8s.io/client-go/informers/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Upstream's scheduler believes its informer of pods to hold none that has ended:
// its own factory (NewInformerFactory) lists them with a field selector. An ended
// pod that it were told of would go on taking room on its node. The informer that
// controllers share holds all pods, as podgc and jobs need those. What follows is
// a view of the shared one in which a pod that ends is a pod that is deleted. A
// second informer would do the same for a second watch and a second copy of
// every pod.

// active says whether a pod has not ended.
func active(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// activeObject is active for what an informer hands out: pods, and the last known
// state of a deleted one.
func activeObject(object any) bool {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	pod, ok := object.(*corev1.Pod)
	return ok && active(pod)
}

// activePodsOf returns the factory with pods seen through the view. Everything
// else is the factory's own.
func activePodsOf(factory informers.SharedInformerFactory) informers.SharedInformerFactory {
	return factoryView{factory}
}

type factoryView struct {
	informers.SharedInformerFactory
}

func (f factoryView) Core() core.Interface { return groupView{f.SharedInformerFactory.Core()} }

type groupView struct{ core.Interface }

func (g groupView) V1() coreinformers.Interface { return versionView{g.Interface.V1()} }

type versionView struct{ coreinformers.Interface }

func (v versionView) Pods() coreinformers.TypedPodInformer { return podsView{v.Interface.Pods()} }

type podsView struct{ coreinformers.TypedPodInformer }

func (p podsView) Informer() cache.SharedIndexInformer {
	return informerView{p.TypedPodInformer.Informer()}
}

func (p podsView) TypedInformer() coreinformers.PodIndexInformer {
	return cache.NewTypedSharedIndexInformer[*corev1.Pod](p.Informer())
}

func (p podsView) Lister() corelisters.PodLister { return listerView{p.TypedPodInformer.Lister()} }

// informerView filters handlers and indexes. The store below it is the shared one.
type informerView struct{ cache.SharedIndexInformer }

func filtered(handler cache.ResourceEventHandler) cache.ResourceEventHandler {
	return cache.FilteringResourceEventHandler{FilterFunc: activeObject, Handler: handler}
}

func (i informerView) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(filtered(h))
}

func (i informerView) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(filtered(h), resync)
}

func (i informerView) AddEventHandlerWithOptions(h cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(filtered(h), options)
}

// AddIndexers adds indexes that hold no pod that has ended.
func (i informerView) AddIndexers(indexers cache.Indexers) error {
	own := make(cache.Indexers, len(indexers))
	for name, index := range indexers {
		own[name] = func(object any) ([]string, error) {
			if !activeObject(object) {
				return nil, nil
			}
			return index(object)
		}
	}
	return i.SharedIndexInformer.AddIndexers(own)
}

type listerView struct{ corelisters.PodLister }

func (l listerView) List(selector labels.Selector) ([]*corev1.Pod, error) {
	return onlyActive(l.PodLister.List(selector))
}

func (l listerView) Pods(namespace string) corelisters.PodNamespaceLister {
	return namespaceView{l.PodLister.Pods(namespace)}
}

type namespaceView struct{ corelisters.PodNamespaceLister }

func (n namespaceView) List(selector labels.Selector) ([]*corev1.Pod, error) {
	return onlyActive(n.PodNamespaceLister.List(selector))
}

func (n namespaceView) Get(name string) (*corev1.Pod, error) {
	pod, err := n.PodNamespaceLister.Get(name)
	if err == nil && !active(pod) {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	return pod, err
}

// onlyActive filters a list that was made for this call.
func onlyActive(pods []*corev1.Pod, err error) ([]*corev1.Pod, error) {
	return slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return !active(pod) }), err
}
