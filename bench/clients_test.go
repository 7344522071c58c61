package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

// peerServer serves with the peer's certificates and counts its connections.
func peerServer(t *testing.T, handler http.Handler) (p *peer.PKI, url string, connections *atomic.Int64) {
	t.Helper()
	p, err := peer.NewPKI(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cert, err := tls.LoadX509KeyPair(p.Path("apiserver.crt"), p.Path("apiserver.key"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(p.Path("ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	connections = &atomic.Int64{}
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return p, server.URL, connections
}

func TestEachClientHasItsOwnHTTP2Connection(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	peers := map[string]int{} // requests by the client's address
	protocols := map[string]bool{}
	p, url, connections := peerServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		peers[r.RemoteAddr]++
		protocols[r.Proto] = true
		if groups := r.TLS.PeerCertificates[0].Subject.Organization; !slices.Contains(groups, "system:masters") {
			http.Error(w, "not a master", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}`))
	}))
	const clients, requests = 4, 40
	all, err := newLoadClients(p.ClientConfig(url), clients)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(all)
	_, err = runPhase(t.Context(), 1, requests, func(ctx context.Context, _, i int) error {
		_, err := all[i%clients].json.CoreV1().ConfigMaps("ns").Get(ctx, "x", metav1.GetOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if connections.Load() != clients || len(peers) != clients {
		t.Errorf("%d connections, requests by connection %v; want %d", connections.Load(), peers, clients)
	}
	for addr, n := range peers {
		if n != requests/clients {
			t.Errorf("%s made %d requests, want %d", addr, n, requests/clients)
		}
	}
	if !protocols["HTTP/2.0"] || len(protocols) != 1 {
		t.Errorf("protocols = %v, want only HTTP/2.0", protocols)
	}
}

func TestListAsksForProtobufAndRefusesAnythingElse(t *testing.T) {
	t.Parallel()
	var accept, encoding sync.Map
	p, url, _ := peerServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accept.Store(r.Header.Get("Accept"), true)
		encoding.Store(r.Header.Get("Accept-Encoding"), true)
		_, _ = w.Write([]byte(`{"kind":"ConfigMapList"}`))
	}))
	all, err := newLoadClients(p.ClientConfig(url), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(all)
	if err := list(t.Context(), all[0].proto); err == nil || !strings.Contains(err.Error(), "not protobuf") {
		t.Errorf("a JSON list: %v", err)
	}
	if err := list(t.Context(), all[0].plain); err == nil {
		t.Error("a JSON list without compression was accepted")
	}
	if _, ok := accept.Load(protobufType); !ok {
		t.Error("protobuf was not asked for")
	}
	for _, want := range []string{"gzip", ""} {
		if _, ok := encoding.Load(want); !ok {
			t.Errorf("no request with Accept-Encoding %q", want)
		}
	}
}

func TestPhaseDoesEveryRequestOnce(t *testing.T) {
	t.Parallel()
	const n = 1000
	var done [n]atomic.Int64
	p, err := runPhase(t.Context(), 8, n, func(_ context.Context, w, i int) error {
		if w < 0 || w > 7 {
			return errors.New("no such worker")
		}
		done[i].Add(1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range done {
		if c := done[i].Load(); c != 1 {
			t.Errorf("request %d was made %d times", i, c)
		}
	}
	if len(p.latencies) != n || p.elapsed <= 0 || p.perSecond() <= 0 {
		t.Errorf("phase of %d latencies, %v", len(p.latencies), p.elapsed)
	}
}

func TestPhaseEndsAtTheFirstError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var made atomic.Int64
	_, err := runPhase(t.Context(), 2, 1_000_000, func(_ context.Context, _, i int) error {
		made.Add(1)
		if i == 10 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "request 10") {
		t.Errorf("error = %v", err)
	}
	if made.Load() == 1_000_000 {
		t.Error("every request was made after the error")
	}
}

func TestConfigMapIsTheSameForTheSameSeed(t *testing.T) {
	t.Parallel()
	a, b, c := configMap("x", 1), configMap("x", 1), configMap("x", 2)
	if a.Data["settings"] != b.Data["settings"] || a.Data["settings"] == c.Data["settings"] {
		t.Error("the text does not follow the seed")
	}
	if n := len(a.Data["settings"]); n != 1024 {
		t.Errorf("%d bytes, want 1024", n)
	}
}
