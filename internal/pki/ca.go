package pki

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/kapi-dev/kapi/internal/fault"
)

// authority is an Authority that can sign.
type authority struct {
	Authority
	key  crypto.Signer
	cert *x509.Certificate
	// chain goes behind every leaf: this authority's key, certified by the one
	// before it. Who only trusts the old authority finds the way through it.
	chain []*x509.Certificate
	// notice tells of a replacement, for Material.Notices.
	notice string
}

func (s *session) nextKeyPath(name string) string { return s.keyPath(name + "-next") }
func (s *session) crossPath(name string) string   { return s.certPath(name + "-cross") }

// ensureCA returns an authority that can sign now, and makes it, gives its
// certificate new dates or replaces it where needed.
func (s *session) ensureCA(name string) (*authority, error) {
	key, certs, err := s.loadCA(name)
	if err != nil {
		return nil, err
	}
	if key == nil {
		if key, err = s.writeNewKey(s.keyPath(name)); err != nil {
			return nil, err
		}
	}
	old, notice := encodeCerts(certs), ""
	active := pick(certs, key, s.now)
	switch {
	case active == nil:
		// A new authority, or one from the future: the clock was wrong when it was
		// made, or is wrong now. The same key with other dates serves both cases,
		// as a client's copy of either certificate trusts what the key signs.
		subject, err := caSubject(name, key)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(certs, func(c *x509.Certificate) bool { return belongs(c, key) }); i >= 0 {
			subject = certs[i].RawSubject
			notice = fmt.Sprintf("%s is not valid before %s: wrote one with the same key that is valid now; check the clock",
				s.certPath(name), certs[i].NotBefore.Format(time.RFC3339))
		}
		if active, err = s.signCA(subject, key.Public(), s.now.Add(caLife), nil, key); err != nil {
			return nil, err
		}
		certs = append([]*x509.Certificate{active}, certs...)
	case due(active, s.now):
		return s.replaceCA(name, key, active, certs)
	}
	certs = slices.DeleteFunc(certs, func(c *x509.Certificate) bool { return ended(c, s.now) })
	if bundle := encodeCerts(certs); !bytes.Equal(bundle, old) {
		if err := s.disk.write(s.certPath(name), bundle, 0o644); err != nil {
			return nil, err
		}
	}
	a := s.authority(name, key, active)
	a.notice = notice
	return a, nil
}

// replaceCA makes a new authority beside the old one. The order of the writes
// decides what a kill leaves behind: the new key counts from the moment its
// certificate is in the bundle, and loadCA moves it to its place if we could not.
func (s *session) replaceCA(name string, oldKey crypto.Signer, old *x509.Certificate, certs []*x509.Certificate) (*authority, error) {
	key, err := s.writeNewKey(s.nextKeyPath(name))
	if err != nil {
		return nil, err
	}
	subject, err := caSubject(name, key)
	if err != nil {
		return nil, err
	}
	if !ended(old, s.now) {
		cross, err := s.signCA(subject, key.Public(), old.NotAfter, old, oldKey)
		if err != nil {
			return nil, err
		}
		if err := s.disk.write(s.crossPath(name), encodeCerts([]*x509.Certificate{cross}), 0o644); err != nil {
			return nil, err
		}
	}
	cert, err := s.signCA(subject, key.Public(), s.now.Add(caLife), nil, key)
	if err != nil {
		return nil, err
	}
	certs = slices.DeleteFunc(certs, func(c *x509.Certificate) bool { return ended(c, s.now) })
	if err := s.disk.write(s.certPath(name), encodeCerts(append([]*x509.Certificate{cert}, certs...)), 0o644); err != nil {
		return nil, err
	}
	if err := s.disk.rename(s.nextKeyPath(name), s.keyPath(name)); err != nil {
		return nil, err
	}
	a := s.authority(name, key, cert)
	a.notice = fmt.Sprintf("the authority %s ends %s: made a new one, and both are trusted until then",
		s.certPath(name), old.NotAfter.Format(time.RFC3339))
	if ended(old, s.now) {
		a.notice = fmt.Sprintf("the authority %s ended %s: made a new one; clients need a new kubeconfig",
			s.certPath(name), old.NotAfter.Format(time.RFC3339))
	}
	return a, nil
}

