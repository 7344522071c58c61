package chain_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/chain"
	"github.com/kapi-dev/kapi/internal/etcd"
	"github.com/kapi-dev/kapi/internal/globals"
	"github.com/kapi-dev/kapi/internal/inspect"
	"github.com/kapi-dev/kapi/internal/pki"
	"github.com/kapi-dev/kapi/internal/storage"
)

// The chain of this test binary. There is one: feature gates, metrics and
// capabilities are process-wide.
var served fixture

type fixture struct {
	once sync.Once
	err  error

	chain  *chain.Chain
	config *rest.Config
	stop   func() error
}

func TestMain(m *testing.M) {
	// Before any test defines flags.
	if err := globals.Prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if served.stop != nil {
		if err := served.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the chain:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// serve returns the running chain.
func serve(t *testing.T) *fixture {
	t.Helper()
	served.once.Do(func() { served.err = served.start() })
	if served.err != nil {
		t.Fatal(served.err)
	}
	return &served
}

func (f *fixture) client(t *testing.T) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(f.config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (f *fixture) start() error {
	dir, err := os.MkdirTemp("", "chain")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	material, err := pki.Ensure(pki.Options{Dir: filepath.Join(dir, "pki")})
	if err != nil {
		return err
	}
	member, err := etcd.Start(ctx, etcd.Config{Dir: filepath.Join(dir, "etcd"), RunDir: filepath.Join(dir, "run"), UnsafeNoFsync: true})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	options := chain.NewOptions()
	err = options.Default(chain.Paths{
		ClusterCA: material.ClusterCA.Cert, FrontProxyCA: material.FrontProxyCA.Cert,
		ServingCert: material.Serving.Cert, ServingKey: material.Serving.Key,
		ProxyCert: material.ProxyClient.Cert, ProxyKey: material.ProxyClient.Key,
		ServiceAccountKey: material.ServiceAccountKey, ServiceAccountPub: material.ServiceAccountPub,
		EtcdServers: []string{member.Endpoint()},
	}, func(string) bool { return false })
	if err != nil {
		return err
	}
	if err := globals.ApplyFeatureGates(); err != nil {
		return err
	}
	completed, err := options.Complete(ctx, listener, chain.Around{Etcd: true})
	if err != nil {
		return err
	}
	backend := storage.New(storage.Config{Client: member.Client(), Endpoint: member.Endpoint(), Prefix: "/registry"})
	f.chain, err = chain.New(chain.Config{Options: completed, Backend: backend,
		Inspect: inspect.Options{Observe: true, WatchRate: 500}, Start: inspect.NewStart(nil, ""),
		Etcd:       chain.Etcd{Client: member.Client(), Endpoints: []string{member.Endpoint()}},
		GitVersion: "v1.37.2"})
	if err != nil {
		return err
	}
	f.config = rest.CopyConfig(f.chain.Outermost().LoopbackClientConfig)
	f.config.QPS = -1
	running, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.chain.Run(running) }()
	f.stop = func() error {
		end()
		err := <-ended
		backend.Close()
		stopping, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return errors.Join(err, member.Stop(stopping), os.RemoveAll(dir))
	}
	return f.waitReady(ctx, ended)
}

func (f *fixture) waitReady(ctx context.Context, ended <-chan error) error {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		recorder := httptest.NewRecorder()
		f.chain.Unprotected().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/readyz?verbose", nil))
		if recorder.Code == http.StatusOK {
			return nil
		}
		select {
		case <-ticker.C:
		case err := <-ended:
			return fmt.Errorf("the chain ended: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("the chain is not ready: %s", recorder.Body)
		}
	}
}
