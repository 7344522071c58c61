package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// lid reads inspect.kapi.dev of a server.
type lid struct {
	client dynamic.Interface
}

func newLid(t testing.TB, config *rest.Config) lid {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return lid{client}
}

func (l lid) resource(name string) dynamic.ResourceInterface {
	return l.client.Resource(v1alpha1.SchemeGroupVersion.WithResource(name))
}

// get reads one object into target.
func (l lid) get(t testing.TB, resource, name string, target any) {
	t.Helper()
	object, err := l.resource(resource).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, target); err != nil {
		t.Fatal(err)
	}
}

// trace waits for the trace of the request with an audit ID.
func (l lid) trace(t testing.TB, auditID string) *v1alpha1.RequestTrace {
	t.Helper()
	trace := &v1alpha1.RequestTrace{}
	eventually(t, func(ctx context.Context) error {
		list, err := l.resource("requesttraces").List(ctx, metav1.ListOptions{FieldSelector: "spec.auditID=" + auditID, LabelSelector: "kapi.dev/inspect!=none"})
		if err != nil {
			return err
		}
		if len(list.Items) != 1 {
			return fmt.Errorf("%d traces of request %s", len(list.Items), auditID)
		}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[0].Object, trace)
	})
	return trace
}

// terminated returns how many requests a filter has ended with a status.
func (l lid) terminated(t testing.TB, filter string, code int32) int64 {
	t.Helper()
	var object v1alpha1.Filter
	l.get(t, "filters", filter, &object)
	for _, c := range object.Status.Terminated {
		if c.Code == code {
			return c.Count
		}
	}
	return 0
}

// raw is a request as it goes over the wire.
type raw struct {
	method, path string
	as           string            // user to be taken for
	header       map[string]string // beside what the client sends
	body         string
	anonymous    bool // no client certificate
}

// send sends it with an audit ID of its own, which it returns with the status; 0
// stands for a connection that was given up.
func (r raw) send(t testing.TB, config *rest.Config) (auditID string, status int) {
	t.Helper()
	return r.sendWith(t.Context(), t, config)
}

func (r raw) sendWith(ctx context.Context, t testing.TB, config *rest.Config) (auditID string, status int) {
	t.Helper()
	if r.anonymous {
		config = rest.AnonymousClientConfig(config)
	} else {
		config = rest.CopyConfig(config)
	}
	if r.as != "" {
		config.Impersonate.UserName = r.as
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, r.method, config.Host+r.path, bytes.NewReader([]byte(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	auditID = uuid.NewString()
	request.Header.Set("Audit-ID", auditID)
	if strings.HasPrefix(r.body, "{") {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.header {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return auditID, 0
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return auditID, 0
	}
	return auditID, response.StatusCode
}
