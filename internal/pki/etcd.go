package pki

import (
	"crypto/x509"
	"fmt"
)

// EtcdMaterial is what an etcd that listens on TCP needs. All of it is signed by
// CA, which peers and clients trust too.
type EtcdMaterial struct {
	CA Authority
	// Server is shown to clients, Peer to other members; etcd shows each as
	// client too. Client is what the API server shows to etcd.
	Server, Peer, Client Pair
}

// EnsureEtcd does for etcd what Ensure does for the server. It is for members
// that listen on TCP; a single member on unix sockets needs no certificates.
// Names and AdvertiseIPs of the options are names of the member.
func EnsureEtcd(o Options) (*EtcdMaterial, error) {
	m, err := ensureEtcd(o)
	if err != nil {
		return nil, fmt.Errorf("preparing certificates of etcd: %w", err)
	}
	return m, nil
}

func ensureEtcd(o Options) (*EtcdMaterial, error) {
	s, err := newSession(o)
	if err != nil {
		return nil, err
	}
	local, err := localNames(o)
	if err != nil {
		return nil, err
	}
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	ca, err := s.ensureCA(etcdCAName)
	if err != nil {
		return nil, err
	}
	m := &EtcdMaterial{CA: ca.Authority}
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, l := range []struct {
		dst  *Pair
		spec leafSpec
	}{
		{&m.Server, leafSpec{file: "etcd-server", cn: "kapi-etcd-server", names: local, usages: both}},
		{&m.Peer, leafSpec{file: "etcd-peer", cn: "kapi-etcd-peer", names: local, usages: both}},
		{&m.Client, leafSpec{file: "etcd-client", cn: "kapi-etcd-client", usages: both[1:]}},
	} {
		if *l.dst, _, err = s.ensureLeaf(ca, l.spec); err != nil {
			return nil, err
		}
	}
	return m, nil
}
