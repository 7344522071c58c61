package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-semver/semver"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/kapi-dev/kapi/internal/fault"
)

// endpointTimeout bounds each of the steps with one endpoint.
const endpointTimeout = 5 * time.Second

// minExternal is the oldest etcd that kube-apiserver 1.37 can be run on.
const minExternal = "3.5.0"

// TLSFiles are the PEM files for an external etcd. Empty names are left out;
// CertFile and KeyFile belong together.
type TLSFiles struct {
	CAFile   string // the authorities that have signed etcd's certificate
	CertFile string // the client certificate
	KeyFile  string // its key
}

// CheckExternal asks each of the endpoints (http://, https://, unix:// or
// unixs:// URLs of an etcd cluster) for its status. It returns nil if one of
// them can be used, since a cluster works while a member is down, and none is
// too old. Otherwise the error names each endpoint, the cause and the way out.
func CheckExternal(ctx context.Context, endpoints []string, files TLSFiles) error {
	if len(endpoints) == 0 {
		return fault.Usagef("no endpoint of the external etcd is given")
	}
	urls := make([]*url.URL, len(endpoints))
	for i, ep := range endpoints {
		u, err := parseEndpoint(ep)
		if err != nil {
			return err
		}
		urls[i] = u
	}
	tc, err := clientTLS(files)
	if err != nil {
		return err
	}
	errs := make([]error, len(urls))
	var wg sync.WaitGroup
	for i, u := range urls {
		wg.Go(func() { errs[i] = checkEndpoint(ctx, u, tc) })
	}
	wg.Wait()
	return decide(errs)
}

// External returns a client of the etcd that CheckExternal has found usable. It
// connects when it is first used, and is to be closed.
func External(endpoints []string, files TLSFiles) (*clientv3.Client, error) {
	cc := clientv3.Config{Endpoints: endpoints, DialTimeout: endpointTimeout, Logger: zap.NewNop()}
	if files != (TLSFiles{}) {
		var err error
		if cc.TLS, err = clientTLS(files); err != nil {
			return nil, err
		}
	}
	client, err := clientv3.New(cc)
	if err != nil {
		return nil, fmt.Errorf("making a client of the external etcd: %w", err)
	}
	return client, nil
}

// errTooOld marks an endpoint that answers with a version that can't be used.
var errTooOld = errors.New("too old")

// decide makes one result of those of all endpoints.
func decide(errs []error) error {
	usable := false
	for _, err := range errs {
		if errors.Is(err, errTooOld) {
			return err
		}
		usable = usable || err == nil
	}
	if usable {
		return nil
	}
	return errors.Join(errs...)
}

func parseEndpoint(ep string) (*url.URL, error) {
	u, err := url.Parse(ep)
	if err == nil {
		switch u.Scheme {
		case "http", "https":
			if u.Port() != "" && u.Hostname() != "" {
				return u, nil
			}
		case "unix", "unixs":
			if u.Host+u.Path != "" {
				return u, nil
			}
		}
	}
	// The URL may hold a password; url.Error would repeat it.
	shown := "an endpoint of the external etcd"
	if err == nil {
		shown = fmt.Sprintf("endpoint %q of the external etcd", u.Redacted())
	}
	return nil, fault.Usagef("%s is not a URL like https://HOST:2379 or unix:///PATH", shown)
}

// clientTLS loads the files. Nil: there are none.
func clientTLS(files TLSFiles) (*tls.Config, error) {
	if files == (TLSFiles{}) {
		return &tls.Config{MinVersion: tls.VersionTLS12}, nil
	}
	if (files.CertFile == "") != (files.KeyFile == "") {
		return nil, fault.Usagef("client certificate %q and key %q of the external etcd: name both or none", files.CertFile, files.KeyFile)
	}
	info := transport.TLSInfo{TrustedCAFile: files.CAFile, CertFile: files.CertFile, KeyFile: files.KeyFile}
	tc, err := info.ClientConfig()
	if err != nil {
		return nil, fault.Usagef("loading the TLS files of the external etcd (CA %q, certificate %q, key %q): %w",
			files.CAFile, files.CertFile, files.KeyFile, err)
	}
	return tc, nil
}

