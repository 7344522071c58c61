package controllers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/controllers/fakenodes"
	"github.com/kapi-dev/kapi/internal/controllers/fakevolumes"
	"github.com/kapi-dev/kapi/internal/controllers/informers"
	"github.com/kapi-dev/kapi/internal/controllers/record"
)

// reader is the user that fills the informers: upstream's controller manager itself.
const reader = "system:kube-controller-manager"

// term is what the controllers share while this server runs them. Nothing of it
// outlives the context that it was made with.
type term struct {
	cfg       Config
	api       API
	made      map[string]constructor
	retry     time.Duration
	informers *informers.Set
	served    *informers.Served
	mapper    meta.ResettableRESTMapper
	// graph is the garbage collector's; nil where that is off.
	graph *garbagecollector.GraphBuilder
	// started is closed when the informers that the constructors asked for run.
	started chan struct{}
}

func newTerm(ctx context.Context, m *Manager, api API) (*term, error) {
	t := &term{cfg: m.cfg, api: api, made: m.made, retry: m.retry, started: make(chan struct{})}
	config := t.as("informers", reader)
	if err := awaitNamespaces(ctx, config); err != nil {
		return nil, err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	cached := memory.NewMemCacheClient(client)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cached)
	t.mapper = mapper
	if t.informers, err = informers.New(config); err != nil {
		return nil, err
	}
	t.served = informers.NewServed(cached, func(now map[schema.GroupVersionResource]bool, changed bool) {
		if changed {
			mapper.Reset()
		}
		t.informers.Prune(now)
	})
	if err := t.served.Refresh(); err != nil {
		t.informers.Close()
		return nil, fmt.Errorf("asking which APIs are served: %w", err)
	}
	context.AfterFunc(ctx, t.served.Stop)
	return t, nil
}

// as returns a client configuration for a controller that acts as a user. Flow
// control of the server limits it, and no second limit of the client's own.
func (t *term) as(controller, user string) *rest.Config {
	config := rest.CopyConfig(t.api.Config)
	config.UserAgent = "kapi/controllers/" + controller
	config.QPS, config.RateLimiter = -1, nil
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	config.Wrap(whole)
	return config
}

// all returns a client with all rights, for what upstream's policy has no user for.
func (t *term) all(controller string) (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(t.as(controller, ""))
}

func (t *term) config(c catalog.Controller) *rest.Config { return t.as(c.Name, c.User()) }

func (t *term) client(c catalog.Controller) (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(t.config(c))
}

const (
	// namespacesPatience is how long a first start may take to make its namespaces.
	namespacesPatience = 10 * time.Second
	namespacesPoll     = 50 * time.Millisecond
)

// awaitNamespaces waits until there is a place for events: the layers make namespaces
// default and kube-system beside everything else. A server without them is none to
// wait for.
func awaitNamespaces(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, namespacesPatience)
	defer cancel()
	for _, name := range []string{metav1.NamespaceSystem, metav1.NamespaceDefault} {
		_ = wait.PollUntilContextCancel(ctx, namespacesPoll, true, func(ctx context.Context) (bool, error) {
			_, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
			return !apierrors.IsNotFound(err), nil // any other answer is not one to wait for
		})
	}
	return nil
}

// loop is a controller that was made: it runs until its context is done.
type loop func(context.Context)

// running is a controller that was made, with its context.
type running struct {
	*record.Record
	ctx  context.Context
	loop loop
}

// run makes the controllers that are on, starts the informers and runs all until
// ctx is done. One that can't be made does not keep the others from running; it is
// tried again.
func (t *term) run(ctx context.Context, records []*record.Record) {
	defer t.informers.Close()
	made, failed := t.makeAll(ctx, records)
	t.informers.Start(ctx.Done())
	close(t.started)
	var wg sync.WaitGroup
	start := func(all []running) {
		for _, one := range all {
			wg.Go(one.run)
		}
	}
	start(made)
	wg.Go(func() { t.removeFakes(ctx) })
	// Whoever maps kinds to resources relies on it, also where neither the garbage
	// collector nor quotas look.
	wg.Go(func() {
		wait.UntilWithContext(ctx, func(context.Context) { _, _ = t.served.ServerPreferredResources() }, informers.FollowEvery)
	})
	again := wait.Backoff{Duration: t.retry, Factor: 2, Steps: math.MaxInt, Cap: retryLongest}
	for len(failed) > 0 && sleep(ctx, again.Step()) {
		made, failed = t.makeAll(ctx, failed)
		t.informers.Start(ctx.Done())
		start(made)
	}
	<-ctx.Done()
	wg.Wait()
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// run runs the controller until its context is done. A loop that ends before has
// given up.
func (r running) run() {
	r.Enter(record.Running, "")
	r.loop(r.ctx)
	if r.ctx.Err() == nil {
		r.Fail(errors.New("it has ended by itself"))
	}
}

// makeAll makes the controllers that are on, and returns those that failed.
func (t *term) makeAll(ctx context.Context, records []*record.Record) (made []running, failed []*record.Record) {
	for _, r := range records {
		if !r.Enabled || ctx.Err() != nil {
			continue
		}
		one, err := t.make(ctx, r)
		switch {
		case err != nil:
			failed = append(failed, r)
		case one != nil:
			made = append(made, *one)
		}
	}
	return made, failed
}

// removeFakes takes away what an earlier start with fake nodes has left.
func (t *term) removeFakes(ctx context.Context) {
	for _, fake := range []struct {
		controller string
		wanted     bool
		remove     func(context.Context, kubernetes.Interface) error
	}{
		{catalog.FakeNodes, t.cfg.FakeNodes > 0, fakenodes.RemoveAll},
		{catalog.FakeVolumes, t.cfg.Selected.Has(catalog.FakeVolumes) && noBinder(t.cfg) == "", fakevolumes.RemoveClass},
	} {
		if fake.wanted {
			continue
		}
		client, err := t.all(fake.controller)
		if err == nil {
			err = fake.remove(ctx, client)
		}
		if err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "What a controller has made in an earlier start is still there", "controller", fake.controller)
		}
	}
}

// make makes one controller. Its record says why there is none.
func (t *term) make(ctx context.Context, r *record.Record) (*running, error) {
	construct := t.made[r.Name]
	why := construct.idle(t.cfg)
	if why == "" {
		why = t.missing(construct)
	}
	if why != "" {
		r.Enter(record.Off, why)
		return nil, nil
	}
	ctx, giveUp := context.WithCancel(r.Watch(ctx))
	loop, err := construct.make(ctx, t, r.Controller)
	if err != nil {
		giveUp() // what it has started by then ends
		klog.FromContext(ctx).Error(err, "Controller was not started and will be tried again")
		r.Enter(record.Failed, err.Error())
		return nil, err
	}
	context.AfterFunc(ctx, giveUp)
	return &running{r, ctx, loop}, nil
}
