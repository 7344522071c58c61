package chain

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
)

// Bootstrap objects are reconciled at every start. Upstream's two hooks sleep a
// second before they try, and then work through their objects one by one; these
// start at once and work side by side.
const (
	bootstrapRetry   = 50 * time.Millisecond
	bootstrapTimeout = 30 * time.Second
	bootstrapWorkers = 16
)

// bootstrapHooks replace upstream's hooks of the same name. The names stay:
// they are the names of health checks, which tools ask for.
var bootstrapHooks = []struct {
	name string
	// tasks returns what is to be reconciled, in stages; a task must be idempotent.
	tasks taskList
}{
	{rbacrest.PostStartHookName, rbacTasks},
	{schedulingrest.PostStartHookName, priorityClassTasks},
}

// taskList looks at the server and returns stages of tasks.
type taskList func(context.Context, kubernetes.Interface) ([][]task, error)

// task reconciles one object, or one small group of them.
type task struct {
	name string
	run  func(context.Context) error
}

// replacedHooks are disabled while the layer is built, then added as ours.
func replacedHooks() sets.Set[string] {
	names := sets.New[string]()
	for _, hook := range bootstrapHooks {
		names.Insert(hook.name)
	}
	return names
}

// disableReplacedHooks keeps upstream's hooks out of config, and returns the
// names that were not disabled already (as RBAC's is without RBAC).
func disableReplacedHooks(config *genericapiserver.Config) sets.Set[string] {
	replaced := replacedHooks().Difference(sets.New(config.DisabledPostStartHooks.List()...))
	config.DisabledPostStartHooks.Insert(replaced.UnsortedList()...)
	return replaced
}

// addBootstrapHooks adds our hooks in the place of those that disableReplacedHooks disabled.
func addBootstrapHooks(server *genericapiserver.GenericAPIServer, c *configs, replaced sets.Set[string]) error {
	// The server refuses a disabled name, and reads the set that the config has.
	c.kubeAPIs.ControlPlane.Generic.DisabledPostStartHooks.Delete(replaced.UnsortedList()...)
	for _, hook := range bootstrapHooks {
		if !replaced.Has(hook.name) {
			continue
		}
		run := c.inspector.Hooks().Func(LayerKubeAPIServer, hook.name, bootstrap(hook.name, hook.tasks))
		if err := server.AddPostStartHook(hook.name, run); err != nil {
			return err
		}
	}
	return nil
}

// bootstrap returns a hook that runs the stages of tasks, each stage side by
// side, until all of them have succeeded. Its error ends the server, as
// upstream's does: without the default roles nobody could do anything.
func bootstrap(name string, tasks taskList) genericapiserver.PostStartHookFunc {
	return func(hook genericapiserver.PostStartHookContext) error {
		client, err := kubernetes.NewForConfig(hook.LoopbackClientConfig)
		if err != nil {
			return fmt.Errorf("making a client for hook %s: %w", name, err)
		}
		var last error
		err = wait.PollUntilContextTimeout(hook, bootstrapRetry, bootstrapTimeout, true, func(ctx context.Context) (bool, error) {
			last = runStages(ctx, client, tasks)
			if last != nil {
				klog.V(1).InfoS("Bootstrap hook is going to try again", "hook", name, "err", last)
			}
			return last == nil, nil
		})
		if err != nil && hook.Err() == nil {
			return fmt.Errorf("reconciling bootstrap objects of %s: %w", name, last)
		}
		return nil
	}
}

// runStages returns the first error of the first stage with one.
func runStages(ctx context.Context, client kubernetes.Interface, tasks taskList) error {
	stages, err := tasks(ctx, client)
	if err != nil {
		return err
	}
	for _, stage := range stages {
		if err := runTasks(ctx, stage); err != nil {
			return err
		}
	}
	return nil
}

func runTasks(ctx context.Context, tasks []task) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		slots = make(chan struct{}, bootstrapWorkers)
	)
	for _, t := range tasks {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := t.run(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = fmt.Errorf("reconciling %s: %w", t.name, err)
				}
			}
		})
	}
	wg.Wait()
	return first
}
