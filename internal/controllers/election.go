package controllers

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// LeaseName is the Lease in namespace kube-system that the leader holds.
const LeaseName = "kapi-controllers"

// Election says how several servers on one etcd agree on who runs the controllers.
type Election struct {
	// Identity names this server. It must be another one for each server that runs at
	// the same time, and should be the same after a restart: who holds the lease
	// already does not wait for it.
	Identity string
	// LeaseDuration is how long the others wait for a leader that says nothing more.
	LeaseDuration time.Duration
}

// The parts of a lease's duration, as kube-controller-manager has them: 15 s, 10 s, 2 s.
const (
	renewPart = 2.0 / 3
	retryPart = 2.0 / 15
)

// elect runs the controllers whenever this server holds the lease, until ctx is done.
func (m *Manager) elect(ctx context.Context, api API) {
	for ctx.Err() == nil {
		if err := m.campaign(ctx, api); err != nil && ctx.Err() == nil {
			m.log.Error(err, "Leader election ended and will begin again", "lease", LeaseName, "after", retryTerm)
			select {
			case <-ctx.Done():
			case <-time.After(retryTerm):
			}
		}
	}
}

// campaign waits for the lease, leads while it has it, and returns when it has lost
// it or ctx is done. The lease is given back when all controllers have stopped, so
// that the next leader does not begin beside them.
func (m *Manager) campaign(ctx context.Context, api API) error {
	lock, err := m.lease(ctx, api)
	if err != nil {
		return err
	}
	candidacy, withdraw := context.WithCancel(context.WithoutCancel(ctx))
	defer withdraw()
	led := make(chan struct{})
	leading := make(chan struct{})
	config := leaderelection.LeaderElectionConfig{
		Lock: lock, Name: LeaseName, ReleaseOnCancel: true,
		LeaseDuration: m.cfg.Election.LeaseDuration,
		RenewDeadline: part(m.cfg.Election.LeaseDuration, renewPart),
		RetryPeriod:   part(m.cfg.Election.LeaseDuration, retryPart),
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(lease context.Context) {
				defer close(led)
				close(leading)
				term, end := context.WithCancel(lease)
				defer end()
				defer context.AfterFunc(ctx, end)()
				m.log.Info("This server runs the controllers", "identity", m.cfg.Election.Identity)
				m.lead(term, api)
			},
			OnStoppedLeading: func() {},
			OnNewLeader:      m.setHolder,
		},
	}
	elector, err := leaderelection.NewLeaderElector(config)
	if err != nil {
		return fmt.Errorf("configuring leader election: %w", err)
	}
	m.each(func(r *record) { r.set(phaseStandby, "") })
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-leading:
			<-led
		default:
		}
		withdraw()
	})
	defer stop()
	elector.Run(candidacy)
	select {
	case <-leading:
		<-led
	default:
	}
	if ctx.Err() == nil {
		m.log.Info("This server has lost the lease of the controllers", "identity", m.cfg.Election.Identity)
	}
	m.setHolder("")
	return nil
}

// lease returns the lock, once there is a namespace to keep it in.
func (m *Manager) lease(ctx context.Context, api API) (resourcelock.Interface, error) {
	config := rest.CopyConfig(api.Config)
	config.UserAgent = "kapi/controllers/leader-election"
	config.QPS, config.RateLimiter = -1, nil
	// A request that hangs must not outlast the deadline.
	config.Timeout = part(m.cfg.Election.LeaseDuration, renewPart) / 2
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		return err == nil || !apierrors.IsNotFound(err), err
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for namespace %s: %w", metav1.NamespaceSystem, err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: LeaseName},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: m.cfg.Election.Identity},
	}, nil
}

func part(d time.Duration, of float64) time.Duration { return time.Duration(float64(d) * of) }

func (m *Manager) setHolder(identity string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holder = identity
}
