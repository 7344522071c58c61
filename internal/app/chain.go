package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/chain"
	"github.com/kapi-dev/kapi/internal/config"
	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/globals"
	"github.com/kapi-dev/kapi/internal/inspect"
	"github.com/kapi-dev/kapi/internal/storage"
)

// readyPoll is how often /readyz is asked while the chain starts; the call
// stays inside the process and costs microseconds.
const readyPoll = 5 * time.Millisecond

// running is a server chain that serves.
type running struct {
	*chain.Chain

	backend *storage.Backend
	cancel  context.CancelFunc
	// ended is closed when serving has ended; err says how.
	ended  chan struct{}
	err    error
	failed chan error
}

// startChain builds the chain, serves, and returns when /readyz says so.
func (s *server) startChain(ctx context.Context) error {
	cfg, err := s.chainConfig(ctx)
	if err != nil {
		return err
	}
	if s.chain.Chain, err = chain.New(cfg); err != nil {
		s.closeBackend()
		return err
	}
	s.chain.run()
	if err := s.chain.waitReady(ctx); err != nil {
		s.chain.settle()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopAfterFailure)
		defer cancel()
		return errors.Join(err, s.stopChain(stop))
	}
	return nil
}

// stopAfterFailure bounds the stop of a chain that did not become ready.
const stopAfterFailure = 5 * time.Second

// chainConfig applies all flags and makes the backend.
func (s *server) chainConfig(ctx context.Context) (chain.Config, error) {
	services, err := s.serviceMap()
	if err != nil {
		return chain.Config{}, err
	}
	if err := s.setFlags(); err != nil {
		return chain.Config{}, err
	}
	compaction, health, ready := s.kube.StorageTimes()
	if s.identity, err = s.dir.Identity(); err != nil {
		return chain.Config{}, err
	}
	options, err := s.kube.Complete(ctx, s.listener, chain.Around{Etcd: s.embedded(), ServiceAccounts: s.controls(catalog.ServiceAccount)})
	if err != nil {
		return chain.Config{}, err
	}
	if err := s.makeControllers(options); err != nil {
		return chain.Config{}, err
	}
	if s.embedded() {
		s.chain.backend = storage.New(storage.Config{
			Client: s.etcd.Client(), Endpoint: s.etcd.Endpoint(), Prefix: s.cfg.Etcd.Prefix,
			CompactionInterval: compaction, HealthTimeout: health, ReadyTimeout: ready,
		})
	}
	return chain.Config{Options: options, Backend: s.chain.backend, Services: services, Nowhere: s.nowhere(), GitVersion: gitVersion(),
		Inspect: s.inspectOptions(), Given: s.given(), Start: s.boot, Controllers: s.controllers.Objects, Identity: s.identity,
		Etcd: chain.Etcd{Client: s.etcdClient, Endpoints: s.endpoints, Quota: s.quota()}}, nil
}

// quota is known of the embedded etcd only.
func (s *server) quota() int64 {
	if !s.embedded() {
		return 0
	}
	return int64(s.cfg.Etcd.QuotaBytes)
}

// given says which flags of kube-apiserver the user has given.
func (s *server) given() func(flag string) bool {
	given := map[string]bool{}
	for _, flag := range s.cfg.KubeAPIServer.Flags {
		given[flag.Name] = true
	}
	return func(flag string) bool { return given[flag] }
}

func (s *server) inspectOptions() inspect.Options {
	c := s.cfg.Inspect
	return inspect.Options{
		Observe: c.Observe, Traces: c.Traces, NotableTraces: c.NotableTraces,
		SlowerThan: c.SlowerThan.Std(), WatchRate: c.WatchRate,
	}
}

