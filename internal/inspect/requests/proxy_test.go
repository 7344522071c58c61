package requests

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/proxy"
	proxyutil "k8s.io/apiserver/pkg/util/proxy"
)

// failure answers what the aggregator answers when a request cannot be sent on.
type failure struct{}

func (failure) Error(w http.ResponseWriter, _ *http.Request, err error) {
	http.Error(w, err.Error(), http.StatusServiceUnavailable)
}

// aggregated is the aggregator's way of sending a request on.
func aggregated(to string, transport *http.Transport) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		location := &url.URL{Scheme: "https", Host: to, Path: r.URL.Path, RawQuery: r.URL.RawQuery}
		request, cancel := proxyutil.NewRequestForProxy(location, r)
		defer cancel()
		upgrade := r.Header.Get("Upgrade") != ""
		proxy.NewUpgradeAwareHandler(location, transport, true, upgrade, failure{}).ServeHTTP(w, request)
	})
}

func TestProxiedRequests(t *testing.T) {
	remote := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/unavailable"):
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.Header.Get("Upgrade") != "":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
				conn.Close()
			}
		default:
			_, _ = io.WriteString(w, "from afar")
		}
	}))
	remote.StartTLS()
	t.Cleanup(remote.Close)
	for name, protocols := range map[string][]string{"http2": {"h2", "http/1.1"}, "http1": {"http/1.1"}} {
		t.Run(name, func(t *testing.T) {
			address := remote.Listener.Addr().String()
			config := &tls.Config{InsecureSkipVerify: true, NextProtos: protocols}
			transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: name == "http2"}
			t.Cleanup(transport.CloseIdleConnections)
			f := start(t, aggregated(address, transport), nil)
			for _, path := range []string{"/apis/remote.example.com/v1", "/apis/remote.example.com/v1/things/a"} {
				s := f.traced(t, http.MethodGet, "alice", path, "").Status
				if p := s.ProxiedTo; p == nil || p.APIService != "v1.remote.example.com" || p.Address != address ||
					s.AnsweredBy != "aggregator" || s.Code != 200 || len(s.Hops) != 1 {
					t.Errorf("%s: status is %+v, proxied to %+v, want %s", path, s, p, address)
				}
			}
			f.upgrade(t, "/apis/remote.example.com/v1/things/a/exec")
			if s := f.last(t).Status; s.ProxiedTo == nil || s.ProxiedTo.Address != address || s.Code != 101 || !s.Upgraded {
				t.Errorf("status of an upgrade is %+v, proxied to %+v", s, s.ProxiedTo)
			}
			f.traced(t, http.MethodGet, "alice", "/apis/remote.example.com/v1/things/unavailable", "")
			if local := f.traced(t, http.MethodGet, "alice", "/api/v1/pods", ""); local.Status.ProxiedTo != nil {
				t.Errorf("a local request was proxied to %+v", local.Status.ProxiedTo)
			}
			layer := f.layer(t, "aggregator").Status
			if layer.RequestsProxied != 4 || layer.RequestsAnswered != 4 || f.observer.UnavailableAnswers("v1.remote.example.com") != 1 {
				t.Errorf("aggregator is %+v, 503s are %d", layer, f.observer.UnavailableAnswers("v1.remote.example.com"))
			}
		})
	}
}

// A server that is not there: the request was for it, but has reached nobody.
func TestProxiedToNobody(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	f := start(t, aggregated(listener.Addr().String(), &http.Transport{}), nil)
	s := f.traced(t, http.MethodGet, "alice", "/apis/remote.example.com/v2/things", "").Status
	if s.ProxiedTo == nil || s.ProxiedTo.APIService != "v2.remote.example.com" || s.ProxiedTo.Address != "" || s.Code != 503 {
		t.Errorf("status is %+v, proxied to %+v", s, s.ProxiedTo)
	}
	if layer := f.layer(t, "aggregator").Status; layer.RequestsProxied != 0 || layer.RequestsAnswered != 1 {
		t.Errorf("aggregator is %+v", layer)
	}
	if n := f.observer.UnavailableAnswers("v2.remote.example.com"); n != 1 || f.observer.UnavailableAnswers("v1.remote.example.com") != 0 {
		t.Errorf("503s are %d", n)
	}
}

// upgrade asks for another protocol, and waits for the answer.
func (f *fixture) upgrade(t *testing.T, path string) {
	t.Helper()
	conn, err := net.Dial("tcp", f.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("upgrading: %v, %v", response, err)
	}
	response.Body.Close()
}

func TestGroupVersion(t *testing.T) {
	for path, want := range map[string][2]string{
		"/apis/apps/v1": {"apps", "v1"}, "/apis/apps/v1/deployments": {"apps", "v1"}, "/api/v1": {"", "v1"}, "/api/v1/pods": {"", "v1"},
		"/": {}, "/api": {}, "/apis": {}, "/apis/": {}, "/apis/apps": {}, "/api/": {}, "/apix/v1": {}, "/apis//v1": {},
	} {
		group, version, ok := groupVersion(path)
		if ok != (want[1] != "") || (ok && (group != want[0] || version != want[1])) {
			t.Errorf("%s is %q, %q, %t", path, group, version, ok)
		}
	}
}
