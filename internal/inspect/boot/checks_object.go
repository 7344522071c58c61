package boot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Collect makes all checks and returns the HealthChecks by name; it is a
// store.Collect. It takes as long as the slowest check, but no longer than a check
// may take, times the number of turns that all of them need.
func (c *Checks) Collect(ctx context.Context) ([]store.Object, error) {
	server := c.cfg.Server()
	if server == nil {
		return nil, nil
	}
	c.makeAll(ctx, server)
	c.mu.Lock()
	defer c.mu.Unlock()
	names := uniqueNames{}
	objects := make([]store.Object, 0, len(c.checks))
	for _, name := range slices.Sorted(maps.Keys(c.checks)) {
		objects = append(objects, c.object(c.checks[name], names.of(name)))
	}
	return objects, nil
}

func (c *Checks) object(k *check, name string) *inspect.HealthCheck {
	condition := metav1.Condition{
		Type: inspect.ConditionHealthy, Status: metav1.ConditionTrue, Reason: "Passed",
		LastTransitionTime: metav1.NewTime(k.since),
	}
	switch k.state {
	case inspect.HealthFailed:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "Failed", k.lastError
	case inspect.HealthUnknown:
		condition.Status, condition.Reason = metav1.ConditionUnknown, "NotMade"
	case inspect.HealthOK:
	}
	return &inspect.HealthCheck{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		ServerID:   call(c.cfg.ServerID),
		Spec:       inspect.HealthCheckSpec{Check: k.name, Endpoints: slices.Sorted(slices.Values(k.endpoints))},
		Status: inspect.HealthCheckStatus{
			State: k.state, LastError: k.lastError, LastErrorAt: microTime(k.lastErrorAt),
			Since: microTime(k.since), Duration: metav1.Duration{Duration: k.duration},
			Conditions: []metav1.Condition{condition},
		},
	}
}

// errorPrefix is what upstream puts before a check's error (adaptCheckToHandler in
// k8s.io/apiserver/pkg/server/healthz/healthz.go).
const errorPrefix = "internal server error: "

// ask makes the check at path inside the process.
func ask(ctx context.Context, handler http.Handler, path string) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
	if err != nil {
		return err
	}
	defer func() {
		if value := recover(); value != nil {
			err = panicError(value) // a server's filter would have caught it
		}
	}()
	answer := &reply{header: http.Header{}, code: http.StatusOK}
	handler.ServeHTTP(answer, request)
	if answer.code == http.StatusOK {
		return nil
	}
	text := strings.TrimSpace(answer.body.String())
	if reason, ok := strings.CutPrefix(text, errorPrefix); ok {
		return errors.New(reason)
	}
	return fmt.Errorf("answered %d: %s", answer.code, text)
}

// reply is an answer that is kept, up to maxReply bytes of it.
type reply struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

const maxReply = 8 << 10

func (r *reply) Header() http.Header  { return r.header }
func (r *reply) WriteHeader(code int) { r.code = code }

func (r *reply) Write(p []byte) (int, error) {
	r.body.Write(p[:min(len(p), maxReply-r.body.Len())])
	return len(p), nil
}
