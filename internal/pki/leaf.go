package pki

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"slices"
)

// leafSpec says what a leaf certificate must be.
type leafSpec struct {
	file   string // NAME of NAME.crt and NAME.key
	ca     string // NAME of the authority
	cn     string
	orgs   []string
	names  names
	usages []x509.ExtKeyUsage
}

// leafSpecs are the leaves of Ensure.
func leafSpecs(o Options) ([]leafSpec, error) {
	serving, err := localNames(o)
	if err != nil {
		return nil, err
	}
	serviceNames(o, &serving)
	client := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return []leafSpec{
		{file: servingName, ca: clusterCAName, cn: "kapi", names: serving, usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}},
		{file: proxyClientName, ca: frontProxyCAName, cn: "front-proxy-client", usages: client},
		{file: adminName, ca: clusterCAName, cn: "kapi-admin", orgs: []string{"system:masters"}, usages: client},
	}, nil
}

// ensureLeaf returns the pair on disk, after making what is missing or does not
// do. changed tells whether anything was written.
func (s *session) ensureLeaf(ca *authority, spec leafSpec) (pair Pair, changed bool, err error) {
	pair = Pair{Cert: s.certPath(spec.file), Key: s.keyPath(spec.file)}
	key, err := readKey(pair.Key)
	if err == nil {
		err = tightenMode(pair.Key, 0o600)
	} else {
		changed = true
		key, err = s.writeNewKey(pair.Key)
	}
	if err != nil {
		return pair, changed, err
	}
	if certs, err := readCerts(pair.Cert); err == nil && s.fits(certs, key, ca, spec) {
		pair.NotAfter = certs[0].NotAfter
		return pair, changed, nil
	}
	cert, err := s.signLeaf(key.Public(), ca, spec)
	if err != nil {
		return pair, changed, err
	}
	pair.NotAfter = cert.NotAfter
	chain := append([]*x509.Certificate{cert}, ca.chain...)
	return pair, true, s.disk.write(pair.Cert, encodeCerts(chain), 0o644)
}

// fits tells whether the certificates of a file still do for spec.
func (s *session) fits(certs []*x509.Certificate, key crypto.Signer, ca *authority, spec leafSpec) bool {
	leaf, chain := certs[0], certs[1:]
	if !belongs(leaf, key) || !begun(leaf, s.now) || due(leaf, s.now) {
		return false
	}
	if leaf.Subject.CommonName != spec.cn || !slices.Equal(leaf.Subject.Organization, spec.orgs) || !spec.names.coveredBy(leaf) {
		return false
	}
	if !slices.EqualFunc(chain, ca.chain, (*x509.Certificate).Equal) {
		return false
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	for _, usage := range spec.usages {
		o := x509.VerifyOptions{Roots: roots, CurrentTime: s.now, KeyUsages: []x509.ExtKeyUsage{usage}}
		if _, err := leaf.Verify(o); err != nil {
			return false
		}
	}
	return true
}

func (s *session) signLeaf(pub crypto.PublicKey, ca *authority, spec leafSpec) (*x509.Certificate, error) {
	t := &x509.Certificate{
		Subject:     pkix.Name{CommonName: spec.cn, Organization: spec.orgs},
		NotBefore:   s.now.Add(-skew),
		NotAfter:    s.now.Add(leafLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: spec.usages,
		DNSNames:    spec.names.dns,
		IPAddresses: spec.names.ips,

		BasicConstraintsValid: true,
	}
	if _, ok := pub.(*rsa.PublicKey); ok {
		t.KeyUsage |= x509.KeyUsageKeyEncipherment
	}
	// Nothing may outlive what it is checked against.
	if t.NotAfter.After(ca.cert.NotAfter) {
		t.NotAfter = ca.cert.NotAfter
	}
	der, err := x509.CreateCertificate(rand.Reader, t, ca.cert, pub, ca.key)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate %s: %w", s.certPath(spec.file), err)
	}
	return x509.ParseCertificate(der)
}

// writeNewKey makes a key and puts it on disk.
func (s *session) writeNewKey(path string) (crypto.Signer, error) {
	key, err := newKey()
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	data, err := encodeKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	return key, s.disk.write(path, data, 0o600)
}
