package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

const (
	// watchTime is how long a request that does not end by itself is left running.
	watchTime = 2 * time.Second
	// tracedTime is how long a trace is waited for: it is there once the chain is done.
	tracedTime = 3 * time.Second
)

// sent is a request that was sent, and its answer.
type sent struct {
	id    string
	spec  v1alpha1.RouteExplanationSpec
	at    time.Time
	took  time.Duration
	code  int
	bytes int64
}

// Send implements Client. It never changes anything, whoever asks for it.
func (c *serverClient) Send(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RequestTrace, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	method, ok := reading(spec.Verb)
	if !ok {
		return nil, fault.WithHint(fault.Usagef("%q may change something, so it is not sent from here", spec.Verb), `explain it without sending it, or use "kapi inspect route --send"`)
	}
	done, err := c.send(ctx, spec, method)
	if err != nil {
		return nil, c.explained(err)
	}
	trace, err := c.traceOf(ctx, done, method)
	if err != nil {
		return nil, c.explained(err)
	}
	return trace, nil
}

// reading is the HTTP method of a verb that only reads.
func reading(verb string) (method string, ok bool) {
	switch verb = strings.ToUpper(verb); verb {
	case "GET", "LIST", "WATCH":
		return http.MethodGet, true
	case "HEAD", "OPTIONS":
		return verb, true
	}
	return "", false
}

// send sends the request under an audit ID of its own, as whoever the spec names.
func (c *serverClient) send(ctx context.Context, spec v1alpha1.RouteExplanationSpec, method string) (*sent, error) {
	own := ReadOnly(c.config)
	if spec.User != "" {
		own.Impersonate = rest.ImpersonationConfig{UserName: spec.User, Groups: spec.Groups}
	}
	client, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	target, err := targetOf(own, spec)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, timeOf(target))
	defer cancel()
	request, err := http.NewRequestWithContext(bounded, method, target.String(), http.NoBody)
	if err != nil {
		return nil, fault.Usagef("path %q: %w", spec.Path, err)
	}
	done := &sent{id: string(uuid.NewUUID()), spec: spec, at: time.Now()}
	request.Header.Set("Audit-ID", done.id)
	request.Header.Set("Accept", jsonType+", */*")
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	done.code = answer.StatusCode
	done.bytes, err = io.Copy(io.Discard, answer.Body)
	done.took = time.Since(done.at)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return done, ctx.Err()
}

// targetOf is the URL of a request.
func targetOf(config *rest.Config, spec v1alpha1.RouteExplanationSpec) (*url.URL, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the server's address: %w", err)
	}
	target, err := url.Parse(spec.Path)
	if err != nil || !strings.HasPrefix(target.Path, "/") || target.Host != "" {
		return nil, fault.WithHint(fault.Usagef("%q is no path of an API", spec.Path), "write it as /api/v1/pods?limit=5")
	}
	if query := target.Query(); strings.EqualFold(spec.Verb, "watch") && !query.Has("watch") {
		query.Set("watch", "1")
		target.RawQuery = query.Encode()
	}
	target.Scheme, target.Host = base.Scheme, base.Host
	target.Path = strings.TrimSuffix(base.Path, "/") + target.Path
	return target, nil
}

// timeOf is how long a request may run: a watch would run for ever.
func timeOf(target *url.URL) time.Duration {
	query := target.Query()
	if watch := query.Get("watch"); watch == "1" || watch == "true" || query.Get("follow") == "true" {
		return watchTime
	}
	return time.Minute
}

// traceOf returns the server's own trace of a request. A server that keeps none, or
// does not show it, leaves what was seen from here.
func (c *serverClient) traceOf(ctx context.Context, done *sent, method string) (*v1alpha1.RequestTrace, error) {
	kind, ok := kinds.ByName(v1alpha1.ResourceRequestTraces)
	if !ok || c.options.Server == nil {
		return done.seen(method), nil
	}
	// Own requests are listed only where a selector names their label.
	query := inspection.Query{FieldSelector: "spec.auditID=" + done.id, LabelSelector: "kapi.dev/inspect notin (none)"}
	var found *v1alpha1.RequestTrace
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, tracedTime, true, func(ctx context.Context) (bool, error) {
		listing, err := c.options.Server.List(ctx, kind, query)
		if err != nil {
			return false, err
		}
		for _, object := range listing.Objects {
			if trace, ok := object.(*v1alpha1.RequestTrace); ok {
				found = trace
			}
		}
		return found != nil || len(listing.Gaps) > 0, nil
	})
	switch {
	case found != nil:
		return found, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !wait.Interrupted(err) && !apierrors.IsForbidden(err):
		return nil, err
	}
	return done.seen(method), nil
}

// seen is a trace with what the client knows.
func (s *sent) seen(method string) *v1alpha1.RequestTrace {
	trace := &v1alpha1.RequestTrace{}
	trace.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("RequestTrace"))
	trace.Name = s.id
	trace.Spec = v1alpha1.RequestTraceSpec{AuditID: s.id, Verb: strings.ToLower(s.spec.Verb), Method: method, Path: s.spec.Path}
	trace.Status.Code = int32(s.code)
	trace.Status.ReceivedAt = metav1.NewMicroTime(s.at)
	trace.Status.Duration = metav1.Duration{Duration: s.took}
	trace.Status.BytesWritten = s.bytes
	return trace
}
