// Package election lets one of several servers on one etcd run the controllers: the
// one that holds a Lease.
//
// It knows no controller. It may import client-go only.
package election

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// LeaseName is the Lease in namespace kube-system that the leader holds.
const LeaseName = "kapi-controllers"

// Config says how several servers agree on who leads.
type Config struct {
	// Identity names this server. It must be another one for each server that runs at
	// the same time, and should be the same after a restart: who holds the lease
	// already does not wait for it.
	Identity string
	// LeaseDuration is how long the others wait for a leader that says nothing more:
	// whole seconds, since a Lease can't say less.
	LeaseDuration time.Duration
	// Client reaches the server, with the right to write the Lease.
	Client *rest.Config
	// Lead does what the leader does, until its context is done. Each of its requests
	// must go through the fence.
	Lead func(context.Context, Fence)
	// Holder is told who leads, "" when that is not known.
	Holder func(identity string)
	Log    klog.Logger
}

// The parts of a lease's duration, as kube-controller-manager has them: 15 s, 10 s, 2 s.
const (
	renewPart = 2.0 / 3
	retryPart = 2.0 / 15
)

// retry is how long after an election that could not be held there is another.
const retry = 5 * time.Second

// Run leads whenever this server holds the lease, until ctx is done and Lead has
// returned.
func Run(ctx context.Context, cfg Config) {
	for ctx.Err() == nil {
		if err := cfg.campaign(ctx); err != nil && ctx.Err() == nil {
			cfg.Log.Error(err, "Leader election ended and will begin again", "lease", LeaseName, "after", retry)
			select {
			case <-ctx.Done():
			case <-time.After(retry):
			}
		}
	}
}

// campaign waits for the lease, leads while it has it, and returns when it has lost
// it or ctx is done. The lease is given back when all controllers have stopped, so
// that the next leader does not begin beside them.
func (cfg Config) campaign(ctx context.Context) error {
	lease, err := cfg.lease(ctx)
	if err != nil {
		return err
	}
	lock := &renewals{Interface: lease}
	candidacy, withdraw := context.WithCancel(context.WithoutCancel(ctx))
	defer withdraw()
	led := &leadership{ended: make(chan struct{})}
	var elector *leaderelection.LeaderElector
	elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, Name: LeaseName,
		LeaseDuration: cfg.LeaseDuration,
		RenewDeadline: part(cfg.LeaseDuration, renewPart),
		RetryPeriod:   part(cfg.LeaseDuration, retryPart),
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(lease context.Context) {
				if !led.begin() {
					return
				}
				defer close(led.ended)
				term, end := context.WithCancel(lease)
				defer end()
				defer context.AfterFunc(ctx, end)()
				cfg.Log.Info("This server runs the controllers", "identity", cfg.Identity)
				cfg.Lead(term, lock.fence(part(cfg.LeaseDuration, renewPart)))
			},
			OnStoppedLeading: func() {},
			// Each call has a goroutine of its own, and two can come in the wrong order.
			OnNewLeader: func(string) {
				led.mu.Lock()
				defer led.mu.Unlock()
				if !led.over {
					cfg.Holder(elector.GetLeader())
				}
			},
		},
	})
	if err != nil {
		return fmt.Errorf("configuring leader election: %w", err)
	}
	stop := context.AfterFunc(ctx, func() {
		led.wait()
		withdraw()
	})
	defer stop()
	elector.Run(candidacy)
	led.wait()
	if ctx.Err() != nil {
		cfg.release(context.WithoutCancel(ctx), lock)
	} else {
		cfg.Log.Info("This server has lost the lease of the controllers", "identity", cfg.Identity)
	}
	cfg.Holder("")
	return nil
}

// leadership is one time in office, or the wait for it.
type leadership struct {
	mu    sync.Mutex
	begun bool
	// over says that it must not begin any more.
	over  bool
	ended chan struct{}
}

// begin tells whether to lead. Upstream calls back from a goroutine of its own, which
// may come when the lease is lost again.
func (l *leadership) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = !l.over
	return l.begun
}

// wait returns when the leadership has ended, and does not let it begin if it has not.
func (l *leadership) wait() {
	l.mu.Lock()
	l.over = true
	begun := l.begun
	l.mu.Unlock()
	if begun {
		<-l.ended
	}
}

// release gives the lease back, so that nobody has to wait for its end. Upstream's own
// (ReleaseOnCancel) is also tried with a lease that is lost, and the leader would go on
// leading while it waits for an answer.
func (cfg Config) release(ctx context.Context, lock resourcelock.Interface) {
	ctx, cancel := context.WithTimeout(ctx, part(cfg.LeaseDuration, retryPart))
	defer cancel()
	record, _, err := lock.Get(ctx)
	if err != nil || record.HolderIdentity != cfg.Identity {
		return
	}
	now := metav1.Now()
	err = lock.Update(ctx, resourcelock.LeaderElectionRecord{
		LeaderTransitions: record.LeaderTransitions, LeaseDurationSeconds: 1, AcquireTime: now, RenewTime: now,
	})
	if err != nil {
		cfg.Log.V(1).Info("The lease of the controllers was not given back", "err", err)
	}
}

// lease returns the lock, once there is a namespace to keep it in.
func (cfg Config) lease(ctx context.Context) (resourcelock.Interface, error) {
	config := rest.CopyConfig(cfg.Client)
	config.UserAgent = "kapi/controllers/leader-election"
	config.QPS, config.RateLimiter = -1, nil
	// A request that hangs must not outlast the deadline.
	config.Timeout = part(cfg.LeaseDuration, renewPart) / 2
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		// Let end by itself: the server would complain of a request that is given up.
		_, err := client.CoreV1().Namespaces().Get(context.WithoutCancel(ctx), metav1.NamespaceSystem, metav1.GetOptions{})
		return err == nil || !apierrors.IsNotFound(err), err
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for namespace %s: %w", metav1.NamespaceSystem, err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: LeaseName},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: cfg.Identity},
	}, nil
}

func part(d time.Duration, of float64) time.Duration { return time.Duration(float64(d) * of) }
