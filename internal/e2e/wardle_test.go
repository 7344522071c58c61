package e2e_test

import (
	"context"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// wardleModule is upstream's example of an aggregated API server.
const wardleModule = "k8s.io/sample-apiserver"

// buildWardle builds upstream's server. `go run` keeps what it has linked in the
// build cache, which `go build` does not: so it is told to run a copy.
func buildWardle(t testing.TB) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "sample-apiserver")
	out, err := exec.Command("go", "run", "-exec", "cp", wardleModule, binary).CombinedOutput()
	if err != nil {
		t.Fatalf("building %s: %v\n%s", wardleModule, err, out)
	}
	return binary
}

// wardle is upstream's example server as a process. It keeps its objects in
// kapi's own etcd, and asks kapi who a caller is and what it may do.
type wardle struct {
	address string
	args    []string

	binary string
	cmd    *exec.Cmd
	output *output
}

// wardleManifests are the files of its module that it needs in a cluster beside
// its Service and Deployment: here it runs outside.
func wardleManifests(t testing.TB) (args []string) {
	t.Helper()
	dir := filepath.Join(moduleDir(t, wardleModule), "artifacts", "example")
	for _, name := range []string{"ns.yaml", "sa.yaml", "rbac.yaml", "rbac-bind.yaml", "auth-delegator.yaml", "auth-reader.yaml"} {
		args = append(args, "--manifests", filepath.Join(dir, name))
	}
	return args
}

// newWardle prepares a server on host:port with a certificate for its service.
func newWardle(t testing.TB, kapi *kapitest.Server, by *authority, host, port string) *wardle {
	t.Helper()
	cert, key := by.files(t, "api.wardle.svc", host)
	kubeconfig := tokenKubeconfig(t, kapi, "wardle", "apiserver")
	w := &wardle{address: net.JoinHostPort(host, port), binary: buildWardle(t), args: []string{
		"--bind-address", host, "--secure-port", port,
		"--tls-cert-file", cert, "--tls-private-key-file", key,
		"--etcd-servers", kapi.EtcdEndpoint(),
		"--kubeconfig", kubeconfig, "--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
	}}
	t.Cleanup(func() {
		w.stop()
		if t.Failed() {
			t.Logf("what %s has printed since its last start:\n%s", wardleModule, w.output)
		}
	})
	return w
}

// start starts the process; it does not wait until it serves.
func (w *wardle) start(t testing.TB) {
	t.Helper()
	w.output = &output{}
	w.cmd = exec.Command(w.binary, w.args...)
	w.cmd.SysProcAttr = kapitest.ParentDeath()
	w.cmd.Stdout, w.cmd.Stderr = io.Writer(w.output), w.output
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// stop kills the process.
func (w *wardle) stop() {
	if w.cmd == nil {
		return
	}
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
	w.cmd = nil
}

// tokenKubeconfig writes a kubeconfig with a token of a service account.
func tokenKubeconfig(t testing.TB, kapi *kapitest.Server, namespace, account string) string {
	t.Helper()
	config := kapi.Config(t)
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["c"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: newToken(t, kapi, namespace, account)}
	kubeconfig.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u", Namespace: namespace}
	kubeconfig.CurrentContext = "c"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*kubeconfig, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// newToken returns a token of a service account.
func newToken(t testing.TB, kapi *kapitest.Server, namespace, account string) string {
	t.Helper()
	var request *authenticationv1.TokenRequest
	eventually(t, func(ctx context.Context) (err error) {
		request, err = kapi.Client(t).CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		return err
	})
	return request.Status.Token
}
