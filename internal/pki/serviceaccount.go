package pki

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kapi-dev/kapi/internal/fault"
)

// ensureServiceKey returns the paths of the private and public key of
// service-account tokens. The private key is never replaced: all tokens end with
// it. The public half is derived from it.
func (s *session) ensureServiceKey() (private, public string, err error) {
	private, public = s.keyPath(serviceKeyName), filepath.Join(s.dir, serviceKeyName+".pub")
	hint := fmt.Sprintf("restore it from a backup; a new key is made once %s and %s are removed, and then every service-account token is void", private, public)
	have, err := os.ReadFile(public)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("reading the service-account key: %w", err)
	}
	published := err == nil
	key, err := readKey(private)
	switch {
	case err == nil:
		err = tightenMode(private, 0o600)
	case errors.Is(err, fs.ErrNotExist) && !published:
		key, err = s.writeNewKey(private)
	case errors.Is(err, fs.ErrNotExist):
		// The private key is written first, so somebody has taken it away.
		err = fault.WithHint(fmt.Errorf("reading the service-account key: %s is missing, while %s is there", private, public), "%s", hint)
	default:
		err = fault.WithHint(fmt.Errorf("reading the service-account key: %w", err), "%s", hint)
	}
	if err != nil {
		return "", "", err
	}
	want, err := encodePublicKey(key.Public())
	if err != nil {
		return "", "", fmt.Errorf("encoding the service-account key: %w", err)
	}
	if !bytes.Equal(have, want) {
		err = s.disk.write(public, want, 0o644)
	}
	return private, public, err
}
