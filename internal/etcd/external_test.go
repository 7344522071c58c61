package etcd

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/kapi-dev/kapi/internal/fault"
)

// testPKI is a CA and what it has signed, in files.
type testPKI struct {
	dir, ca string
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
}

func newPKI(t *testing.T) *testPKI {
	t.Helper()
	p := &testPKI{dir: t.TempDir()}
	p.cert, p.key = p.sign(t, "ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	p.ca = filepath.Join(p.dir, "ca.crt")
	return p
}

// sign makes NAME.crt and NAME.key from a template.
func (p *testPKI) sign(t *testing.T, name string, tmpl *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	must(t, err)
	tmpl.SerialNumber, tmpl.Subject = serial, pkix.Name{CommonName: name}
	if tmpl.NotAfter.IsZero() {
		tmpl.NotBefore, tmpl.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	parent, signer := p.cert, p.key
	if parent == nil {
		parent, signer = tmpl, key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &key.PublicKey, signer)
	must(t, err)
	cert, err := x509.ParseCertificate(der)
	must(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	must(t, err)
	writeFile(t, filepath.Join(p.dir, name+".crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	writeFile(t, filepath.Join(p.dir, name+".key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}))
	return cert, key
}

// leaf makes a certificate for 127.0.0.1, or for other hosts.
func (p *testPKI) leaf(t *testing.T, name string, change func(*x509.Certificate)) (cert, key string) {
	t.Helper()
	tmpl := &x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(tmpl)
	}
	p.sign(t, name, tmpl)
	return filepath.Join(p.dir, name+".crt"), filepath.Join(p.dir, name+".key")
}

// foreignEtcd starts an etcd as others run it, on TCP, with TLS if there is a
// certificate, and returns host:port.
func foreignEtcd(t *testing.T, info transport.TLSInfo) string {
	t.Helper()
	c := embed.NewConfig()
	c.Dir = t.TempDir()
	c.Name = "foreign"
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	scheme := "http"
	if !info.Empty() {
		scheme = "https"
	}
	c.ClientTLSInfo = info
	c.ListenClientUrls = []url.URL{{Scheme: scheme, Host: "127.0.0.1:0"}}
	c.AdvertiseClientUrls = c.ListenClientUrls
	c.ListenPeerUrls = []url.URL{{Scheme: "unix", Host: filepath.Join(c.Dir, "peer.sock")}}
	c.AdvertisePeerUrls = []url.URL{{Scheme: "unix", Host: "foreign"}}
	c.InitialCluster = "foreign=unix://foreign"
	c.EnableGRPCGateway = false
	e, err := embed.StartEtcd(c)
	must(t, err)
	t.Cleanup(e.Close)
	<-e.Server.ReadyNotify()
	return e.Clients[0].Addr().String()
}

// oldEtcd is as much of an etcd as says a version.
type oldEtcd struct {
	pb.UnimplementedMaintenanceServer
	version string
}

func (o oldEtcd) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{Version: o.version}, nil
}

func startOldEtcd(t *testing.T, version string) string {
	t.Helper()
	l := listen(t)
	s := grpc.NewServer()
	pb.RegisterMaintenanceServer(s, oldEtcd{version: version})
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { s.Stop(); <-done })
	return l.Addr().String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	return l
}

