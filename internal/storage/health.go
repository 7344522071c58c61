package storage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
)

// probe runs check, at most twice in each timeout: callers between two runs get
// the last result, so that health endpoints can't be used to load etcd.
type probe struct {
	check   func(context.Context) error
	timeout time.Duration

	mu   sync.Mutex
	last time.Time
	err  error
}

func newProbe(check func(context.Context) error, timeout time.Duration) *probe {
	if timeout <= 0 {
		timeout = 2 * time.Second
	}
	return &probe{check: check, timeout: timeout, err: errors.New("etcd has not been asked yet")}
}

func (p *probe) run(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last) < p.timeout/2 {
		return p.err
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	p.last = time.Now()
	p.err = p.check(ctx)
	return p.err
}

// AddHealthChecks adds the checks that upstream adds for a dialled etcd, by the
// same names and groups: "etcd" for all three endpoints, "etcd-readiness" for
// /readyz (k8s.io/apiserver/pkg/server/options/etcd.go).
// Etcds that single resources are sent to (--etcd-servers-overrides) are checked as upstream does.
func (b *Backend) AddHealthChecks(c *server.Config, etcd *options.EtcdOptions) error {
	if etcd.SkipHealthEndpoints {
		return nil
	}
	// A probe outlives the request that asked for it: its result serves others.
	c.AddHealthChecks(healthz.NamedGroupedCheck("etcd", "etcd", func(*http.Request) error {
		return b.health.run(context.Background())
	}))
	c.AddReadyzChecks(healthz.NamedGroupedCheck("etcd-readiness", "etcd-readiness", func(*http.Request) error {
		return b.ready.run(context.Background())
	}))
	return addOverrideChecks(c, etcd)
}

func addOverrideChecks(c *server.Config, etcd *options.EtcdOptions) error {
	overrides, err := options.ParseEtcdServersOverrides(etcd.EtcdServersOverrides)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, override := range overrides {
		key := strings.Join(slices.Sorted(slices.Values(override.Servers)), ";")
		if seen[key] {
			continue
		}
		transport := etcd.StorageConfig
		transport.Transport.ServerList = override.Servers
		health, err := factory.CreateHealthCheck(transport, c.DrainedNotify())
		if err != nil {
			return fmt.Errorf("checking etcd %s: %w", key, err)
		}
		ready, err := factory.CreateReadyCheck(transport, c.DrainedNotify())
		if err != nil {
			return fmt.Errorf("checking etcd %s: %w", key, err)
		}
		c.AddHealthChecks(healthz.NamedGroupedCheck(fmt.Sprintf("etcd-override-%d", len(seen)), "etcd",
			func(*http.Request) error { return health() }))
		c.AddReadyzChecks(healthz.NamedGroupedCheck(fmt.Sprintf("etcd-override-readiness-%d", len(seen)), "etcd-readiness",
			func(*http.Request) error { return ready() }))
		seen[key] = true
	}
	return nil
}

func trimSlash(s string) string { return strings.Trim(s, "/") }
