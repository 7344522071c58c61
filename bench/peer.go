package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

// startPeer starts etcd, waits for its health, and then starts kube-apiserver,
// both with the flags that controller-runtime's envtest gives them. It is a
// little kinder than envtest: the certificates exist before the clock starts, and
// etcd is looked at every 5 ms. A kube-controller-manager, where one is asked for,
// starts when kube-apiserver is ready; nobody waits for it.
func (l *lab) startPeer(ctx context.Context, s *side, so startOptions) (*instance, error) {
	etcd, etcdURL, err := l.startPeerEtcd(ctx, s, so)
	if err != nil {
		return nil, err
	}
	instance, err := l.startPeerAPIServer(ctx, s, so, etcd, etcdURL)
	if err != nil {
		etcd.kill()
		return nil, err
	}
	instance.startup = time.Since(etcd.started)
	if so.Manager != "" {
		if err := l.startManager(s, so, instance); err != nil {
			instance.kill()
			return nil, err
		}
	}
	return instance, nil
}

func (l *lab) startPeerEtcd(ctx context.Context, s *side, so startOptions) (*process, string, error) {
	clientPort, err := peer.FreePort()
	if err != nil {
		return nil, "", err
	}
	peerPort, err := peer.FreePort()
	if err != nil {
		return nil, "", err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", clientPort)
	args := append(peer.EtcdArguments(filepath.Join(so.Dir, "etcd"), clientPort, peerPort),
		"--enable-pprof") // for the goroutines row; without a reader it costs nothing
	if !so.Fsync {
		args = append(args, "--unsafe-no-fsync")
	}
	p, err := l.startProcess(s, "etcd of "+s.Label, l.bins.Etcd, args)
	if err != nil {
		return nil, "", err
	}
	client := &http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	err = awaitReady(ctx, []*process{p}, url+"/health", func() (*http.Client, error) { return client, nil })
	if err != nil {
		p.kill()
		return nil, "", err
	}
	return p, url, nil
}

func (l *lab) startPeerAPIServer(ctx context.Context, s *side, so startOptions, etcd *process, etcdURL string) (*instance, error) {
	port, err := peer.FreePort()
	if err != nil {
		return nil, err
	}
	host := fmt.Sprintf("https://127.0.0.1:%d", port)
	config := l.peer.ClientConfig(host)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making the peer's client: %w", err)
	}
	args := peer.APIServerArguments(so.Dir, l.peer, etcdURL, port)
	if so.Manager != "" || so.Admission {
		args = slices.DeleteFunc(args, func(a string) bool { return a == "--disable-admission-plugins=ServiceAccount" })
	}
	p, err := l.startProcess(s, "kube-apiserver of "+s.Label, l.bins.APIServer, append(args, s.spec.Args...))
	if err != nil {
		return nil, err
	}
	procs := []*process{etcd, p}
	err = awaitReady(ctx, procs, host+"/readyz", func() (*http.Client, error) { return client, nil })
	if err != nil {
		p.kill()
		return nil, err
	}
	return &instance{procs: procs, config: config, http: client, urls: []string{etcdURL, host}}, nil
}
