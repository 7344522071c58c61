package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

// methods are the verbs that stand for an HTTP method.
var methods = map[string]string{
	"list": http.MethodGet, "watch": http.MethodGet, "create": http.MethodPost,
	"update": http.MethodPut, "deletecollection": http.MethodDelete,
}

const (
	// longestBody is the server's own limit of a body.
	longestBody = 3 << 20
	// longRunning is how long a request that does not end by itself is left running.
	longRunning = 2 * time.Second
	// traced is how long a trace is waited for: it is there once the chain is done.
	traced = 3 * time.Second
)

// sent is a request that was sent, and its answer.
type sent struct {
	auditID string
	spec    v1alpha1.RouteExplanationSpec
	at      time.Time
	took    time.Duration
	code    int
	bytes   int64
}

// readBody reads the file of -f: JSON, or YAML which becomes JSON.
func readBody(stdin io.Reader, name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fault.WithHint(fault.Usagef("reading the body: %w", err), "-f takes a file with the object, or - for stdin")
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, longestBody+1))
	if err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	if len(text) > longestBody {
		return nil, fault.Usagef("the body in %s is larger than the %d bytes that a server takes", name, longestBody)
	}
	body, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fault.Usagef("the body in %s is neither JSON nor YAML: %w", name, err)
	}
	return body, nil
}

// send sends the request of an explanation under an audit ID of its own.
func send(ctx context.Context, config *rest.Config, spec v1alpha1.RouteExplanationSpec, body []byte) (*sent, error) {
	own := rest.CopyConfig(config)
	if spec.User != "" {
		own.Impersonate = rest.ImpersonationConfig{UserName: spec.User, Groups: spec.Groups}
	}
	client, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(own)
	if err != nil {
		return nil, fmt.Errorf("reading the server's address: %w", err)
	}
	target, err := url.Parse(spec.Path)
	if err != nil {
		return nil, fault.Usagef("path %q: %w", spec.Path, err)
	}
	if query := target.Query(); strings.EqualFold(spec.Verb, "watch") && !query.Has("watch") {
		query.Set("watch", "1")
		target.RawQuery = query.Encode()
	}
	target.Scheme, target.Host = base.Scheme, base.Host
	target.Path = strings.TrimSuffix(base.Path, "/") + target.Path
	bounded, cancel := context.WithTimeout(ctx, bound(spec, target))
	defer cancel()
	request, err := http.NewRequestWithContext(bounded, method(spec.Verb), target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fault.Usagef("verb %q: %w", spec.Verb, err)
	}
	result := &sent{auditID: string(uuid.NewUUID()), spec: spec, at: time.Now()}
	request.Header.Set("Audit-ID", result.auditID)
	request.Header.Set("Accept", "application/json, */*")
	request.Header.Set("Content-Type", contentType(request.Method))
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	result.code = answer.StatusCode
	result.bytes, err = io.Copy(io.Discard, answer.Body)
	result.took = time.Since(result.at)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return result, ctx.Err()
}

// bound is how long a request may run: a watch would run for ever.
func bound(spec v1alpha1.RouteExplanationSpec, target *url.URL) time.Duration {
	query := target.Query()
	if watch := query.Get("watch"); spec.Verb == "watch" || watch == "1" || watch == "true" || query.Get("follow") == "true" {
		return longRunning
	}
	return time.Minute
}

func method(verb string) string {
	if method, ok := methods[strings.ToLower(verb)]; ok {
		return method
	}
	return strings.ToUpper(verb)
}

func contentType(method string) string {
	if method == http.MethodPatch {
		return "application/merge-patch+json"
	}
	return "application/json"
}

// traceOf returns the server's own trace of a request, which is there once the
// handler chain is done with it. A server that keeps none leaves what was seen
// from here.
func traceOf(ctx context.Context, server inspection.Server, s *sent) (*v1alpha1.RequestTrace, error) {
	kind := mustKind(v1alpha1.ResourceRequestTraces)
	var found *v1alpha1.RequestTrace
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, traced, true, func(ctx context.Context) (bool, error) {
		listing, err := server.List(ctx, kind, byAuditID(s.auditID))
		if err != nil {
			return false, err
		}
		if traces := tracesOf(listing); len(traces) > 0 {
			found = traces[len(traces)-1]
			return true, nil
		}
		return len(listing.Gaps) > 0, nil
	})
	switch {
	case found != nil:
		return found, nil
	case err != nil && ctx.Err() == nil && !wait.Interrupted(err) && !apierrors.IsForbidden(err):
		return nil, err
	}
	return s.seen(), ctx.Err()
}

// seen is a trace with what the client knows.
func (s *sent) seen() *v1alpha1.RequestTrace {
	trace := &v1alpha1.RequestTrace{}
	trace.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("RequestTrace"))
	trace.Name = s.auditID
	trace.Spec = v1alpha1.RequestTraceSpec{AuditID: s.auditID, Verb: strings.ToLower(s.spec.Verb), Method: method(s.spec.Verb), Path: s.spec.Path}
	trace.Status.Code = int32(s.code)
	trace.Status.ReceivedAt = metav1.NewMicroTime(s.at)
	trace.Status.Duration = metav1.Duration{Duration: s.took}
	trace.Status.BytesWritten = s.bytes
	return trace
}
