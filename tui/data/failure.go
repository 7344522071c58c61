package data

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kapi-dev/kapi/internal/fault"
)

const (
	// refusedAgain is when something is asked for again that was forbidden, or is not there.
	refusedAgain = 30 * time.Second
	// allowedAgain is when what was forbidden is asked for again once something else
	// that was is allowed.
	allowedAgain = 5 * time.Second
	// missingAgain is the same for one object, which may be on its way.
	missingAgain = 5 * time.Second
	// polled is how often something is listed that can't be watched.
	polled = 2 * time.Second
)

// retry is how long is waited between tries to reach a server that has gone.
func retry() wait.Backoff {
	return wait.Backoff{Duration: 250 * time.Millisecond, Factor: 1.6, Jitter: 0.2, Steps: 8, Cap: 5 * time.Second}
}

// failure is what an error means for a feed.
type failure struct {
	// err is the cause, explained by whoever shows it.
	err   error
	state State
	// connection says that nothing else of the server can be had either, redial that
	// the way to it may be another one by now.
	connection, redial bool
	// after is when it is tried again; 0 leaves that to the back-off, less than 0 is
	// only when somebody asks for it.
	after time.Duration
}

// failureOf says what an error of a list means.
func failureOf(key Key, err error) failure {
	var played *playedError
	switch {
	case errors.As(err, &played):
		return failure{err: err, state: played.state, connection: played.connection, after: played.after}
	case apierrors.IsForbidden(err):
		return failure{err: err, state: Forbidden, after: refusedAgain}
	case apierrors.IsNotFound(err) && key.Name != "" && key.Name != "*":
		return failure{err: err, state: Absent, after: missingAgain}
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		return failure{err: err, state: Absent, after: refusedAgain}
	case apierrors.IsUnauthorized(err), untrusted(err):
		return failure{err: err, state: Failed, connection: true, redial: true}
	case unreachable(err):
		return failure{err: err, state: Stale, connection: true, redial: errors.Is(err, syscall.ECONNREFUSED)}
	case fault.Code(err) == fault.CodeUsage:
		return failure{err: err, state: Absent, after: -1}
	}
	return failure{err: err, state: Failed}
}

// untrusted tells whether the server has a certificate that is not what it should be.
func untrusted(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		unknown      x509.UnknownAuthorityError
		invalid      x509.CertificateInvalidError
		host         x509.HostnameError
	)
	return errors.As(err, &verification) || errors.As(err, &unknown) || errors.As(err, &invalid) || errors.As(err, &host)
}

// unreachable tells whether no answer came.
func unreachable(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, context.DeadlineExceeded)
}

// playedError is a failure of a recording, as it was then.
type playedError struct {
	text       string
	state      State
	connection bool
	after      time.Duration
}

func (p *playedError) Error() string { return p.text }
