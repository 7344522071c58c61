package conditions

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/transport"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// proberName is the user that upstream's controller probes as. Like it, a probe
// claims system:masters, so that an answer does not depend on access rules.
// Source: k8s.io/kube-aggregator/pkg/controllers/status/remote.
const proberName = "system:kube-aggregator"

// attempt is one probe while it runs.
type attempt struct {
	config  *ProbesConfig
	service *apiregistrationv1.APIService

	url  *url.URL
	conn net.Conn
}

// steps are tried in this order, until one fails.
func steps() []struct {
	name v1alpha1.ProbeStepName
	try  func(*attempt, context.Context) (detail string, err error)
} {
	return []struct {
		name v1alpha1.ProbeStepName
		try  func(*attempt, context.Context) (detail string, err error)
	}{
		{v1alpha1.ProbeService, (*attempt).findService},
		{v1alpha1.ProbeEndpoint, (*attempt).resolve},
		{v1alpha1.ProbeDial, (*attempt).dial},
		{v1alpha1.ProbeTLS, (*attempt).handshake},
		{v1alpha1.ProbeStatus, (*attempt).ask},
	}
}

// try probes once.
func (p *Probes) try(ctx context.Context, service *apiregistrationv1.APIService) v1alpha1.Probe {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	a := &attempt{config: &p.config, service: service}
	defer a.close()
	probe := v1alpha1.Probe{At: metav1.NewMicroTime(p.config.Now())}
	for _, step := range steps() {
		start := time.Now()
		detail, err := step.try(a, ctx)
		done := v1alpha1.ProbeStep{
			Name: step.name, OK: err == nil, Detail: cut(detail),
			Duration: metav1.Duration{Duration: time.Since(start).Round(time.Microsecond)},
		}
		if err != nil {
			done.Error = cut(explain(err))
			probe.Steps = append(probe.Steps, done)
			return probe
		}
		probe.Steps = append(probe.Steps, done)
	}
	probe.OK = true
	return probe
}

// explain says what a deadline means here.
func explain(err error) string {
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &timeout) && timeout.Timeout()) {
		return fmt.Sprintf("no answer in time: %v", err)
	}
	return err.Error()
}

func (a *attempt) close() {
	if a.conn != nil {
		_ = a.conn.Close() // nothing was sent that could be lost
	}
}

// findService looks for the service, and for its port.
func (a *attempt) findService(context.Context) (string, error) {
	namespace, name, port := reference(a.service)
	service, err := a.config.Service(namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return "", fmt.Errorf("service %s/%s does not exist", namespace, name)
	case err != nil:
		return "", err
	case service.Spec.Type == corev1.ServiceTypeExternalName:
		return "external name " + service.Spec.ExternalName, nil
	}
	i := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port })
	if i < 0 {
		return "", fmt.Errorf("service %s/%s has no port %d", namespace, name, port)
	}
	detail := fmt.Sprintf("%s %s, port %d", service.Spec.Type, service.Spec.ClusterIP, port)
	if portName := service.Spec.Ports[i].Name; portName != "" {
		detail += " (" + portName + ")"
	}
	return detail, nil
}

func (a *attempt) resolve(context.Context) (string, error) {
	namespace, name, port := reference(a.service)
	found, err := a.config.Resolve(namespace, name, port)
	if err != nil {
		return "", err
	}
	a.url = found
	return found.Host, nil
}

func (a *attempt) dial(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	address := a.url.Host
	if a.url.Port() == "" {
		address = net.JoinHostPort(a.url.Hostname(), fmt.Sprint(defaultPort))
	}
	conn, err := a.config.Dial(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	a.conn = conn
	return conn.RemoteAddr().String(), nil
}

// handshake checks the certificate the way the aggregator does: for the name of
// the service, whatever the address is.
func (a *attempt) handshake(ctx context.Context) (string, error) {
	namespace, name, _ := reference(a.service)
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: name + "." + namespace + ".svc", NextProtos: []string{"http/1.1"},
		InsecureSkipVerify: a.service.Spec.InsecureSkipTLSVerify, //nolint:gosec // the APIService says so, and the aggregator does it
	}
	if bundle := bytes.TrimSpace(a.service.Spec.CABundle); len(bundle) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(bundle) {
			return "", errors.New("caBundle of the APIService has no certificate")
		}
	}
	if a.config.ClientCert != nil {
		certificate, err := a.config.ClientCert()
		if err != nil {
			return "", fmt.Errorf("loading the proxy client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	conn := tls.Client(a.conn, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		var unverified *tls.CertificateVerificationError
		if errors.As(err, &unverified) {
			return describe(unverified.UnverifiedCertificates), err
		}
		return "", err
	}
	a.conn = conn
	detail := describe(conn.ConnectionState().PeerCertificates)
	if config.InsecureSkipVerify {
		detail += "; not verified (insecureSkipTLSVerify)"
	}
	return detail, nil
}

// maxNames is how many names of a certificate are shown.
const maxNames = 10

// describe says whose certificate it is, by whom, and until when.
func describe(chain []*x509.Certificate) string {
	if len(chain) == 0 {
		return ""
	}
	leaf := chain[0]
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) > maxNames {
		names = append(names[:maxNames], "…")
	}
	if len(names) == 0 {
		names = []string{"no names"}
	}
	return fmt.Sprintf("%s; issued by %s; ends %s",
		strings.Join(names, ", "), leaf.Issuer, leaf.NotAfter.UTC().Format(time.RFC3339))
}

// ask asks for what an aggregated server must serve: its group version. Nothing of
// the answer but its status is read.
func (a *attempt) ask(ctx context.Context) (string, error) {
	target := url.URL{Scheme: "https", Host: a.url.Host, Path: "/apis/" + a.service.Spec.Group + "/" + a.service.Spec.Version}
	if a.service.Spec.Group == "" {
		target.Path = "/api/" + a.service.Spec.Version
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return "", err
	}
	transport.SetAuthProxyHeaders(request, proberName, "", []string{user.SystemPrivilegedGroup}, nil)
	conn := a.conn
	way := &http.Transport{
		DisableKeepAlives: true,
		DialTLSContext:    func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}
	defer way.CloseIdleConnections()
	response, err := way.RoundTrip(request)
	if err != nil {
		return "", fmt.Errorf("asking for %s: %w", target.Path, err)
	}
	defer response.Body.Close()
	status := fmt.Sprintf("GET %s: %d %s", target.Path, response.StatusCode, http.StatusText(response.StatusCode))
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices {
		return "", errors.New("the server answered " + status)
	}
	return status, nil
}
