package connect

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	{is: speaksTLS, text: noTLS, hint: fixed("write the address with https://"), code: fault.CodeFailure},
	{is: apierrors.IsBadRequest, text: asIs, hint: fixed(""), code: fault.CodeUsage},
	{is: timedOut, text: noAnswer, hint: fixed("raise --request-timeout, or see what the server does: its log, or /readyz?verbose"), code: fault.CodeFailure},
}

// Explain says what a failed request means: the text, the way out, and the exit
// code. Errors that are no failures of a request come back as they are.
func (c *Connection) Explain(err error) error {
	if err == nil {
		return nil
	}
	if fault.Hint(err) != "" { // somebody knew better, but for the exit code
		if fault.Code(err) == fault.CodeFailure && (apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)) {
			return fault.WithCode(err, fault.CodeUnauthorized)
		}
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
	if len(c.Source.Paths) > 0 && !c.ownCredentials {
		hint += "; it is from kubeconfig " + c.Source.String()
	}
	return hint + `; "kapi kubeconfig merge" renews the one in ~/.kube/config`
}

// role names the ClusterRole that allows what was forbidden, or says how one is made.
func role(_ *Connection, err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return "an administrator can see what you may do with: kubectl auth can-i --list --as=USER"
	}
	details, message := status.Status().Details, status.Status().Message
	if strings.Contains(message, `"system:anonymous"`) {
		return "the request had no credentials that the server knows: name a kubeconfig or a context that has some, or give --token"
	}
	user := "USER"
	if _, after, ok := strings.Cut(message, `User "`); ok {
		user, _, _ = strings.Cut(after, `"`)
	}
	bind := func(role string) string {
		return fmt.Sprintf("ClusterRole %s gives it; an administrator binds it with: kubectl create clusterrolebinding NAME --clusterrole=%s --user=%s", role, role, user)
	}
	verbs, resource := "get,list,watch", schema.GroupResource{Group: details.Group, Resource: details.Kind}.String()
	switch {
	case details.Group == v1alpha1.GroupName && (details.Kind == v1alpha1.ResourceRequestTraces || details.Kind == v1alpha1.ResourceRouteExplanations):
		return bind(v1alpha1.RoleRequests)
	case details.Group == v1alpha1.GroupName && details.Kind == v1alpha1.ResourceStoredKeyQueries:
		return bind(v1alpha1.RoleStorage)
	case details.Group == v1alpha1.GroupName:
		return bind(v1alpha1.RoleInspect)
	case strings.Contains(message, `path "/api`), strings.Contains(message, `path "/openapi`), strings.Contains(message, `path "/version`):
		return bind("system:discovery")
	case details.Kind == "" && strings.Contains(message, "path"):
		return bind("system:monitoring")
	case strings.Contains(message, "impersonate"):
		verbs = "impersonate"
	}
	return fmt.Sprintf("an administrator makes a role for it with: kubectl create clusterrole NAME --verb=%s --resource=%s, and binds it: kubectl create clusterrolebinding NAME --clusterrole=NAME --user=%s", verbs, resource, user)
}

// speaksTLS is the answer of a TLS server to plain HTTP.
func speaksTLS(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsBadRequest(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return strings.Contains(err.Error(), "HTTPS server") ||
		details != nil && slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool { return strings.Contains(c.Message, "HTTPS server") })
}

func noTLS(c *Connection, _ error) string {
	return fmt.Sprintf("the server at %s speaks TLS, and was asked without", c.Config.Host)
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err) || errors.As(err, &timeout) && timeout.Timeout()
}

func noAnswer(c *Connection, err error) string {
	return fmt.Sprintf("the server at %s does not answer in time: %s", c.Config.Host, innermost(err))
}
