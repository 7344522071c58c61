package pki

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCertificates: a file with a key beside the certificate gives the certificate only.
func TestCertificates(t *testing.T) {
	m, err := Ensure(Options{Dir: filepath.Join(t.TempDir(), "pki")})
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, path := range []string{m.Serving.Key, m.Serving.Cert, m.ClusterCA.Cert} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	combined := filepath.Join(t.TempDir(), "combined.pem")
	if err := os.WriteFile(combined, all, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Certificates(combined)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(got, []byte("PRIVATE")) || strings.Count(string(got), "BEGIN CERTIFICATE") != 2 {
		t.Errorf("published:\n%s", got)
	}
	if got, err := Certificates(m.Serving.Key); err == nil {
		t.Errorf("published of a key: %s", got)
	}
}