// setFlags puts kapi's defaults, kapi's own keys and the given flags into
// force, in this order.
func (s *server) setFlags() error {
	err := s.kube.Default(chain.Paths{
		ClusterCA: s.pki.ClusterCA.Cert, FrontProxyCA: s.pki.FrontProxyCA.Cert,
		ServingCert: s.pki.Serving.Cert, ServingKey: s.pki.Serving.Key,
		ProxyCert: s.pki.ProxyClient.Cert, ProxyKey: s.pki.ProxyClient.Key,
		ServiceAccountKey: s.pki.ServiceAccountKey, ServiceAccountPub: s.pki.ServiceAccountPub,
		EtcdServers: s.endpoints,
		Loopback:    s.loopback(),
	}, s.given())
	if err != nil {
		return err
	}
	own := []config.Flag{{Name: "bind-address", Value: s.cfg.Server.BindAddress}, {Name: "etcd-prefix", Value: s.cfg.Etcd.Prefix}}
	if !s.embedded() {
		own = append(own, config.Flag{Name: "etcd-cafile", Value: s.cfg.Etcd.CAFile},
			config.Flag{Name: "etcd-certfile", Value: s.cfg.Etcd.CertFile}, config.Flag{Name: "etcd-keyfile", Value: s.cfg.Etcd.KeyFile})
	}
	if err := config.SetKubeFlags(s.kube.FlagSet(), append(own, s.cfg.KubeAPIServer.Flags...)); err != nil {
		return err
	}
	return globals.ApplyFeatureGates()
}

func (r *running) run() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.ended, r.failed = cancel, make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(r.ended)
		if r.err = r.Run(ctx); r.err == nil && ctx.Err() == nil {
			r.err = errors.New("serving ended without being asked to")
		}
		if r.err != nil && ctx.Err() == nil {
			r.failed <- r.err
		}
	}()
}

// waitReady asks /readyz inside the process, past authentication, until it is ok.
func (r *running) waitReady(ctx context.Context) error {
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		answer := r.readyz(ctx)
		if answer == "" {
			return nil
		}
		select {
		case <-r.ended:
			return r.err
		case <-ctx.Done():
			return fmt.Errorf("waiting for /readyz: %w; not ready: %s", context.Cause(ctx), answer)
		case <-ticker.C:
		}
	}
}

// settle lets the post-start hooks end before a chain that nobody waits for any
// more is stopped: a hook that is cut off ends the process through klog's fatal
// exit, and etcd would not close its files.
func (r *running) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	_ = r.waitReady(ctx)
}

// settleTimeout bounds that for hooks that hang.
const settleTimeout = 10 * time.Second

// readyz returns the checks that fail, or "" when there is none.
func (r *running) readyz(ctx context.Context) string {
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz?verbose", nil)
	recorder := httptest.NewRecorder()
	r.Unprotected().ServeHTTP(recorder, request)
	if recorder.Code == http.StatusOK {
		return ""
	}
	var failing []string
	for line := range strings.Lines(recorder.Body.String()) {
		if check, ok := strings.CutPrefix(line, "[-]"); ok {
			name, _, _ := strings.Cut(check, " ")
			failing = append(failing, name)
		}
	}
	return strings.Join(failing, ", ") + " "
}

// stopChain ends serving: readyz fails, running requests finish, watches close.
func (s *server) stopChain(ctx context.Context) error {
	defer s.closeBackend()
	s.chain.cancel()
	patience := time.NewTimer(max(s.chainTimeout()-forceTime, s.chainTimeout()/2))
	defer patience.Stop()
	select {
	case <-s.chain.ended:
		return s.chain.err
	case <-ctx.Done():
		return fmt.Errorf("ending requests: %w", ctx.Err())
	case <-patience.C:
		s.log.Warn("closing connections whose requests have not ended", "connections", s.listener.closeAll())
	}
	select {
	case <-s.chain.ended:
		return s.chain.err
	case <-ctx.Done():
		return fmt.Errorf("ending requests: %w", ctx.Err())
	}
}

// forceTime is how long before the end of its time a stop loses patience.
const forceTime = 5 * time.Second

func (s *server) closeBackend() {
	if s.chain.backend != nil {
		s.chain.backend.Close()
	}
}

func (s *server) chainFailed() <-chan error { return s.chain.failed }

// chainTimeout leaves time for etcd to close its files after the last request.
func (s *server) chainTimeout() time.Duration {
	const forEtcd = 5 * time.Second
	return max(s.cfg.Lifecycle.StopTimeout.Std()-forEtcd, time.Second)
}
