package pki

import (
	"fmt"

	"k8s.io/client-go/util/cert"
)

// Certificates returns the certificates in a PEM file, as PEM, and nothing else that is
// in it: beside the certificate of a server its key may stand, and what is returned is
// for everybody to read. A file without a certificate is an error.
func Certificates(path string) ([]byte, error) {
	found, err := cert.CertsFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading certificates: %w", err)
	}
	return cert.EncodeCertificates(found...)
}