// checkEndpoint connects step by step, since each has causes of its own.
func checkEndpoint(ctx context.Context, u *url.URL, tc *tls.Config) error {
	fail := func(err error) error {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fault.WithHint(fmt.Errorf("external etcd %s: %w", u.Redacted(), err), "%s", hintFor(u, err))
	}
	if err := dialOnly(ctx, u, tc); err != nil {
		return fail(err)
	}
	v, err := askVersion(ctx, u, tc)
	if err != nil {
		return fail(&stepError{"asking for its status", err})
	}
	have, err := semver.NewVersion(v)
	if err != nil {
		return fail(fmt.Errorf("it says that its version is %q", v))
	}
	if have.LessThan(*semver.New(minExternal)) {
		return fault.WithHint(fmt.Errorf("external etcd %s: version %s is %w: %s or newer is needed", u.Redacted(), v, errTooOld, minExternal),
			"Upgrade that etcd, one minor version at a time.")
	}
	return nil
}

// stepError says at which step of a connection err happened.
type stepError struct {
	step string
	err  error
}

func (s *stepError) Error() string { return s.step + ": " + s.err.Error() }
func (s *stepError) Unwrap() error { return s.err }

// dialOnly connects as far as gRPC would, and hangs up. gRPC itself would
// retry, and report a timeout.
func dialOnly(ctx context.Context, u *url.URL, tc *tls.Config) error {
	ctx, cancel := context.WithTimeout(ctx, endpointTimeout)
	defer cancel()
	network, addr := "tcp", u.Host
	if u.Scheme == "unix" || u.Scheme == "unixs" {
		network, addr = "unix", u.Host+u.Path
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return &stepError{"connecting", err}
	}
	defer conn.Close()
	socket := conn
	defer context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })()
	if u.Scheme == "https" || u.Scheme == "unixs" {
		tc = tc.Clone()
		tc.NextProtos = []string{"h2"}
		if tc.ServerName == "" {
			tc.ServerName = u.Hostname()
		}
		secure := tls.Client(socket, tc)
		if err := secure.HandshakeContext(ctx); err != nil {
			return &stepError{"TLS handshake", err}
		}
		conn = secure
	}
	if err := greet(conn); err != nil {
		return &stepError{"speaking HTTP/2", err}
	}
	return nil
}

// errNotHTTP2: something else than etcd listens, or it wants TLS.
var errNotHTTP2 = errors.New("the answer is not HTTP/2")

// greet sends what an HTTP/2 client begins with, its preface and empty
// settings (RFC 9113, 3.4), and expects the server's settings. It is here that
// a server says that it would have liked a client certificate.
func greet(conn net.Conn) error {
	const settings = 4
	hello := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 0, 0, 0, settings, 0, 0, 0, 0, 0)
	if _, err := conn.Write(hello); err != nil {
		return err
	}
	var head [9]byte // length (3 bytes), type, flags, stream
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return err
	}
	if head[3] != settings {
		return errNotHTTP2
	}
	return nil
}

// askVersion asks the etcd at u for its version, as kube-apiserver's client
// would.
func askVersion(ctx context.Context, u *url.URL, tc *tls.Config) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, endpointTimeout)
	defer cancel()
	cc := clientv3.Config{Context: ctx, Endpoints: []string{u.String()}, DialTimeout: endpointTimeout, Logger: zap.NewNop()}
	if u.Scheme == "https" || u.Scheme == "unixs" {
		cc.TLS = tc
	}
	c, err := clientv3.New(cc)
	if err != nil {
		return "", err
	}
	defer c.Close()
	st, err := c.Status(ctx, u.String())
	if err != nil {
		return "", err
	}
	return st.Version, nil
}
