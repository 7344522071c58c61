package pki

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// clock is a clock that the test sets.
type clock struct{ at atomic.Pointer[time.Time] }

func (c *clock) set(t time.Time) { c.at.Store(&t) }
func (c *clock) now() time.Time  { return *c.at.Load() }

func TestLook(t *testing.T) {
	t.Parallel()
	var c clock
	c.set(birth)
	dir := t.TempDir()
	o := optionsAt(dir, birth)
	o.Now = c.now
	m, err := Ensure(o)
	must(t, err)
	var calls []Material
	callback := errors.New("disk full")
	current := *m
	r := renewer{material: &current, RenewOptions: RenewOptions{
		Log:          slog.New(slog.DiscardHandler),
		AdminChanged: func(m *Material) error { calls = append(calls, *m); return callback },
	}}
	before := filesOf(t, dir)
	steps := []struct {
		name  string
		now   time.Time
		prep  func()
		want  []string // exactly these files change
		err   string
		calls int // of the callback, all in all
	}{
		{name: "new", now: birth},
		{name: "a third left", now: birth.Add(240 * day)},
		{
			name: "due, and the callback fails", now: birth.Add(250 * day),
			want: []string{"apiserver.crt", "front-proxy-client.crt", "admin.crt"}, err: "disk full", calls: 1,
		},
		{name: "the callback fails again", now: birth.Add(250 * day), err: "disk full", calls: 2},
		{name: "the callback works", now: birth.Add(250 * day), prep: func() { callback = nil }, calls: 3},
		{name: "nothing to do", now: birth.Add(250 * day), calls: 3},
		{
			name: "clock back", now: birth.Add(100 * day),
			want: []string{"apiserver.crt", "front-proxy-client.crt", "admin.crt"}, calls: 4,
		},
		{
			name: "broken file", now: birth.Add(100 * day),
			prep: func() { must(t, os.WriteFile(m.Serving.Cert, []byte("garbage"), 0o644)) },
			want: []string{"apiserver.crt"}, calls: 4,
		},
		{
			name: "broken cluster authority", now: birth.Add(400 * day),
			prep: func() { must(t, os.WriteFile(m.ClusterCA.Key, []byte(marker), 0o600)) },
			want: []string{"front-proxy-client.crt", "ca.key"}, err: m.ClusterCA.Key, calls: 4,
		},
	}
	for _, step := range steps {
		c.set(step.now)
		if step.prep != nil {
			step.prep()
		}
		err := r.look()
		if (err != nil) != (step.err != "") || err != nil && !strings.Contains(err.Error(), step.err) {
			t.Errorf("%s: got %v", step.name, err)
		}
		after := filesOf(t, dir)
		got := changed(before, after)
		for _, name := range step.want {
			if !got[name] {
				t.Errorf("%s: %s was kept", step.name, name)
			}
			delete(got, name)
		}
		if len(got) != 0 || len(calls) != step.calls {
			t.Errorf("%s: changed too: %v; %d calls, want %d", step.name, got, len(calls), step.calls)
		}
		checkWorks(t, m, step.now)
		before = after
	}
	if want := birth.Add(250*day + year); !calls[0].Admin.NotAfter.Equal(want) || !calls[0].Serving.NotAfter.Equal(want) {
		t.Errorf("the callback got %+v", calls[0])
	}
}

// lineWriter is a log whose lines the test receives.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

func TestRun(t *testing.T) {
	t.Parallel()
	var c clock
	c.set(birth)
	o := optionsAt(t.TempDir(), birth)
	o.Now = c.now
	m, err := Ensure(o)
	must(t, err)
	lines := make(lineWriter, 10)
	tick := make(chan time.Time)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { m.Run(ctx, RenewOptions{Tick: tick, Log: slog.New(slog.NewTextHandler(lines, nil))}) })
	c.set(birth.Add(300 * day))
	tick <- time.Time{}
	for _, file := range []string{"apiserver.crt", "front-proxy-client.crt", "admin.crt"} {
		if line := <-lines; !strings.Contains(line, "Renewed a certificate") || !strings.Contains(line, file) {
			t.Errorf("got %q for %s", line, file)
		}
	}
	must(t, os.WriteFile(m.ClusterCA.Key, []byte(marker), 0o600))
	tick <- time.Time{}
	if line := <-lines; !strings.Contains(line, "level=ERROR") || !strings.Contains(line, "ca.key") || strings.Contains(line, marker) {
		t.Errorf("got %q", line)
	}
	cancel()
	wg.Wait()
	if !m.Admin.NotAfter.Equal(birth.Add(year)) {
		t.Error("the caller's Material was changed")
	}
}

