package chain

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// fixed resolves every service to one address.
type fixed struct {
	host string
	err  error
}

func (f fixed) ResolveEndpoint(string, string, int32) (*url.URL, error) {
	return &url.URL{Scheme: "https", Host: f.host}, f.err
}

func TestNowhere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	nowhere := Nowhere(func(a netip.Addr) bool {
		return a == netip.MustParseAddr("127.0.0.2") || a == netip.MustParseAddr("fd00::2")
	})
	for host, refused := range map[string]bool{
		listener.Addr().String(): false, "127.0.0.2:1": true, "[fd00::2]:1": true, "fd00::2": true, "svc.example.test:1": false,
	} {
		_, err := realResolver{fixed{host: host}, nowhere}.ResolveEndpoint("shop", "web", 443)
		if refused != (err != nil) || refused && !strings.Contains(err.Error(), "--map-service shop/web:443=HOST:PORT") {
			t.Errorf("a service at %s: %v", host, err)
		}
	}
	broken := errors.New("no endpoints")
	if _, err := (realResolver{fixed{"127.0.0.2:1", broken}, nowhere}).ResolveEndpoint("shop", "web", 443); !errors.Is(err, broken) {
		t.Errorf("a service without endpoints: %v", err)
	}

	dial := nowhere.refuse(&http.Transport{})
	if conn, err := dial(t.Context(), "tcp", listener.Addr().String()); err != nil {
		t.Errorf("somewhere: %v", err)
	} else if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if _, err := dial(t.Context(), "tcp", "127.0.0.2:1"); err == nil || !strings.Contains(err.Error(), "fake node") {
		t.Errorf("nowhere: %v", err)
	}
}
