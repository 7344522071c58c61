package config

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// ServiceMapping says where a Service of the API is really found: kapi has no
// network of its own, so the aggregator and webhook clients ask this list before
// they look at cluster IPs and endpoints.
type ServiceMapping struct {
	// Name is "namespace/name" of the Service.
	Name string `json:"name"`
	// Port is the port of the Service, 1 to 65535.
	Port int `json:"port"`
	// Address is "host:port"; IPv6 addresses stand in brackets.
	Address string `json:"address"`
}

// String returns the form of --map-service: namespace/name:port=host:port.
func (m ServiceMapping) String() string {
	return fmt.Sprintf("%s:%d=%s", m.Name, m.Port, m.Address)
}

// ParseServiceMapping reads namespace/name:port=host:port. What it accepts is
// valid, and String gives the text back but for leading zeros in ports.
func ParseServiceMapping(text string) (ServiceMapping, error) {
	service, address, ok := strings.Cut(text, "=")
	if !ok {
		return ServiceMapping{}, fmt.Errorf("parsing service mapping %q: no '=' between service and address", shorten(text))
	}
	name, portText, ok := strings.Cut(service, ":")
	if !ok {
		return ServiceMapping{}, fmt.Errorf("parsing service mapping %q: no ':port' behind the service", shorten(text))
	}
	port, err := parsePort(portText)
	if err != nil {
		return ServiceMapping{}, fmt.Errorf("parsing service mapping %q: %w", shorten(text), err)
	}
	m := ServiceMapping{Name: name, Port: port, Address: address}
	if err := m.check(); err != nil {
		return ServiceMapping{}, fmt.Errorf("parsing service mapping %q: %w", shorten(text), err)
	}
	return m, nil
}

// dnsLabel is a label of a Service or Namespace name (RFC 1123).
var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

func (m ServiceMapping) check() error {
	namespace, name, ok := strings.Cut(m.Name, "/")
	if !ok || !dnsLabel.MatchString(namespace) || !dnsLabel.MatchString(name) {
		return fmt.Errorf("service %q is not namespace/name", shorten(m.Name))
	}
	if m.Port < 1 || m.Port > 65535 {
		return fmt.Errorf("service port %d is not from 1 to 65535", m.Port)
	}
	host, port, err := net.SplitHostPort(m.Address)
	if err != nil {
		return fmt.Errorf("address %q is not host:port", shorten(m.Address))
	}
	if !isHost(host) {
		return fmt.Errorf("host %q is neither an IP address nor a DNS name", shorten(host))
	}
	_, err = parsePort(port)
	return err
}

func parsePort(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("port %q is not from 1 to 65535", shorten(text))
	}
	return int(n), nil
}

// hostLabel also takes upper case and underscores: resolvers do, and container
// networks use them.
var hostLabel = regexp.MustCompile(`^[A-Za-z0-9_]([-A-Za-z0-9_]{0,61}[A-Za-z0-9_])?$`)

// isHost reports whether s is an IP address without a zone or a DNS name.
func isHost(s string) bool { return isIP(s) || isDNSName(s) }

func isIP(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Zone() == ""
}

func isDNSName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if !hostLabel.MatchString(label) {
			return false
		}
	}
	return true
}