// A server that reads its pair from disk, as kube-apiserver does, serves clients
// all through a renewal: no connection fails.
func TestRunUnderLoad(t *testing.T) {
	t.Parallel()
	var c clock
	c.set(birth)
	o := optionsAt(t.TempDir(), birth)
	o.Now = c.now
	m, err := Ensure(o)
	must(t, err)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(readFile(t, m.ClusterCA.Cert))
	var served sync.Map // serial numbers
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Time: c.now, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(m.Serving.Cert, m.Serving.Key)
			if err == nil {
				served.Store(pair.Leaf.SerialNumber.String(), true)
			}
			return &pair, err
		},
	})
	must(t, err)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		io.WriteString(w, req.TLS.PeerCertificates[0].Subject.CommonName)
	})}
	url := "https://" + ln.Addr().String()
	must(t, m.WriteKubeconfig(kubeconfig, url))

	ctx, cancel := context.WithCancel(t.Context())
	tick, written := make(chan time.Time), make(chan bool)
	var server, clients sync.WaitGroup
	server.Go(func() { srv.Serve(ln) })
	server.Go(func() {
		m.Run(ctx, RenewOptions{Tick: tick, Log: slog.New(slog.DiscardHandler), AdminChanged: func(m *Material) error {
			err := m.WriteKubeconfig(kubeconfig, url)
			written <- true
			return err
		}})
	})
	must(t, request(kubeconfig, c.now))
	// The clock moves between requests, the renewal runs beside them: a request
	// takes no third of a year.
	var step sync.RWMutex
	stop := make(chan struct{})
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				step.RLock()
				err := request(kubeconfig, c.now)
				step.RUnlock()
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	const renewals = 5
	for i := range renewals {
		step.Lock()
		c.set(birth.Add(time.Duration(i+1) * 250 * day))
		step.Unlock()
		tick <- time.Time{}
		<-written
	}
	close(stop)
	clients.Wait()
	must(t, request(kubeconfig, c.now))
	cancel()
	srv.Close()
	server.Wait()
	serials := 0
	served.Range(func(any, any) bool { serials++; return true })
	if serials < 2 {
		t.Errorf("%d different certificates were served", serials)
	}
}

// request asks the server of a kubeconfig, on a new connection.
func request(kubeconfig string, now func() time.Time) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	tlsConfig, err := rest.TLSConfigFor(cfg)
	if err != nil {
		return err
	}
	tlsConfig.Time = now
	client := http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig, DisableKeepAlives: true}}
	resp, err := client.Get(cfg.Host)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && string(body) != UserName {
		err = errors.New("the server saw " + string(body))
	}
	return err
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()
	m := ensureAt(t, t.TempDir(), birth)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(path, []byte("old"), 0o644), m.WriteKubeconfig(path, "https://127.0.0.1:6443"))
	fi, err := os.Stat(path)
	must(t, err)
	if fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", fi.Mode())
	}
	c, err := clientcmd.LoadFromFile(path)
	must(t, err)
	kctx := c.Contexts[c.CurrentContext]
	if c.CurrentContext != "kapi" || kctx == nil || kctx.Cluster != "kapi" || kctx.AuthInfo != "kapi-admin" {
		t.Fatalf("got %+v", c)
	}
	if cl := c.Clusters["kapi"]; cl.Server != "https://127.0.0.1:6443" || !bytes.Equal(cl.CertificateAuthorityData, readFile(t, m.ClusterCA.Cert)) {
		t.Errorf("cluster: %+v", cl)
	}
	if u := c.AuthInfos["kapi-admin"]; !bytes.Equal(u.ClientCertificateData, readFile(t, m.Admin.Cert)) || !bytes.Equal(u.ClientKeyData, readFile(t, m.Admin.Key)) {
		t.Error("the user has another certificate")
	}
	must(t, os.Remove(m.Admin.Key))
	if err := m.WriteKubeconfig(path, "https://127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), m.Admin.Key) {
		t.Errorf("got %v", err)
	}
}
