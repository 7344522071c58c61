package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// hintFor is the way out where the etcd at u could not be used because of err.
func hintFor(u *url.URL, err error) string {
	var (
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		noTLS     tls.RecordHeaderError
		alert     tls.AlertError
		dns       *net.DNSError
		timeout   net.Error
	)
	text := err.Error()
	secure := u.Scheme == "https" || u.Scheme == "unixs"
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "Nothing listens there: start that etcd, or correct the address."
	case errors.As(err, &dns):
		return "The host name can't be resolved: correct it, or the resolver's configuration."
	case errors.Is(err, fs.ErrNotExist):
		return "There is no such socket: start that etcd, or correct the path."
	case errors.Is(err, fs.ErrPermission):
		return "This user may not connect to that socket."
	case errors.As(err, &authority):
		return "Name the CA that has signed that etcd's certificate (--etcd-cafile)."
	case errors.As(err, &hostname):
		return "Use a host name that is in that etcd's certificate, or issue it one that has this name."
	case errors.As(err, &invalid):
		return "That etcd's certificate is expired or not made for a server: renew it, and check the clocks."
	case errors.As(err, &noTLS):
		return "No TLS is spoken there: use http:// instead of https://."
	case secure && wasHandshake(err) && errors.Is(err, io.EOF):
		return "If that etcd speaks no TLS, use http:// instead of https://."
	case errors.As(err, &alert), strings.Contains(text, "tls: certificate required"), strings.Contains(text, "tls: bad certificate"),
		strings.Contains(text, "tls: unknown certificate authority"), strings.Contains(text, "tls: expired certificate"):
		return "That etcd wants a client certificate that its CA has signed (--etcd-certfile, --etcd-keyfile)."
	case errors.As(err, &timeout) && timeout.Timeout():
		return "Nothing answers: look for a firewall between here and there."
	case !secure:
		return "If that etcd wants TLS, use https:// (unixs://) and name its CA; otherwise look at its log."
	}
	return "Look at that etcd's log."
}

func wasHandshake(err error) bool {
	var s *stepError
	return errors.As(err, &s) && s.step == "TLS handshake"
}
