package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var birth = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func optionsAt(dir string, now time.Time) Options {
	return Options{
		Dir:          dir,
		Names:        []string{"kapi.example.org", "192.0.2.7"},
		AdvertiseIPs: []net.IP{net.IPv4(198, 51, 100, 1)},
		ServiceIPs:   []net.IP{net.IPv4(10, 0, 0, 1)},
		Now:          func() time.Time { return now },
	}
}

func ensureAt(t *testing.T, dir string, now time.Time) *Material {
	t.Helper()
	m, err := Ensure(optionsAt(dir, now))
	must(t, err)
	return m
}

// filesOf reads all files below dir, by name.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	found, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range found {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		files[e.Name()] = string(data)
	}
	return files
}

// changed lists the files that differ between two of filesOf.
func changed(before, after map[string]string) map[string]bool {
	names := map[string]bool{}
	for n := range after {
		if before[n] != after[n] {
			names[n] = true
		}
	}
	for n := range before {
		if _, ok := after[n]; !ok {
			names[n] = true
		}
	}
	return names
}

func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.Chmod(to, 0o700))
	for name, data := range filesOf(t, from) {
		fi, err := os.Stat(filepath.Join(from, name))
		must(t, err, os.WriteFile(filepath.Join(to, name), []byte(data), fi.Mode().Perm()))
	}
	return to
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

func firstCert(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	certs, err := readCerts(path)
	must(t, err)
	return certs[0]
}

// party is one end of a TLS connection: its own pair, and whom it trusts.
type party struct {
	pair  tls.Certificate
	trust []byte // PEM
}

func newParty(t *testing.T, pair Pair, trust string) party {
	t.Helper()
	c, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
	must(t, err)
	return party{pair: c, trust: readFile(t, trust)}
}

func (p party) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(p.trust)
	return pool
}

// handshake connects client to server for real, at an instant, with both
// certificates verified, and returns what the server saw of the client.
func handshake(server, client party, name string, now time.Time) (*x509.Certificate, error) {
	clock := func() time.Time { return now }
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{server.pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    server.pool(),
		Time:         clock,
	})
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	type seen struct {
		cert *x509.Certificate
		err  error
	}
	result := make(chan seen, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			result <- seen{err: err}
			return
		}
		defer conn.Close()
		tc := conn.(*tls.Conn)
		if err := tc.Handshake(); err != nil {
			result <- seen{err: fmt.Errorf("server: %w", err)}
			return
		}
		_, err = tc.Write([]byte("ok"))
		result <- seen{tc.ConnectionState().PeerCertificates[0], err}
	}()
	conn, cerr := tls.Dial("tcp", ln.Addr().String(), &tls.Config{
		Certificates: []tls.Certificate{client.pair},
		RootCAs:      client.pool(),
		ServerName:   name,
		Time:         clock,
	})
	if cerr == nil {
		// In TLS 1.3 the client learns with its first read that it was refused.
		_, cerr = io.ReadAll(conn)
		conn.Close()
	}
	s := <-result
	return s.cert, errors.Join(s.err, cerr)
}

// checkWorks connects with everything that Ensure made, at an instant.
func checkWorks(t *testing.T, m *Material, now time.Time) {
	t.Helper()
	server, admin := newParty(t, m.Serving, m.ClusterCA.Cert), newParty(t, m.Admin, m.ClusterCA.Cert)
	seen, err := handshake(server, admin, "localhost", now)
	if err != nil {
		t.Errorf("admin: %v", err)
	} else if seen.Subject.CommonName != "kapi-admin" || fmt.Sprint(seen.Subject.Organization) != "[system:masters]" {
		t.Errorf("the admin is %v", seen.Subject)
	}
	// An extension server trusts the front-proxy authority only.
	extension := party{pair: server.pair, trust: readFile(t, m.FrontProxyCA.Cert)}
	proxy := newParty(t, m.ProxyClient, m.ClusterCA.Cert)
	seen, err = handshake(extension, proxy, "localhost", now)
	if err != nil {
		t.Errorf("proxy: %v", err)
	} else if seen.Subject.CommonName != "front-proxy-client" {
		t.Errorf("the proxy is %v", seen.Subject)
	}
}

var errCut = errors.New("power is cut")

// powerCut is a disk whose power goes off at one change: that one, and whatever
// comes after it, is not made. With an empty change it only records them.
type powerCut struct {
	at string // KIND FILE, as in made

	mu   sync.Mutex
	made []string
	off  bool
}

func (c *powerCut) change(kind, path string, f func() error) error {
	name := kind + " " + filepath.Base(path)
	c.mu.Lock()
	c.off = c.off || name == c.at
	off := c.off
	if !off {
		c.made = append(c.made, name)
	}
	c.mu.Unlock()
	if off {
		return errCut
	}
	return f()
}

func (c *powerCut) disk() disk {
	d := realDisk()
	return disk{
		write: func(path string, data []byte, mode fs.FileMode) error {
			return c.change("write", path, func() error { return d.write(path, data, mode) })
		},
		rename: func(from, to string) error {
			return c.change("rename", to, func() error { return d.rename(from, to) })
		},
		remove: func(path string) error {
			return c.change("remove", path, func() error { return d.remove(path) })
		},
	}
}
