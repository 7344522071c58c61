package pki

import (
	"crypto/x509"
	"time"
)

// begun tells whether a certificate is valid already. As all are dated back by
// skew, one that has not begun was made by a clock that was further ahead.
func begun(c *x509.Certificate, now time.Time) bool {
	return !c.NotBefore.After(now)
}

func ended(c *x509.Certificate, now time.Time) bool {
	return now.After(c.NotAfter)
}

// due tells whether less than a third of the certificate's life is left.
func due(c *x509.Certificate, now time.Time) bool {
	return c.NotAfter.Sub(now) < c.NotAfter.Sub(c.NotBefore)/3
}
