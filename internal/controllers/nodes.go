package controllers

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/controllers/fakenodes"
	"github.com/kapi-dev/kapi/internal/controllers/scheduler"
)

// nodeConstructors are those of the set nodes.
func nodeConstructors() map[string]constructor {
	return map[string]constructor{
		catalog.Scheduler: {make: makeScheduler},
		catalog.FakeNodes: {make: makeFakeNodes},
	}
}

func makeScheduler(ctx context.Context, t *term, c catalog.Controller) (loop, error) {
	client, err := t.client(c)
	if err != nil {
		return nil, err
	}
	schedules, err := scheduler.New(ctx, scheduler.Config{Client: client, Informers: t.informers.Typed})
	if err != nil {
		return nil, err
	}
	return schedules.Run, nil
}

// makeFakeNodes gives each node a client that may do what a kubelet may, and no more.
func makeFakeNodes(ctx context.Context, t *term, c catalog.Controller) (loop, error) {
	admin, err := t.all(c.Name)
	if err != nil {
		return nil, fmt.Errorf("making the client of all nodes: %w", err)
	}
	nodes, err := fakenodes.New(ctx, fakenodes.Config{
		Count: t.cfg.FakeNodes, KubeletVersion: t.cfg.KubeletVersion, Admin: admin, Informers: t.informers.Typed,
		Client: func(node string) (kubernetes.Interface, error) {
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
