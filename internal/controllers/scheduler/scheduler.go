// Package scheduler is upstream's scheduler inside this process: the default
// profile with all of its plugins, over informers that others use too.
//
// It decides nothing about pods itself. It elects no leader, opens no port and
// reads no configuration file; whoever constructs it does so once for each term
// of leadership. It is a client of the API and may import client-go,
// k8s.io/kubernetes/pkg/scheduler and fault.
package scheduler

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// Config is what a scheduler needs. Both fields are required.
type Config struct {
	// Client acts as system:kube-scheduler. It writes bindings, conditions of
	// pods that fit nowhere, and events.
	Client kubernetes.Interface
	// Informers are shared. The caller starts them after New; Run waits for those
	// that the scheduler reads. Objects in them may come without managed fields.
	Informers informers.SharedInformerFactory
}

func (c Config) validate() error {
	if c.Client == nil || c.Informers == nil {
		return errors.New("constructing the scheduler: a client and informers are required")
	}
	return nil
}

// broadcaster is the part of upstream's adapter for events that is used here; its own
// interface is on its way out.
type broadcaster interface {
	StartRecordingToSink(stop <-chan struct{})
	NewRecorder(name string) events.EventRecorderLogger
	Shutdown()
}

// Scheduler binds pods to nodes. It is for one call of Run.
type Scheduler struct {
	upstream *upstream.Scheduler
	events   broadcaster
	// silent is closed when the broadcaster of events has ended.
	silent chan struct{}
}

// New makes a scheduler with the default configuration of kube-scheduler. It asks
// the server whether events.k8s.io is served, and requests its informers from the
// factory. Upstream starts helpers here already (metrics, the expiry of assumed
// pods, a dump on SIGUSR2); they end with ctx, which must be the context of Run or
// one that ends no later.
func New(ctx context.Context, config Config) (*Scheduler, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	defaults, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("constructing the scheduler: reading its default configuration: %w", err)
	}

	s := &Scheduler{
		events: events.NewEventBroadcasterAdapterWithContext(ctx, config.Client),
		silent: make(chan struct{}),
	}
	context.AfterFunc(ctx, func() {
		defer close(s.silent)
		s.events.Shutdown()
	})
	recorder := profile.RecorderFactory(func(name string) events.EventRecorderLogger {
		return s.events.NewRecorder(name)
	})

	// No dynamic informers and no REST configuration: only plugins from outside the
	// tree want them, and the default profile has none.
	s.upstream, err = upstream.New(ctx, config.Client, activePodsOf(config.Informers), nil, recorder,
		upstream.WithComponentConfigVersion(defaults.APIVersion),
		upstream.WithProfiles(defaults.Profiles...),
		upstream.WithExtenders(defaults.Extenders...),
		upstream.WithParallelism(defaults.Parallelism),
		upstream.WithPercentageOfNodesToScore(defaults.PercentageOfNodesToScore),
		upstream.WithPodInitialBackoffSeconds(defaults.PodInitialBackoffSeconds),
		upstream.WithPodMaxBackoffSeconds(defaults.PodMaxBackoffSeconds),
	)
	if err != nil {
		return nil, fmt.Errorf("constructing the scheduler: %w", err)
	}
	return s, nil
}

// Run schedules until ctx is done, once the informers have been delivered
// completely: with half of the pods a node looks emptier than it is. When it
// returns, nothing is scheduled any more; a binding that was under way ends with
// its request, which ctx cuts off.
func (s *Scheduler) Run(ctx context.Context) {
	s.events.StartRecordingToSink(ctx.Done())
	if s.upstream.WaitForHandlersSync(ctx) == nil {
		s.upstream.Run(ctx)
	}
	<-ctx.Done()
	<-s.silent
}
