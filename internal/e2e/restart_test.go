package e2e_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/dynamic"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestRestart stops a server in order, starts it again, kills it, and starts it
// again: everything that a client holds goes on to work. On the way other
// servers try to take what it has.
func TestRestart(t *testing.T) {
	t.Parallel()
	host, port := fixedAddress(t)
	pidFile := filepath.Join(t.TempDir(), "pid")
	server := kapitest.New(t, "--bind-address", host, "--secure-port", port, "--pid-file", pidFile)
	start := func() {
		t.Helper()
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		checkFiles(t, server, pidFile)
	}
	start()
	lines := 0
	for line := range strings.Lines(server.Log()) {
		// etcd says of a busy machine that it is slow.
		if !strings.Contains(line, "slow") && !strings.Contains(line, "took too long") {
			lines++
		}
	}
	if lines > 10 {
		t.Errorf("a normal start prints %d lines, want at most 10:\n%s", lines, server.Log())
	}
	before := remember(t, server)
	intruders(t, server, host, port)
	before.check(t, server)

	if err := server.Stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
	for _, file := range []string{pidFile, filepath.Join(server.Home, "ready"), filepath.Join(server.Dir, "server.json")} {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s after the stop: %v", file, err)
		}
	}
	start()
	before.check(t, server)

	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	start()
	before.check(t, server)
}

// checkFiles looks at what a ready server leaves for others.
func checkFiles(t *testing.T, server *kapitest.Server, pidFile string) {
	t.Helper()
	pid := strconv.Itoa(server.PID()) + "\n"
	for _, file := range []string{pidFile, filepath.Join(server.Home, "ready")} {
		if got := readFile(t, file); got != pid {
			t.Errorf("%s holds %q, want %q", file, got, pid)
		}
	}
	if got := readFile(t, filepath.Join(server.Dir, "server.json")); !strings.Contains(got, server.Config(t).Host) {
		t.Errorf("server.json: %s", got)
	}
	for file, want := range map[string]fs.FileMode{".": 0o700, "kubeconfig": 0o600, "server.json": 0o600, "pki": 0o700, "etcd": 0o700} {
		info, err := os.Stat(filepath.Join(server.Dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("mode of %s: %v, want %v", file, info.Mode().Perm(), want)
		}
	}
}

// memory is what a client knows of a server.
type memory struct {
	kubeconfig, token string
	serving           []byte
	namespace         string
	newest            string // the highest resource version seen
	object            *corev1.ConfigMap
}

func remember(t *testing.T, server *kapitest.Server) *memory {
	t.Helper()
	client := server.Client(t)
	m := &memory{kubeconfig: readFile(t, server.Kubeconfig()), namespace: newNamespace(t, client), serving: servingCertificate(t, server)}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}
	if _, err := client.CoreV1().ServiceAccounts(m.namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	m.token = newToken(t, server, m.namespace, "robot")
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Data: map[string]string{"a": "b"}}
	var err error
	if m.object, err = client.CoreV1().ConfigMaps(m.namespace).Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	define(t, server, decode[apiextensionsv1.CustomResourceDefinition](t, `
metadata: {name: keeps.restart.e2e.test}
spec:
  group: restart.e2e.test
  scope: Cluster
  names: {plural: keeps, singular: keep, kind: Keep, listKind: KeepList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`))
	m.newest = m.object.ResourceVersion
	return m
}

// check uses all of it, with a server that has been started anew since.
func (m *memory) check(t *testing.T, server *kapitest.Server) {
	t.Helper()
	if got := readFile(t, server.Kubeconfig()); got != m.kubeconfig {
		t.Error("the kubeconfig has changed")
	}
	if got := servingCertificate(t, server); string(got) != string(m.serving) {
		t.Error("the serving certificate has changed")
	}
	review, err := server.Client(t).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), selfReview(), metav1.CreateOptions{})
	if err != nil || review.Status.UserInfo.Username != "kapi-admin" {
		t.Errorf("the administrator: %v %+v", err, review)
	}
	if code, body, _ := get(t, withToken(t, server, m.token), "/api"); code != 200 {
		t.Errorf("the token: %d %s", code, body)
	}
	configs := server.Client(t).CoreV1().ConfigMaps(m.namespace)
	if got, err := configs.Get(t.Context(), "kept", metav1.GetOptions{}); err != nil || got.ResourceVersion != m.object.ResourceVersion || got.UID != m.object.UID {
		t.Errorf("an object: %v %+v", err, got)
	}
	// client-go tries again while the cache of a resource is still filling.
	if _, err := keeps(t, server).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("a custom resource: %v", err)
	}
	created, err := configs.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "new-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if order, err := resourceversion.CompareResourceVersion(created.ResourceVersion, m.newest); err != nil || order <= 0 {
		t.Errorf("resource version %s after %s: %v", created.ResourceVersion, m.newest, err)
	}
	m.newest = created.ResourceVersion
}

func keeps(t *testing.T, server *kapitest.Server) dynamic.ResourceInterface {
	t.Helper()
	return dynamicClient(t, server.Config(t)).Resource(schema.GroupVersionResource{Group: "restart.e2e.test", Version: "v1", Resource: "keeps"})
}

// intruders are started on the directory and on the port of a running server.
// They are refused at once, and say who is there.
func intruders(t *testing.T, server *kapitest.Server, host, port string) {
	t.Helper()
	pid := strconv.Itoa(server.PID())
	code, stderr := runServe(t, server.Dir)
	if code != 1 || !strings.Contains(stderr, "in use by kapi with pid "+pid) || !strings.Contains(stderr, "hint: ") {
		t.Errorf("on the same directory: exit code %d:\n%s", code, stderr)
	}
	code, stderr = runServe(t, t.TempDir(), "--bind-address", host, "--secure-port", port)
	if code != 1 || !strings.Contains(stderr, "(pid "+pid+")") || !strings.Contains(stderr, "--secure-port") {
		t.Errorf("on the same port: exit code %d:\n%s", code, stderr)
	}
	if strings.Contains(stderr, "goroutine ") {
		t.Errorf("a goroutine dump:\n%s", stderr)
	}
}

func servingCertificate(t *testing.T, server *kapitest.Server) []byte {
	t.Helper()
	address := strings.TrimPrefix(server.Config(t).Host, "https://")
	dialer := tls.Dialer{NetDialer: &net.Dialer{}, Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // it is only looked at
	connection, err := dialer.DialContext(context.WithoutCancel(t.Context()), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	client, _ := connection.(*tls.Conn)
	return client.ConnectionState().PeerCertificates[0].Raw
}
