package chain

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options"
)

// loopbackLife is how long the certificate for the server's own connections
// lives; it is made at every start and kept in memory only.
const loopbackLife = (3*365 + 1) * 24 * time.Hour

// serveLoopback makes the client configuration with which the server talks to
// itself, and the certificate that it shows to itself.
// Upstream's way (options.SecureServingOptionsWithLoopback) makes an RSA key,
// which costs a fifth of a second at every start; an elliptic one is free.
func serveLoopback(config *genericapiserver.Config) error {
	now := time.Now()
	cert, key, err := loopbackCertificate(now)
	if err != nil {
		return fmt.Errorf("making the loopback certificate: %w", err)
	}
	content, err := dynamiccertificates.NewStaticSNICertKeyContent("self-signed loopback", cert, key, genericapiserver.LoopbackClientServerNameOverride)
	if err != nil {
		return fmt.Errorf("using the loopback certificate: %w", err)
	}
	// In front, so that it wins over a certificate that a user gave for the name.
	config.SecureServing.SNICerts = slices.Insert(config.SecureServing.SNICerts, 0, content)
	config.LoopbackClientConfig, err = config.SecureServing.NewLoopbackClientConfig(uuid.NewString(), cert)
	if err != nil {
		return fmt.Errorf("making the loopback client: %w", err)
	}
	check := healthz.NamedCheck("loopback-serving-certificate", func(*http.Request) error {
		if time.Since(now) > loopbackLife {
			return options.LoopbackCertificateExpiredError{}
		}
		return nil
	})
	config.AddHealthzChecks(check)
	config.AddLivezChecks(check)
	return nil
}

// loopbackCertificate returns a certificate that is its own authority, and its
// key, as PEM.
func loopbackCertificate(now time.Time) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	template := x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: genericapiserver.LoopbackClientServerNameOverride},
		DNSNames:              []string{genericapiserver.LoopbackClientServerNameOverride},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(loopbackLife),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), nil
}
