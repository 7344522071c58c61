package storage

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// TestProbeIsRateLimited: who asks in between gets the last result.
func TestProbeIsRateLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls int
		result := errors.New("away")
		p := newProbe(func(context.Context) error { calls++; return result }, 2*time.Second)
		run := func(wantCalls int, want error) {
			t.Helper()
			if err := p.run(t.Context()); !errors.Is(err, want) || calls != wantCalls {
				t.Errorf("after %d calls: error %v, want %d calls and %v", calls, err, wantCalls, want)
			}
		}
		away := result
		run(1, away)
		for range 100 {
			run(1, away)
		}
		result = nil
		time.Sleep(999 * time.Millisecond)
		run(1, away) // still
		time.Sleep(time.Millisecond)
		run(2, nil)
		run(2, nil)
	})
}

// TestProbeEnds: a check that hangs is an error after the timeout.
func TestProbeEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 0)
		before := time.Now()
		if err := p.run(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(before) != 2*time.Second {
			t.Errorf("error %v after %v, want the deadline after the default of 2 s", err, time.Since(before))
		}
	})
}

func names(checks []healthz.HealthChecker) (all []string) {
	for _, c := range checks {
		all = append(all, c.Name())
	}
	slices.Sort(all)
	return all
}

func etcdOptions(b *Backend) *options.EtcdOptions {
	o := options.NewEtcdOptions(storagebackend.NewDefaultConfig(b.prefix, codecs().json))
	o.StorageConfig.Transport.ServerList = []string{b.endpoint}
	return o
}

func TestHealthChecks(t *testing.T) {
	t.Parallel()
	member := ownEtcd(t)
	b := New(Config{Client: member.Client(), Endpoint: member.Endpoint(), Prefix: "/registry",
		HealthTimeout: 20 * time.Millisecond, ReadyTimeout: 20 * time.Millisecond})
	t.Cleanup(b.Close)
	c := newServerConfig()
	before := len(c.HealthzChecks)
	if err := b.AddHealthChecks(c, etcdOptions(b)); err != nil {
		t.Fatal(err)
	}
	etcd := c.HealthzChecks[before]
	ready := c.ReadyzChecks[len(c.ReadyzChecks)-1]
	for where, all := range map[string][]string{
		"healthz": names(c.HealthzChecks), "livez": names(c.LivezChecks), "readyz": names(c.ReadyzChecks),
	} {
		if !slices.Contains(all, "etcd") || slices.Contains(all, "etcd-readiness") != (where == "readyz") {
			t.Errorf("%s has %v", where, all)
		}
	}
	request := httptest.NewRequest(http.MethodGet, "/readyz", nil)
	for _, check := range []healthz.HealthChecker{etcd, ready} {
		eventually(t, check.Name()+" is well", func() error { return check.Check(request) })
	}
	stopEtcd(t, member)
	for _, check := range []healthz.HealthChecker{etcd, ready} {
		eventually(t, check.Name()+" is not well", func() error {
			if err := check.Check(request); err == nil || !strings.Contains(err.Error(), "reading from embedded etcd") {
				return errors.New("it is still well")
			}
			return nil
		})
	}
}

// TestHealthChecksOfOverrides: each other etcd has its checks, once.
func TestHealthChecksOfOverrides(t *testing.T) {
	t.Parallel()
	f := newFixture(t, setup{})
	o := etcdOptions(f.backend)
	o.EtcdServersOverrides = []string{
		"/events#http://127.0.0.1:1;http://127.0.0.1:2", "apps/deployments#http://127.0.0.1:2;http://127.0.0.1:1", "/secrets#http://127.0.0.1:3",
	}
	c := newServerConfig()
	if err := f.backend.AddHealthChecks(c, o); err != nil {
		t.Fatal(err)
	}
	var of []string
	for _, name := range names(c.ReadyzChecks) {
		if strings.HasPrefix(name, "etcd") {
			of = append(of, name)
		}
	}
	want := []string{"etcd", "etcd-override-0", "etcd-override-1", "etcd-override-readiness-0", "etcd-override-readiness-1", "etcd-readiness"}
	if !slices.Equal(of, want) {
		t.Errorf("readyz has %v, want %v", of, want)
	}

	o.EtcdServersOverrides = []string{"nonsense"}
	if err := f.backend.AddHealthChecks(newServerConfig(), o); err == nil {
		t.Error("an override that is none is accepted")
	}
	o.SkipHealthEndpoints = true
	c = newServerConfig()
	if err := f.backend.AddHealthChecks(c, o); err != nil || slices.Contains(names(c.HealthzChecks), "etcd") {
		t.Errorf("skipping the checks: error %v, and healthz has %v", err, names(c.HealthzChecks))
	}
}
