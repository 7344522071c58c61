package robust

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs certificates for the etcd that stands beside kapi.
type authority struct {
	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its certificate
}

// newAuthority makes one; its files are in dir and begin with name.
func newAuthority(t testing.TB, dir, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: dir}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	must(t, err)
	a.cert, err = x509.ParseCertificate(der)
	must(t, err)
	a.file = a.write(name+".crt", "CERTIFICATE", der)
	return a
}

// issue returns the files of a certificate for 127.0.0.1 and its key.
func (a *authority) issue(name string, usage ...x509.ExtKeyUsage) (cert, key string) {
	a.t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: usage,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	own := newKey(a.t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, own.Public(), a.key)
	must(a.t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(own)
	must(a.t, err)
	return a.write(name+".crt", "CERTIFICATE", der), a.write(name+".key", "PRIVATE KEY", encoded)
}

func (a *authority) write(name, kind string, der []byte) string {
	a.t.Helper()
	file := filepath.Join(a.dir, name)
	must(a.t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return file
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return key
}
