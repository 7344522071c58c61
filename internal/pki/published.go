package pki

import (
	"fmt"
	"os"

	"k8s.io/client-go/util/cert"
)

// Certificates returns the certificates in a PEM file, as PEM, and nothing else that is
// in it: beside the certificate of a server its key may stand, and what is returned is
// for everybody to read. A file without a certificate is an error.
func Certificates(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading certificates: %w", err)
	}
	found, err := OnlyCertificates(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// OnlyCertificates is Certificates of the content of a file.
func OnlyCertificates(text []byte) ([]byte, error) {
	found, err := cert.ParseCertsPEM(text)
	if err != nil {
		return nil, fmt.Errorf("reading certificates: %w", err)
	}
	return cert.EncodeCertificates(found...)
}
