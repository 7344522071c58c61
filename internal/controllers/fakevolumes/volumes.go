package fakevolumes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/component-helpers/storage/volume"
)

// Provisioner is the name by which a StorageClass asks for fake volumes, and that of
// the driver in them.
const Provisioner = "fake-volumes.kapi.dev"

// QueueName is the name of the work queue in metrics.
const QueueName = "fake_volumes"

const (
	// workers bounds the requests that are under way at once.
	workers = 4
	// retryFirst and retryLongest bound the wait after an error.
	retryFirst   = 100 * time.Millisecond
	retryLongest = 30 * time.Second
)

// Config is what the volumes need. All fields are required.
type Config struct {
	// Client writes volumes, the status of claims and events. What upstream's policy
	// gives the service account persistent-volume-binder is enough.
	Client kubernetes.Interface
	// Admin makes the StorageClass.
	Admin kubernetes.Interface
	// Informers are shared. The caller starts them after New. Objects in them may come
	// without managed fields.
	Informers informers.SharedInformerFactory
}

// Volumes makes volumes for claims. It is for one call of Run.
type Volumes struct {
	config  Config
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
	synced  []cache.InformerSynced
	queue   workqueue.TypedRateLimitingInterface[item]
	// made says that the class was there once. It is the item's that it belongs to.
	made bool
	// events is there while Run runs.
	events record.EventRecorder
}

// item is a piece of work: a claim, a volume where there is no namespace, or the
// class where there is no name either.
type item struct{ namespace, name string }

// New makes the volumes' controller and requests its informers from the factory.
// Nothing happens before Run.
func New(ctx context.Context, config Config) (*Volumes, error) {
	if config.Client == nil || config.Admin == nil || config.Informers == nil {
		return nil, errors.New("constructing fake volumes: clients and informers are required")
	}
	core, classes := config.Informers.Core().V1(), config.Informers.Storage().V1().StorageClasses()
	v := &Volumes{
		config:  config,
		claims:  core.PersistentVolumeClaims().Lister(),
		volumes: core.PersistentVolumes().Lister(),
		classes: classes.Lister(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[item](retryFirst, retryLongest),
			workqueue.TypedRateLimitingQueueConfig[item]{Name: QueueName},
		),
	}
	// The queue has goroutines, which Run ends; without Run, the end of ctx does.
	context.AfterFunc(ctx, v.queue.ShutDown)

	changed := func(_, object any) { v.changed(object) }
	for _, watched := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandlerFuncs
	}{
		{core.PersistentVolumeClaims().Informer(), cache.ResourceEventHandlerFuncs{AddFunc: v.changed, UpdateFunc: changed}},
		{core.PersistentVolumes().Informer(), cache.ResourceEventHandlerFuncs{AddFunc: v.changed, UpdateFunc: changed, DeleteFunc: v.volumeGone}},
		{classes.Informer(), cache.ResourceEventHandlerFuncs{AddFunc: v.classCame, UpdateFunc: func(_, _ any) { v.queue.Add(item{}) }}},
	} {
		registered, err := watched.informer.AddEventHandler(watched.handler)
		if err != nil {
			return nil, fmt.Errorf("watching claims, volumes and classes: %w", err)
		}
		v.synced = append(v.synced, registered.HasSynced)
	}
	return v, nil
}

// changed queues what has changed: a claim has a namespace, a volume has none.
func (v *Volumes) changed(object any) {
	if o, ok := object.(metav1.Object); ok {
		v.queue.Add(item{o.GetNamespace(), o.GetName()})
	}
}

// volumeGone looks again at the claim of a volume that has gone: it may not have been
// bound yet.
func (v *Volumes) volumeGone(object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	if gone, ok := object.(*corev1.PersistentVolume); ok && ours(gone) && gone.Spec.ClaimRef != nil {
		v.queue.Add(item{gone.Spec.ClaimRef.Namespace, gone.Spec.ClaimRef.Name})
	}
}

// classCame looks again at the claims that a class was not there for. The binder has
// asked for their volumes, and does not ask twice.
func (v *Volumes) classCame(object any) {
	v.queue.Add(item{})
	class, ok := object.(*storagev1.StorageClass)
	if !ok || class.Provisioner != Provisioner {
		return
	}
	claims, err := v.claims.List(labels.Everything())
	if err != nil {
		utilruntime.HandleError(fmt.Errorf("listing the claims of StorageClass %s: %w", class.Name, err))
		return
	}
	for _, claim := range claims {
		if claim.Spec.VolumeName == "" && volume.GetPersistentVolumeClaimClass(claim) == class.Name {
			v.queue.Add(item{claim.Namespace, claim.Name})
		}
	}
}

// Run makes and deletes volumes until ctx is done, and returns when nothing is under
// way any more.
func (v *Volumes) Run(ctx context.Context) {
	defer v.queue.ShutDown()
	// Those that come last are dropped when it is shut down, without a complaint of each.
	sender := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	sender.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: v.config.Client.CoreV1().Events("")})
	defer sender.Shutdown()
	v.events = sender.NewRecorder(scheme.Scheme, corev1.EventSource{Component: Provisioner})
	if !cache.WaitForCacheSync(ctx.Done(), v.synced...) {
		return
	}
	v.queue.Add(item{})
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for v.work(ctx) {
			}
		})
	}
	<-ctx.Done()
	v.queue.ShutDown()
	running.Wait()
}

// work does one item. It says false when the queue has ended.
func (v *Volumes) work(ctx context.Context) bool {
	it, quit := v.queue.Get()
	if quit {
		return false
	}
	defer v.queue.Done(it)
	err := v.do(ctx, it)
	if err == nil || ctx.Err() != nil {
		v.queue.Forget(it)
		return true
	}
	if !apierrors.IsConflict(err) { // the informer has not come after somebody else yet
		utilruntime.HandleErrorWithContext(ctx, err, "Fake volumes will be tried again")
	}
	v.queue.AddRateLimited(it)
	return true
}

func (v *Volumes) do(ctx context.Context, it item) error {
	switch {
	case it.name == "":
		return v.keepClass(ctx)
	case it.namespace == "":
		return v.reclaim(ctx, it.name)
	default:
		return v.serve(ctx, it.namespace, it.name)
	}
}
