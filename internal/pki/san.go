package pki

import (
	"crypto/x509"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/fault"
)

// names are the subject alternative names of a certificate.
type names struct {
	dns []string
	ips []net.IP
}

// add takes a name or an IP address, and ignores what is there already.
func (n *names) add(name string) {
	if ip := net.ParseIP(name); ip != nil {
		n.addIP(ip)
		return
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if !slices.Contains(n.dns, name) {
		n.dns = append(n.dns, name)
	}
}

// addIP ignores addresses that no client can ask for.
func (n *names) addIP(ip net.IP) {
	if len(ip) == 0 || ip.IsUnspecified() || slices.ContainsFunc(n.ips, ip.Equal) {
		return
	}
	n.ips = append(n.ips, ip)
}

// coveredBy tells whether a certificate has all of the names.
func (n *names) coveredBy(c *x509.Certificate) bool {
	for _, d := range n.dns {
		if !slices.Contains(c.DNSNames, d) {
			return false
		}
	}
	for _, ip := range n.ips {
		if !slices.ContainsFunc(c.IPAddresses, ip.Equal) {
			return false
		}
	}
	return true
}

// localNames are the names of this machine, and those asked for.
func localNames(o Options) (names, error) {
	var n names
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		n.add(name)
	}
	// A host name that can't stand in a certificate is nobody's mistake here.
	if host, err := os.Hostname(); err == nil && validDNSName(host) {
		n.add(host)
	}
	for _, ip := range o.AdvertiseIPs {
		n.addIP(ip)
	}
	for _, name := range o.Names {
		if net.ParseIP(name) == nil && !validDNSName(name) {
			return names{}, fault.Usagef("%q can't be a name of the server: allowed are DNS names (example.org, *.example.org) and IP addresses, without scheme and port", name)
		}
		n.add(name)
	}
	return n, nil
}

// serviceNames are what pods call the API server.
func serviceNames(o Options, n *names) {
	for _, name := range []string{
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	} {
		n.add(name)
	}
	for _, ip := range o.ServiceIPs {
		n.addIP(ip)
	}
}

// validDNSName accepts RFC 1123 names, underscores as crypto/x509 does, one
// wildcard label in front, and a dot at the end.
func validDNSName(name string) bool {
	name = strings.TrimSuffix(name, ".")
	name = strings.TrimPrefix(name, "*.")
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r) {
				return false
			}
		}
	}
	return true
}
