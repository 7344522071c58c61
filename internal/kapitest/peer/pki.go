package peer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
)

// PKI is the directory of the peer's certificates: one CA, a serving
// certificate, the certificate of a user in system:masters, a service-account key.
type PKI struct {
	dir string
}

// Path returns where a file of the directory is ("ca.crt", "apiserver.key").
func (p *PKI) Path(name string) string { return filepath.Join(p.dir, name) }

// ClientConfig is what a kubeconfig of the peer would say.
func (p *PKI) ClientConfig(host string) *rest.Config {
	return &rest.Config{Host: host, TLSClientConfig: rest.TLSClientConfig{
		CAFile: p.Path("ca.crt"), CertFile: p.Path("admin.crt"), KeyFile: p.Path("admin.key"),
	}}
}

// NewPKI makes dir and fills it.
func NewPKI(dir string) (*PKI, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the peer's certificate directory: %w", err)
	}
	p := &PKI{dir: dir}
	ca, err := p.issue("ca", nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: "peer-ca"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	})
	if err != nil {
		return nil, err
	}
	_, err = p.issue("apiserver", ca, &x509.Certificate{
		Subject: pkix.Name{CommonName: "kube-apiserver"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)},
	})
	if err != nil {
		return nil, err
	}
	_, err = p.issue("admin", ca, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, err
	}
	_, err = p.newKey("service-account")
	return p, err
}

// authority is a certificate that can sign others.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// issue writes NAME.crt and NAME.key, signed by ca, or by itself where ca is nil.
func (p *PKI) issue(name string, ca *authority, template *x509.Certificate) (*authority, error) {
	key, err := p.newKey(name)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, fmt.Errorf("drawing a serial number: %w", err)
	}
	template.NotBefore = time.Now().Add(-time.Minute)
	template.NotAfter = time.Now().Add(7 * 24 * time.Hour)
	if ca == nil {
		ca = &authority{cert: template, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate %s back: %w", name, err)
	}
	return &authority{cert: cert, key: key}, p.writePEM(name+".crt", "CERTIFICATE", der)
}

func (p *PKI) newKey(name string) (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key %s: %w", name, err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding the key %s: %w", name, err)
	}
	return key, p.writePEM(name+".key", "EC PRIVATE KEY", der)
}

func (p *PKI) writePEM(name, kind string, der []byte) error {
	data := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(p.Path(name), data, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
