package controllers

import (
	"context"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/resourceclaim"
	"k8s.io/kubernetes/pkg/controller/volume/ephemeral"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
)

// bindVolumesEvery is how often the binder looks at all claims and volumes again.
const bindVolumesEvery = 15 * time.Second

// makeVolumeBinder makes it without the code of any storage: a plugin that recycles
// or deletes host paths has no place on the machine of a developer. Provisioners
// outside of the tree need none.
func makeVolumeBinder(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	binder, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
		KubeClient: client, SyncPeriod: bindVolumesEvery, EnableDynamicProvisioning: true,
		VolumeInformer: core.PersistentVolumes(), ClaimInformer: core.PersistentVolumeClaims(),
		ClassInformer: t.informers.Typed.Storage().V1().StorageClasses(),
		PodInformer:   core.Pods(), NodeInformer: core.Nodes(),
	})
	if err != nil {
		return nil, err
	}
	return binder.Run, nil
}

func makeEphemeralVolumes(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	claims, err := ephemeral.NewController(ctx, client, core.Pods(), core.PersistentVolumeClaims())
	if err != nil {
		return nil, err
	}
	return workers(claims.Run, workloadWorkers), nil
}

func makeResourceClaims(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	resources := t.informers.Typed.Resource().V1()
	claims, err := resourceclaim.NewController(klog.FromContext(ctx), client, t.informers.Typed.Core().V1().Pods(),
		t.informers.Typed.Scheduling().V1beta1().PodGroups(), resources.ResourceClaims(), resources.ResourceClaimTemplates())
	if err != nil {
		return nil, err
	}
	return workers(claims.Run, workloadWorkers), nil
}
