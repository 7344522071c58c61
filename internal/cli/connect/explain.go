package connect

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
)

// problem is a way in which a request fails, and what to do about it.
type problem struct {
	is   func(error) bool
	text func(c *Connection, err error) string
	hint func(c *Connection, err error) string
	code int
}

// problems are tried in order: the more particular first.
var problems = []problem{
	{is: refused, text: noServer, hint: startIt, code: fault.CodeFailure},
	{is: unknownHost, text: noServer, hint: fixed("check the server's address in the kubeconfig, or --server"), code: fault.CodeFailure},
	{is: badCertificate, text: untrusted, hint: newCertificate, code: fault.CodeFailure},
	{is: apierrors.IsUnauthorized, text: unauthorized, hint: newCredentials, code: fault.CodeUnauthorized},
	{is: apierrors.IsForbidden, text: asIs, hint: role, code: fault.CodeUnauthorized},
	{is: apierrors.IsBadRequest, text: asIs, hint: fixed("the command's --help says what it takes"), code: fault.CodeUsage},
	{is: timedOut, text: noAnswer, hint: fixed("raise --request-timeout, or see what the server does: its log, or /readyz?verbose"), code: fault.CodeFailure},
}

// Explain says what a failed request means: the text, the way out, and the exit
// code. Errors that are no failures of a request come back as they are.
func (c *Connection) Explain(err error) error {
	if err == nil || fault.Hint(err) != "" {
		return err
	}
	for _, p := range problems {
		if p.is(err) {
			return fault.WithCode(fault.WithHint(&explained{text: p.text(c, err), err: err}, "%s", p.hint(c, err)), p.code)
		}
	}
	return err
}

// explained has a text of its own; errors.As still finds what is below.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

func fixed(hint string) func(*Connection, error) string {
	return func(*Connection, error) string { return hint }
}

func asIs(_ *Connection, err error) string { return err.Error() }

// refused is of a connection: a file that does not exist has the same code.
func refused(err error) bool {
	var connection *net.OpError
	return errors.As(err, &connection) && (errors.Is(connection, syscall.ECONNREFUSED) || errors.Is(connection, syscall.ENOENT))
}

func unknownHost(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH)
}

// innermost is what a connection failed with, without the request around it.
func innermost(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err
	}
	return err
}

func noServer(c *Connection, err error) string {
	return fmt.Sprintf("no server answers at %s: %s", c.Config.Host, innermost(err))
}

func startIt(c *Connection, _ error) string {
	if c.notRunning != "" {
		return c.notRunning
	}
	return `start a server with "kapi serve", or name another one with --kubeconfig, --context or --server`
}

func badCertificate(err error) bool {
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		host    x509.HostnameError
	)
	return errors.As(err, &unknown) || errors.As(err, &invalid) || errors.As(err, &host)
}

func untrusted(c *Connection, err error) string {
	return fmt.Sprintf("the certificate of the server at %s is not trusted: %s", c.Config.Host, innermost(err))
}

func newCertificate(c *Connection, _ error) string {
	where := "the kubeconfig"
	if len(c.Source.Paths) > 0 {
		where = "kubeconfig " + c.Source.String()
	}
	return where + " is of another server, or of an earlier data directory: " +
		`use the one that "kapi kubeconfig path" prints, or name the authority with --certificate-authority`
}

func unauthorized(c *Connection, _ error) string {
	return fmt.Sprintf("the server at %s does not know you: it refused the credentials (401 Unauthorized)", c.Config.Host)
}

func newCredentials(c *Connection, _ error) string {
	hint := "the client certificate or token may have expired or be of another server"
	if len(c.Source.Paths) > 0 {
		hint += "; it is from kubeconfig " + c.Source.String()
	}
	return hint + `; "kapi kubeconfig merge" renews the one in ~/.kube/config`
}

// role names the ClusterRole that allows what was forbidden.
func role(_ *Connection, err error) string {
	bind := func(role string) string {
		return fmt.Sprintf("ClusterRole %s gives it; an administrator binds it with: kubectl create clusterrolebinding NAME --clusterrole=%s --user=USER", role, role)
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return "an administrator can see what you may do with: kubectl auth can-i --list --as=USER"
	}
	details := status.Status().Details
	switch {
	case details.Group == v1alpha1.GroupName && details.Kind == v1alpha1.ResourceRequestTraces || details.Kind == v1alpha1.ResourceRouteExplanations:
		return bind(v1alpha1.RoleRequests)
	case details.Group == v1alpha1.GroupName:
		return bind(v1alpha1.RoleInspect)
	case details.Kind == "" && strings.Contains(status.Status().Message, "path"):
		return bind("system:monitoring")
	}
	if strings.Contains(status.Status().Message, "impersonate") {
		return fmt.Sprintf("an administrator makes a role for it with: kubectl create clusterrole NAME --verb=impersonate --resource=%s, and binds it", details.Kind)
	}
	resource := schema.GroupResource{Group: details.Group, Resource: details.Kind}
	return fmt.Sprintf("an administrator makes a role for it with: kubectl create clusterrole NAME --verb=get,list,watch --resource=%s, and binds it", resource)
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err) || errors.As(err, &timeout) && timeout.Timeout()
}

func noAnswer(c *Connection, err error) string {
	return fmt.Sprintf("the server at %s does not answer in time: %s", c.Config.Host, innermost(err))
}
