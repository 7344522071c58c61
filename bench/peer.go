package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
)

// startPeer starts etcd, waits for its health, and then starts kube-apiserver,
// both with the flags that controller-runtime's envtest gives them. It is a
// little kinder than envtest: the certificates exist before the clock starts, and
// etcd is looked at every 5 ms.
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
	return instance, nil
}

func (l *lab) startPeerEtcd(ctx context.Context, s *side, so startOptions) (*process, string, error) {
	clientPort, err := freePort()
	if err != nil {
		return nil, "", err
	}
	peerPort, err := freePort()
	if err != nil {
		return nil, "", err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", clientPort)
	peerURL := fmt.Sprintf("http://127.0.0.1:%d", peerPort)
	args := []string{
		"--data-dir=" + filepath.Join(so.Dir, "etcd"),
		"--listen-client-urls=" + url,
		"--advertise-client-urls=" + url,
		"--listen-peer-urls=" + peerURL,
		"--initial-advertise-peer-urls=" + peerURL,
		"--initial-cluster=default=" + peerURL,
		"--enable-pprof", // for the goroutines row; without a reader it costs nothing
	}
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
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	host := fmt.Sprintf("https://127.0.0.1:%d", port)
	config := l.peer.clientConfig(host)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making the peer's client: %w", err)
	}
	args := []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir=" + so.Dir,
		"--tls-cert-file=" + l.peer.path("apiserver.crt"),
		"--tls-private-key-file=" + l.peer.path("apiserver.key"),
		"--client-ca-file=" + l.peer.path("ca.crt"),
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=" + host + "/",
		"--service-account-key-file=" + l.peer.path("service-account.key"),
		"--service-account-signing-key-file=" + l.peer.path("service-account.key"),
		"--disable-admission-plugins=ServiceAccount",
		"--allow-privileged=true",
		"--endpoint-reconciler-type=none", // it refuses loopback addresses
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
	return &instance{procs: procs, config: config, http: client, etcdURL: etcdURL}, nil
}
