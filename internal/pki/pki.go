// Package pki makes and keeps the authorities, certificates and keys of a kapi
// data directory, renews them, and writes the admin kubeconfig from them.
//
// It is not a certificate service: it signs nothing for others (the
// CertificateSigningRequest controllers do) and knows no server. It may import
// fault, datadir and k8s.io/client-go/tools/clientcmd.
//
// Two rules make every moment of it safe to be killed in:
//
//   - Files are replaced one at a time and atomically, and a key is on disk before
//     the certificate that needs it. A leaf's renewal keeps its key and so replaces
//     one file only: a server that reloads the pair never sees halves of two.
//   - What others trust, an authority or the service-account key, is never
//     replaced because it can't be read: that is an error, and names the file.
//     A leaf that can't be read or does not fit is made again.
package pki

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kapi-dev/kapi/internal/datadir"
)

const (
	caLife   = 10 * 365 * 24 * time.Hour
	leafLife = 365 * 24 * time.Hour

	// skew is how far two clocks may differ: certificates are valid from this
	// long before they are made.
	skew = 5 * time.Minute
)

// File names below the PKI directory; an authority and a leaf are NAME.crt and
// NAME.key. They are kubeadm's where kubeadm has the file.
const (
	clusterCAName    = "ca"
	frontProxyCAName = "front-proxy-ca"
	etcdCAName       = "etcd-ca"
	servingName      = "apiserver"
	proxyClientName  = "front-proxy-client"
	adminName        = "admin"
	serviceKeyName   = "sa"
)

// Options say for which server the certificates are.
type Options struct {
	// Dir is the PKI directory, datadir.Dir.PKI(). It is created with mode 0700.
	// The caller holds the lock of the data directory.
	Dir string
	// Names are further names of the server: DNS names, with *. in front too, or
	// IP addresses.
	Names []string
	// AdvertiseIPs are the addresses at which clients reach the server.
	AdvertiseIPs []net.IP
	// ServiceIPs are the cluster IPs of the Service default/kubernetes.
	ServiceIPs []net.IP
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	disk disk // the zero value is the real one; tests cut the power between two changes
}

// Authority is a certificate authority on disk.
type Authority struct {
	// Cert is the PEM file of the certificates to trust, the one that signs first.
	// During the overlap after a replacement it holds the old one too.
	Cert string
	// Key is the PEM file of the signing key.
	Key string
	// NotAfter is when the signing certificate ends.
	NotAfter time.Time
}

// Pair is a certificate and its key on disk, as PEM.
type Pair struct {
	Cert, Key string
	NotAfter  time.Time
}

// Material is what Ensure has made or found: paths and when each ends.
type Material struct {
	// ClusterCA signs servers and clients of the API; its Cert is the client CA
	// file of the server and the CA of kubeconfigs.
	ClusterCA Authority
	// FrontProxyCA signs the aggregator's client certificate only: whoever it
	// vouches for may say who a request is from.
	FrontProxyCA Authority
	// EtcdCA signs the members and clients of etcd, see EnsureEtcd.
	EtcdCA Authority
	// Serving is the server certificate of the secure port.
	Serving Pair
	// ProxyClient is what the aggregator shows to the servers it proxies to.
	ProxyClient Pair
	// Admin is the client certificate of kapi-admin in system:masters.
	Admin Pair
	// ServiceAccountKey signs service-account tokens, ServiceAccountPub is its
	// public half.
	ServiceAccountKey, ServiceAccountPub string
	// Notices tell of replaced authorities: sentences for the log.
	Notices []string

	opts Options
}

// Ensure brings the PKI directory into a state in which a server can start:
// what is missing is made, what has less than a third of its life left, is not
// valid yet or does not fit the options is made again, everything else stays as
// it is. A name that can't stand in a certificate is a usage error; nothing is
// written then.
func Ensure(o Options) (*Material, error) {
	m, err := ensure(o)
	if err != nil {
		return nil, fmt.Errorf("preparing certificates: %w", err)
	}
	return m, nil
}

func ensure(o Options) (*Material, error) {
	s, err := newSession(o)
	if err != nil {
		return nil, err
	}
	specs, err := leafSpecs(o)
	if err != nil {
		return nil, err
	}
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	m := &Material{opts: o}
	// Each write waits for the disk: side by side they wait once.
	var cluster, frontProxy, etcd *authority
	err = parallel(
		func() (err error) { cluster, err = s.ensureCA(clusterCAName); return err },
		func() (err error) { frontProxy, err = s.ensureCA(frontProxyCAName); return err },
		func() (err error) { etcd, err = s.ensureCA(etcdCAName); return err },
		func() (err error) { m.ServiceAccountKey, m.ServiceAccountPub, err = s.ensureServiceKey(); return err },
	)
	if err != nil {
		return nil, err
	}
	m.ClusterCA, m.FrontProxyCA, m.EtcdCA = cluster.Authority, frontProxy.Authority, etcd.Authority
	for _, ca := range []*authority{cluster, frontProxy, etcd} {
		if ca.notice != "" {
			m.Notices = append(m.Notices, ca.notice)
		}
	}
	cas := map[string]*authority{clusterCAName: cluster, frontProxyCAName: frontProxy}
	var leaves []func() error
	for _, spec := range specs {
		leaves = append(leaves, func() (err error) {
			*m.pair(spec.file), _, err = s.ensureLeaf(cas[spec.ca], spec)
			return err
		})
	}
	if err := parallel(leaves...); err != nil {
		return nil, err
	}
	return m, nil
}

// parallel runs functions side by side, waits for all, and returns the error of
// the first in the list that has one.
func parallel(fs ...func() error) error {
	errs := make([]error, len(fs))
	var wg sync.WaitGroup
	for i, f := range fs {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// pair returns the field for a leaf of leafSpecs.
func (m *Material) pair(file string) *Pair {
	switch file {
	case servingName:
		return &m.Serving
	case proxyClientName:
		return &m.ProxyClient
	default:
		return &m.Admin
	}
}

// session is one pass over a PKI directory, at one instant. It does not change,
// and may be used from several goroutines for different files.
type session struct {
	dir  string
	now  time.Time
	disk disk
}

// disk is every change that this package makes to files.
type disk struct {
	write  func(path string, data []byte, mode fs.FileMode) error
	rename func(from, to string) error
	remove func(path string) error
}

func realDisk() disk {
	return disk{write: datadir.WriteFileAtomic, rename: os.Rename, remove: os.Remove}
}

func newSession(o Options) (*session, error) {
	if o.Dir == "" {
		return nil, errors.New("no directory for certificates is named")
	}
	s := &session{dir: o.Dir, now: time.Now(), disk: o.disk}
	if o.Now != nil {
		s.now = o.Now()
	}
	if s.disk.write == nil {
		s.disk = realDisk()
	}
	return s, nil
}

func (s *session) makeDir() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return tightenMode(s.dir, 0o700)
}

func (s *session) certPath(name string) string { return filepath.Join(s.dir, name+".crt") }
func (s *session) keyPath(name string) string  { return filepath.Join(s.dir, name+".key") }

// tightenMode takes rights beyond mode away.
func tightenMode(path string, mode fs.FileMode) error {
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm()&^mode == 0 {
		return err
	}
	return os.Chmod(path, mode)
}
