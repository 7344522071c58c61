// Package peer runs a plain upstream control plane for tests: etcd and
// kube-apiserver, each a process of its own on a free port of 127.0.0.1, built from
// kapi's module graph. It is what kapi is compared with, and an API server that is
// not kapi. The benchmark takes the same programs, arguments and certificates from
// here, and starts them itself.
//
//	func TestMain(m *testing.M) { peer.Main(m) }
//
//	func TestX(t *testing.T) {
//		server := peer.Start(t)
//		config := server.Config(t)
//	}
//
// It may import client-go and kapitest's packages that do not link kapi.
package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// startTimeout is for a machine that does something else at the same time.
const startTimeout = 2 * time.Minute

// Server is a running control plane.
type Server struct {
	// Dir holds its data, certificates and logs.
	Dir string
	// EtcdURL is where clients reach its etcd.
	EtcdURL string

	pki       *PKI
	config    *rest.Config
	etcd      *process
	apiServer *process
}

// Main runs the tests of a package and removes the binaries. It does not return.
// A package that runs kapi too calls kapitest.Main, which does the same.
func Main(m *testing.M) {
	code := m.Run()
	if err := Clean(); err != nil {
		fmt.Fprintln(os.Stderr, "removing the peer's binaries:", err)
	}
	os.Exit(code)
}

// Start starts both servers in a new directory, kube-apiserver with args beside
// its usual ones, waits until it is ready, and stops them when the test ends. The
// programs are built by the first call in a test binary.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	built.once.Do(built.build)
	if built.err != nil {
		t.Fatalf("building the peer: %v", built.err)
	}
	s := &Server{Dir: t.TempDir()}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("stopping the peer: %v", err)
		}
		if t.Failed() {
			t.Logf("the last that kube-apiserver has printed:\n%s", lastLines(s.Log(), 40))
		}
	})
	ctx, cancel := context.WithTimeoutCause(t.Context(), startTimeout, fmt.Errorf("not ready after %s", startTimeout))
	defer cancel()
	if err := s.start(ctx, args); err != nil {
		t.Fatalf("starting the peer: %v", err)
	}
	return s
}

func (s *Server) start(ctx context.Context, args []string) error {
	var err error
	if s.pki, err = NewPKI(filepath.Join(s.Dir, "pki")); err != nil {
		return err
	}
	if err := s.startEtcd(ctx); err != nil {
		return err
	}
	port, err := FreePort()
	if err != nil {
		return err
	}
	s.config = s.pki.ClientConfig(fmt.Sprintf("https://127.0.0.1:%d", port))
	if err := s.writeKubeconfig(); err != nil {
		return err
	}
	all := append(APIServerArguments(s.Dir, s.pki, s.EtcdURL, port), args...)
	if s.apiServer, err = startProcess("kube-apiserver", built.apiServer(), all); err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(s.config)
	if err != nil {
		return err
	}
	return s.apiServer.await(ctx, client, s.config.Host+"/readyz")
}

func (s *Server) startEtcd(ctx context.Context) error {
	clientPort, err := FreePort()
	if err != nil {
		return err
	}
	peerPort, err := FreePort()
	if err != nil {
		return err
	}
	s.EtcdURL = fmt.Sprintf("http://127.0.0.1:%d", clientPort)
	args := append(EtcdArguments(filepath.Join(s.Dir, "etcd"), clientPort, peerPort), "--unsafe-no-fsync")
	if s.etcd, err = startProcess("etcd", built.etcd(), args); err != nil {
		return err
	}
	return s.etcd.await(ctx, http.DefaultClient, s.EtcdURL+"/health")
}

// stop ends the API server before its store. What has not been started is no error.
func (s *Server) stop() error {
	return errors.Join(s.apiServer.stop(), s.etcd.stop())
}

// Log returns what kube-apiserver has printed.
func (s *Server) Log() string {
	if s.apiServer == nil {
		return ""
	}
	return s.apiServer.output.String()
}

func lastLines(text string, n int) string {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

// Kubeconfig is the file with which the administrator's clients reach the server.
func (s *Server) Kubeconfig() string { return filepath.Join(s.Dir, "kubeconfig") }

func (s *Server) writeKubeconfig() error {
	const name = "peer"
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {Server: s.config.Host, CertificateAuthority: s.config.CAFile}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			name: {ClientCertificate: s.config.CertFile, ClientKey: s.config.KeyFile},
		},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, s.Kubeconfig())
}

// Config returns the client configuration of the administrator, without a
// client-side rate limit.
func (s *Server) Config(t testing.TB) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// answers returns an error unless the URL is answered 200.
func answers(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}
