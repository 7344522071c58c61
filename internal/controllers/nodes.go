package controllers

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/features"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/controllers/fakenodes"
	"github.com/kapi-dev/kapi/internal/controllers/fakevolumes"
	"github.com/kapi-dev/kapi/internal/controllers/scheduler"
)

// nodeConstructors are those of the set nodes.
func nodeConstructors() map[string]constructor {
	return map[string]constructor{
		// It looks at what spreads pods, and at volumes, whether there is any or not.
		catalog.Scheduler: {resources: append(podGroupsIf(features.GenericWorkload),
			resource("apps", "v1", "replicasets"), resource("apps", "v1", "statefulsets"), resource("policy", "v1", "poddisruptionbudgets"),
			resource("storage.k8s.io", "v1", "storageclasses"), resource("storage.k8s.io", "v1", "csinodes"),
		), make: with(makeScheduler)},
		catalog.FakeNodes: {make: makeFakeNodes},
		catalog.FakeVolumes: {resources: []schema.GroupVersionResource{resource("storage.k8s.io", "v1", "storageclasses")},
			off: noBinder, make: makeFakeVolumes},
	}
}

func makeScheduler(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	schedules, err := scheduler.New(ctx, scheduler.Config{Client: client, Informers: t.informers.Typed})
	if err != nil {
		return nil, err
	}
	return schedules.Run, nil
}

// makeFakeNodes gives each node a client that may do what a kubelet may, and no more.
// Without the Node authorizer a node may do nothing, and so all act with full rights.
func makeFakeNodes(ctx context.Context, t *term, c catalog.Controller) (loop, error) {
	admin, err := t.all(c.Name)
	if err != nil {
		return nil, fmt.Errorf("making the client of all nodes: %w", err)
	}
	nodes, err := fakenodes.New(ctx, fakenodes.Config{
		Count: t.cfg.FakeNodes, Families: t.cfg.Families, KubeletVersion: t.cfg.KubeletVersion, Admin: admin, Informers: t.informers.Typed,
		Client: func(node string) (kubernetes.Interface, error) {
			if !t.cfg.NodeAuthorizer {
				return admin, nil
			}
			config := t.as(c.Name, "system:node:"+node)
			config.Impersonate.Groups = []string{"system:nodes"}
			return kubernetes.NewForConfig(config)
		},
	})
	if err != nil {
		return nil, err
	}
	return nodes.Run, nil
}

// noBinder says why there is nothing to make volumes for.
func noBinder(cfg Config) string {
	if cfg.Selected.Has(catalog.VolumeBinder) {
		return ""
	}
	return "Controller " + catalog.VolumeBinder + ", which asks for volumes and binds them, is off."
}

// makeFakeVolumes gives it the rights of the binder, which makes and deletes volumes too.
func makeFakeVolumes(ctx context.Context, t *term, c catalog.Controller) (loop, error) {
	client, err := t.client(c)
	if err != nil {
		return nil, err
	}
	admin, err := t.all(c.Name)
	if err != nil {
		return nil, fmt.Errorf("making the client of the StorageClass: %w", err)
	}
	volumes, err := fakevolumes.New(ctx, fakevolumes.Config{Client: client, Admin: admin, Informers: t.informers.Typed})
	if err != nil {
		return nil, err
	}
	return volumes.Run, nil
}