func TestCheckExternal(t *testing.T) {
	t.Parallel()
	ca := newPKI(t)
	cert, key := ca.leaf(t, "server", nil)
	clientCert, clientKey := ca.leaf(t, "client", nil)
	otherCert, otherKey := ca.leaf(t, "other", func(c *x509.Certificate) {
		c.IPAddresses, c.DNSNames = nil, []string{"etcd.example"}
	})
	oldCert, oldKey := ca.leaf(t, "expired", func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	})
	stranger := newPKI(t)

	plain := "http://" + foreignEtcd(t, transport.TLSInfo{})
	secure := foreignEtcd(t, transport.TLSInfo{CertFile: cert, KeyFile: key})
	mutual := "https://" + foreignEtcd(t, transport.TLSInfo{CertFile: cert, KeyFile: key, TrustedCAFile: ca.ca, ClientCertAuth: true})
	wrongName := "https://" + foreignEtcd(t, transport.TLSInfo{CertFile: otherCert, KeyFile: otherKey})
	expired := "https://" + foreignEtcd(t, transport.TLSInfo{CertFile: oldCert, KeyFile: oldKey})
	ours := mustStart(t, testConfig(t)).Endpoint()
	tooOld := "http://" + startOldEtcd(t, "3.4.30")
	const nobody = "http://127.0.0.1:1" // no port that a system gives out by itself

	trust := TLSFiles{CAFile: ca.ca}
	for name, tc := range map[string]struct {
		endpoints []string
		files     TLSFiles
		want      []string // of the error; none: it can be used
		hint      string
	}{
		"plain":                     {[]string{plain}, TLSFiles{}, nil, ""},
		"unix socket":               {[]string{ours}, TLSFiles{}, nil, ""},
		"TLS":                       {[]string{"https://" + secure}, trust, nil, ""},
		"mutual TLS":                {[]string{mutual}, TLSFiles{ca.ca, clientCert, clientKey}, nil, ""},
		"one of two is down":        {[]string{nobody, plain}, TLSFiles{}, nil, ""},
		"refused":                   {[]string{nobody}, TLSFiles{}, []string{nobody, "refused"}, "Nothing listens"},
		"both are down":             {[]string{nobody, "unix:///nowhere/etcd.sock"}, TLSFiles{}, []string{nobody, "refused", "unix:///nowhere/etcd.sock", "no such file"}, "Nothing listens"},
		"unknown host":              {[]string{"http://etcd.invalid:2379"}, TLSFiles{}, []string{"http://etcd.invalid:2379"}, "host name"},
		"unknown authority":         {[]string{"https://" + secure}, TLSFiles{CAFile: stranger.ca}, []string{"https://" + secure, "unknown authority"}, "--etcd-cafile"},
		"no CA":                     {[]string{"https://" + secure}, TLSFiles{}, []string{"https://" + secure, "unknown authority"}, "--etcd-cafile"},
		"wrong name":                {[]string{wrongName}, trust, []string{wrongName, "127.0.0.1"}, "in that etcd's certificate"},
		"expired":                   {[]string{expired}, trust, []string{expired, "expired"}, "renew"},
		"client certificate wanted": {[]string{mutual}, trust, []string{mutual}, "--etcd-certfile"},
		"TLS on a plain port":       {[]string{strings.Replace(plain, "http:", "https:", 1)}, trust, []string{"https://"}, "http://"},
		"plain on a TLS port":       {[]string{"http://" + secure}, TLSFiles{}, []string{"http://" + secure}, "https://"},
		"too old":                   {[]string{plain, tooOld}, TLSFiles{}, []string{tooOld, "3.4.30", "3.5.0"}, "Upgrade"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := CheckExternal(t.Context(), tc.endpoints, tc.files)
			if tc.want == nil {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			t.Logf("error: %v\nhint: %s", err, fault.Hint(err))
			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error has no %q", w)
				}
			}
			if !strings.Contains(fault.Hint(err), tc.hint) {
				t.Errorf("hint %q has no %q", fault.Hint(err), tc.hint)
			}
		})
	}
}

func TestCheckExternalUsage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		endpoints []string
		files     TLSFiles
		want      string
	}{
		"none":              {nil, TLSFiles{}, "no endpoint"},
		"no scheme":         {[]string{"127.0.0.1:2379"}, TLSFiles{}, "not a URL like"},
		"no port":           {[]string{"https://etcd"}, TLSFiles{}, `"https://etcd"`},
		"password":          {[]string{"ftp://root:geheim@etcd:1"}, TLSFiles{}, "ftp://root:xxxxx@etcd:1"},
		"key is missing":    {[]string{"https://etcd:1"}, TLSFiles{CertFile: "c.crt"}, `"c.crt"`},
		"no such file":      {[]string{"https://etcd:1"}, TLSFiles{CAFile: "/nowhere/ca.crt"}, "/nowhere/ca.crt"},
		"pair is no a pair": {[]string{"https://etcd:1"}, TLSFiles{CertFile: "/nowhere/c.crt", KeyFile: "/nowhere/c.key"}, "/nowhere/c.crt"},
	} {
		err := CheckExternal(t.Context(), tc.endpoints, tc.files)
		if err == nil || !strings.Contains(err.Error(), tc.want) || fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s: error %v with code %d, want a usage error with %q", name, err, fault.Code(err), tc.want)
		}
		if err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: the error has the password: %v", name, err)
		}
	}
}
