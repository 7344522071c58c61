package robust

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

// externalEtcd is a real etcd in a process of its own, which wants a client
// certificate.
type externalEtcd struct {
	t       testing.TB
	dir     string
	address string // host:port
	server  *authority
	clients *authority
	cert    string // of a client
	key     string
	cmd     *exec.Cmd
	out     *output
	ended   chan struct{}
}

func newExternalEtcd(t testing.TB) *externalEtcd {
	t.Helper()
	binaries(t)
	dir := t.TempDir()
	e := &externalEtcd{t: t, dir: dir, server: newAuthority(t, dir, "server-ca"), clients: newAuthority(t, dir, "client-ca")}
	e.cert, e.key = e.clients.issue("client", x509.ExtKeyUsageClientAuth)
	e.server.issue("server", x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth)
	e.address = freeAddress(t)
	e.start()
	t.Cleanup(func() {
		e.kill()
		if t.Failed() {
			t.Logf("the end of etcd's log:\n%s", lastLines(e.out.String(), 5))
		}
	})
	return e
}

// freeAddress is one that nobody listens on, for servers that can't be told to
// choose.
func freeAddress(t testing.TB) string {
	t.Helper()
	port, err := peer.FreePort()
	must(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// start starts the etcd, and returns when it serves.
func (e *externalEtcd) start() {
	e.t.Helper()
	file := func(name string) string { return filepath.Join(e.dir, name) }
	e.cmd = exec.CommandContext(context.Background(), binaries(e.t).etcd, //nolint:gosec // our own
		"--name=external", "--data-dir="+file("etcd"),
		"--listen-client-urls=https://"+e.address, "--advertise-client-urls=https://"+e.address,
		"--listen-peer-urls=unix://"+shortSocket(e.t), "--initial-advertise-peer-urls=unix://peer", "--initial-cluster=external=unix://peer",
		"--cert-file="+file("server.crt"), "--key-file="+file("server.key"),
		"--client-cert-auth", "--trusted-ca-file="+e.clients.file,
		"--unsafe-no-fsync",
	)
	e.cmd.SysProcAttr = childAttributes()
	e.out = newOutput()
	e.cmd.Stdout, e.cmd.Stderr = e.out, e.out
	must(e.t, e.cmd.Start())
	ended := make(chan struct{})
	e.ended = ended
	go func(cmd *exec.Cmd) {
		defer close(ended)
		_ = cmd.Wait()
	}(e.cmd)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !e.out.await(ctx, "ready to serve client requests", ended) {
		e.t.Fatalf("etcd does not serve:\n%s", e.out)
	}
}

func (e *externalEtcd) kill() {
	_ = e.cmd.Process.Signal(syscall.SIGCONT)
	_ = e.cmd.Process.Kill()
	<-e.ended
}

// flags make kapi use the etcd at this address.
func (e *externalEtcd) flags(address string) []string {
	return []string{
		"--etcd-servers=https://" + address, "--etcd-cafile=" + e.server.file,
		"--etcd-certfile=" + e.cert, "--etcd-keyfile=" + e.key,
	}
}

// TestExternalEtcd lives on an etcd of its own process: it starts, keeps what it
// is given, survives that etcd's absence, and stops while it is away.
func TestExternalEtcd(t *testing.T) {
	t.Parallel()
	e := newExternalEtcd(t)
	s := newServer(t, append(e.flags(e.address), "--stop-timeout=7s")...)
	s.start()
	ctx := deadline(t)
	_, err := s.client().CoreV1().ConfigMaps(namespace).Create(ctx, configMap("outside", ""), metav1.CreateOptions{})
	must(t, err)
	if found := tree(t, filepath.Join(s.dir, "etcd")); len(found) > 0 {
		t.Errorf("there is an embedded etcd, too: %v", found)
	}
	if full() {
		s.stop()
		s.start()
		_, err = s.client().CoreV1().ConfigMaps(namespace).Get(ctx, "outside", metav1.GetOptions{})
		must(t, err)
	}

	// It goes, and comes back.
	e.kill()
	probe := s.newWire(nil)
	awaitReadyz(t, s, probe, http.StatusInternalServerError)
	e.start()
	awaitReadyz(t, s, probe, http.StatusOK)
	_, err = s.client().CoreV1().ConfigMaps(namespace).Get(ctx, "outside", metav1.GetOptions{})
	must(t, err)

	// It goes, and does not come back.
	e.kill()
	begun := time.Now()
	s.signal(syscall.SIGTERM)
	code := s.wait(7*time.Second + stopLimit)
	t.Logf("stopped without its etcd, with code %d, in %s:\n%s", code, time.Since(begun).Round(time.Millisecond), lastLines(s.out.String(), 4))
}

// awaitReadyz returns when /readyz answers with status.
func awaitReadyz(t *testing.T, s *server, from *wire, status int) {
	t.Helper()
	var last string
	err := s.await(func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), quickly)
		defer cancel()
		got, text, err := from.do(ctx, http.MethodGet, "/readyz", nil)
		last = fmt.Sprintf("%d %s %v", got, text, err)
		return got == status
	})
	if err != nil {
		t.Fatalf("waiting for status %d of /readyz: %v; the last answer: %s", status, err, last)
	}
}