// loadCA reads an authority, and completes a replacement that was cut off. key is
// nil where there is none yet; certs is empty where only the key was written.
func (s *session) loadCA(name string) (crypto.Signer, []*x509.Certificate, error) {
	keyPath, certPath := s.keyPath(name), s.certPath(name)
	certs, err := readCerts(certPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fault.WithHint(fmt.Errorf("reading an authority: %w", err),
			"restore %s from a backup, or remove it: it is made again from %s", certPath, keyPath)
	}
	if err := s.settleNextKey(name, certs); err != nil {
		return nil, nil, err
	}
	hint := fmt.Sprintf("restore it from a backup; a new authority is made once %s and %s are removed, and then every client needs a new kubeconfig", certPath, keyPath)
	key, err := readKey(keyPath)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(certs) == 0:
		return nil, nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fault.WithHint(fmt.Errorf("reading an authority: %s is missing, while %s is there", keyPath, certPath), "%s", hint)
	case err != nil:
		return nil, nil, fault.WithHint(fmt.Errorf("reading an authority: %w", err), "%s", hint)
	case len(certs) > 0 && !slices.ContainsFunc(certs, func(c *x509.Certificate) bool { return c.IsCA && belongs(c, key) }):
		return nil, nil, fault.WithHint(fmt.Errorf("reading an authority: %s holds no CA certificate for the key in %s", certPath, keyPath), "%s", hint)
	}
	return key, certs, tightenMode(keyPath, 0o600)
}

// settleNextKey ends an interrupted replaceCA: forward where the bundle has the
// new certificate already, backward where it has not.
func (s *session) settleNextKey(name string, certs []*x509.Certificate) error {
	next, err := readKey(s.nextKeyPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && slices.ContainsFunc(certs, func(c *x509.Certificate) bool { return belongs(c, next) }) {
		return s.disk.rename(s.nextKeyPath(name), s.keyPath(name))
	}
	return s.disk.remove(s.nextKeyPath(name))
}

// pick returns the certificate to sign with: of those for the key that are valid
// already, the one that lasts longest. It is nil where there is none.
func pick(certs []*x509.Certificate, key crypto.Signer, now time.Time) *x509.Certificate {
	var best *x509.Certificate
	for _, c := range certs {
		if c.IsCA && belongs(c, key) && begun(c, now) && (best == nil || c.NotAfter.After(best.NotAfter)) {
			best = c
		}
	}
	return best
}

func (s *session) authority(name string, key crypto.Signer, cert *x509.Certificate) *authority {
	a := &authority{
		Authority: Authority{Cert: s.certPath(name), Key: s.keyPath(name), NotAfter: cert.NotAfter},
		key:       key, cert: cert,
	}
	// Without a readable cross certificate old clients lose their way, and new
	// ones miss nothing: no reason to refuse to start.
	cross, err := readCerts(s.crossPath(name))
	if err == nil && belongs(cross[0], key) && begun(cross[0], s.now) && !ended(cross[0], s.now) {
		a.chain = cross[:1]
	}
	return a
}

// caSubject derives the name from the key, so that a certificate that is made
// again from a key still fits to what the key has signed.
func caSubject(name string, key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, fmt.Errorf("naming an authority: %w", err)
	}
	sum := sha256.Sum256(der)
	subject := pkix.Name{CommonName: "kapi-" + name + "-" + hex.EncodeToString(sum[:4])}
	return asn1.Marshal(subject.ToRDNSequence())
}

// signCA makes a CA certificate for pub; parent nil is self-signed.
func (s *session) signCA(subject []byte, pub crypto.PublicKey, notAfter time.Time, parent *x509.Certificate, key crypto.Signer) (*x509.Certificate, error) {
	t := &x509.Certificate{
		RawSubject:            subject,
		NotBefore:             s.now.Add(-skew),
		NotAfter:              notAfter,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	if parent == nil {
		parent = t
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, pub, key)
	if err != nil {
		return nil, fmt.Errorf("signing an authority: %w", err)
	}
	return x509.ParseCertificate(der)
}
