package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

// startKapi starts `kapi serve` and returns when it is ready. The certificates
// are kapi's own and, in a new directory, made within the measured time.
func (l *lab) startKapi(ctx context.Context, s *side, so startOptions) (*instance, error) {
	port, err := peer.FreePort()
	if err != nil {
		return nil, err
	}
	bin := s.spec.Bin
	if bin == "" {
		bin = l.bins.Kapi
	}
	args := []string{"serve", "--data-dir", so.Dir, "--secure-port", strconv.Itoa(port)}
	if !so.Fsync {
		args = append(args, "--etcd-unsafe-no-fsync")
	}
	p, err := l.startProcess(s, s.Label, bin, slices.Concat(args, so.Args, s.spec.Args))
	if err != nil {
		return nil, err
	}
	host := fmt.Sprintf("https://127.0.0.1:%d", port)
	kc := &kubeconfigClient{file: filepath.Join(so.Dir, "kubeconfig"), host: host}
	if err := awaitReady(ctx, []*process{p}, host+"/readyz", kc.connect); err != nil {
		p.kill()
		return nil, err
	}
	return &instance{
		procs: []*process{p}, startup: time.Since(p.started), config: kc.config, http: kc.client, urls: []string{host},
	}, nil
}

// kubeconfigClient is a client made from a kubeconfig that the server may not
// have written yet, or, in an existing directory, may write again.
type kubeconfigClient struct {
	file, host string
	modified   time.Time
	config     *rest.Config
	client     *http.Client
}

// connect returns the client of the file as it is now, and nil while there is no file.
func (k *kubeconfigClient) connect() (*http.Client, error) {
	info, err := os.Stat(k.file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the kubeconfig: %w", err)
	}
	if k.client != nil && info.ModTime().Equal(k.modified) {
		return k.client, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", k.file)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.Host = k.host // until it is written again the file may name the port of the last run
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client from the kubeconfig: %w", err)
	}
	k.modified, k.config, k.client = info.ModTime(), config, client
	return client, nil
}