// TestUnusableEtcd names an etcd that can't be used.
func TestUnusableEtcd(t *testing.T) {
	t.Parallel()
	e := newExternalEtcd(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	other := newAuthority(t, t.TempDir(), "other-ca")
	otherCert, otherKey := other.issue("client", x509.ExtKeyUsageClientAuth)
	good := e.flags(e.address)
	for _, tc := range []struct {
		name  string
		flags []string
		want  []string
		code  int
	}{
		{"nothing listens", e.flags(freeAddress(t)), []string{"connection refused", "Nothing listens there"}, 1},
		{"nobody answers", e.flags(silent.Addr().String()), []string{silent.Addr().String(), "TLS handshake"}, 1},
		{"wrong CA", append(good, "--etcd-cafile="+other.file), []string{"unknown authority", "--etcd-cafile"}, 1},
		{"no client certificate", []string{"--etcd-servers=https://" + e.address, "--etcd-cafile=" + e.server.file}, []string{"certificate", "--etcd-certfile"}, 1},
		{"certificate of another CA", append(good, "--etcd-certfile="+otherCert, "--etcd-keyfile="+otherKey), []string{"certificate", "--etcd-certfile"}, 1},
		{"no TLS", []string{"--etcd-servers=http://" + e.address}, []string{e.address, "https://"}, 1},
		{"certificate without its key", append(good[:2:2], good[2]), []string{"etcd.keyFile"}, 2},
		{"CA file missing", append(good, "--etcd-cafile=/nowhere/ca.crt"), []string{"/nowhere/ca.crt"}, 2},
		{"not etcd", append(e.flags(notEtcd(t, e)), "--etcd-cafile="+e.server.file), []string{"asking for its status"}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newServer(t, tc.flags...)
			s.launch()
			begun := time.Now()
			code := s.wait(20*time.Second + quickly) // it gives up after 20 s
			printed := s.out.String()
			if code != tc.code || !strings.Contains(printed, "error: ") {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			for _, want := range tc.want {
				if !strings.Contains(printed, want) {
					t.Errorf("%q is not in the output", want)
				}
			}
			t.Logf("after %s:\n%s", time.Since(begun).Round(time.Millisecond), lastLines(printed, 2))
		})
	}
}

// TestEtcdStopsDuringStart: etcd answers the first questions, and then nothing
// more. The start does not hang, and says why it has failed.
func TestEtcdStopsDuringStart(t *testing.T) {
	t.Parallel()
	if !full() {
		t.Skip("waits for timeouts of a minute: KAPI_ROBUST=full")
	}
	e := newExternalEtcd(t)
	for name, when := range map[string]func(*server, *proxy) bool{
		"the first store is made":  func(_ *server, p *proxy) bool { return p.opened.Load() >= 3 },
		"half of them are made":    func(_ *server, p *proxy) bool { return p.opened.Load() >= 40 },
		"the post-start hooks run": func(s *server, _ *proxy) bool { return s.answers() },
	} {
		p := newProxy(t, e.address)
		s := newServer(t, append(e.flags(p.address()), "--stop-timeout=10s")...)
		begun := time.Now()
		s.launch()
		must(t, s.await(func() bool { return when(s, p) }))
		p.stuck.Lock()
		code := s.wait(patience)
		p.stuck.Unlock()
		printed := s.out.String()
		if code != 1 || !strings.Contains(printed, "error: ") {
			t.Errorf("exit code %d:\n%s", code, printed)
		}
		t.Logf("etcd silent when %s: ended after %s:\n%s", name, time.Since(begun).Round(time.Millisecond), lastLines(printed, 6))
	}
}

// answers tells whether the server answers anything, before it is ready.
func (s *server) answers() bool {
	if _, err := os.Stat(filepath.Join(s.dir, "kubeconfig")); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	status, _, _ := s.newWire(nil).do(ctx, http.MethodGet, "/livez", nil)
	return status != 0
}

// shortSocket is a path for a socket in a directory that goes with the test.
func shortSocket(t testing.TB) string {
	t.Helper()
	dir := shortDir(t)
	return filepath.Join(dir, "peer.sock")
}

// notEtcd is a server that speaks TLS and HTTP/2, and is none.
func notEtcd(t testing.TB, e *externalEtcd) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: quickly}
	go func() {
		_ = server.ServeTLS(listener, filepath.Join(e.dir, "server.crt"), filepath.Join(e.dir, "server.key"))
	}()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}
