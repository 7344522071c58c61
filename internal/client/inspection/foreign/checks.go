package foreign

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// endpoints are those that make checks.
func endpoints() []string { return []string{"healthz", "livez", "readyz"} }

const (
	// maxReasons is how many failing checks are asked for their reason.
	maxReasons = 20
	// reasonPrefix is what upstream puts before a check's error.
	reasonPrefix = "internal server error: "
	// withheld is what upstream says in place of a reason.
	withheld = "reason withheld"
)

// check is one line of an endpoint's verbose answer.
type check struct {
	name   string
	failed bool
	said   string // after the name
}

// parseChecks reads the lines "[+]etcd ok" and "[-]etcd failed: reason withheld".
func parseChecks(body []byte) []check {
	var checks []check
	for line := range bytes.Lines(body) {
		text := strings.TrimSpace(string(line))
		rest, passed := strings.CutPrefix(text, "[+]")
		if !passed {
			var failed bool
			if rest, failed = strings.CutPrefix(text, "[-]"); !failed {
				continue
			}
		}
		name, said, _ := strings.Cut(rest, " ")
		checks = append(checks, check{name: name, failed: !passed, said: strings.TrimPrefix(said, "failed: ")})
	}
	return checks
}

// verbose returns the checks of an endpoint, also while some fail.
func (s *Server) verbose(ctx context.Context, endpoint string) ([]check, error) {
	body, err := s.get(ctx, "/"+endpoint+"?verbose", "*/*", http.StatusInternalServerError)
	if err != nil {
		return nil, err
	}
	checks := parseChecks(body)
	if len(checks) == 0 {
		return nil, fmt.Errorf("reading /%s: %w", endpoint, errFormat)
	}
	return checks, nil
}

// verboseAll asks all endpoints side by side. An error is that of all of them.
func (s *Server) verboseAll(ctx context.Context) (map[string][]check, map[string]error, error) {
	names := endpoints()
	answers, errs := make([][]check, len(names)), make([]error, len(names))
	var asking sync.WaitGroup
	for i, name := range names {
		asking.Go(func() { answers[i], errs[i] = s.verbose(ctx, name) })
	}
	asking.Wait()
	checks, failures := map[string][]check{}, map[string]error{}
	for i, name := range names {
		if errs[i] != nil {
			failures[name] = errs[i]
		} else {
			checks[name] = answers[i]
		}
	}
	if len(checks) == 0 {
		return nil, nil, errs[0]
	}
	return checks, failures, nil
}

// reason asks a failing check alone, which tells what the list withholds.
func (s *Server) reason(ctx context.Context, endpoint string, failing check) string {
	if failing.said != withheld {
		return failing.said
	}
	body, err := s.get(ctx, "/"+endpoint+"/"+failing.name, "*/*", http.StatusInternalServerError)
	text := strings.TrimSpace(string(body))
	if reason, ok := strings.CutPrefix(text, reasonPrefix); err == nil && ok {
		return reason
	}
	return withheld
}

// healthChecks finds the checks of the three endpoints.
func (s *Server) healthChecks(ctx context.Context, _ inspection.Query) (*finding, error) {
	answers, failures, err := s.verboseAll(ctx)
	if err != nil {
		return nil, err
	}
	f := &finding{}
	objects := s.mergeChecks(ctx, answers)
	names := uniqueNames{}
	for _, name := range sortedKeys(objects) {
		object := objects[name]
		object.Name = names.of(name)
		object.Status.Conditions = []metav1.Condition{healthy(object.Status)}
		f.add(object)
		if object.Status.LastError == withheld {
			f.gap("the list of checks withholds it, and the check alone did not tell it", "Last-Error")
		}
	}
	f.gap("this server does not say when a check last changed", "Since")
	f.gap("this server does not say how long a check takes", "Duration")
	f.emptyFor("this server keeps no earlier errors, and no check fails now", "Last-Error")
	for _, endpoint := range sortedKeys(failures) {
		f.gap(why(failures[endpoint], "/"+endpoint), "Endpoints")
	}
	return f, nil
}

// mergeChecks makes one object of the check of the same name at several endpoints.
func (s *Server) mergeChecks(ctx context.Context, answers map[string][]check) map[string]*v1alpha1.HealthCheck {
	objects := map[string]*v1alpha1.HealthCheck{}
	asked := 0
	for _, endpoint := range endpoints() {
		for _, one := range answers[endpoint] {
			object := objects[one.name]
			if object == nil {
				object = &v1alpha1.HealthCheck{Spec: v1alpha1.HealthCheckSpec{Check: one.name}}
				object.Status.State = v1alpha1.HealthOK
				objects[one.name] = object
			}
			object.Spec.Endpoints = append(object.Spec.Endpoints, endpoint)
			if !one.failed || object.Status.State == v1alpha1.HealthFailed {
				continue
			}
			object.Status.State, object.Status.LastError = v1alpha1.HealthFailed, one.said
			if asked++; asked <= maxReasons {
				object.Status.LastError = s.reason(ctx, endpoint, one)
			}
		}
	}
	return objects
}

func healthy(status v1alpha1.HealthCheckStatus) metav1.Condition {
	if status.State == v1alpha1.HealthFailed {
		return metav1.Condition{Type: v1alpha1.ConditionHealthy, Status: metav1.ConditionFalse, Reason: "Failed", Message: status.LastError}
	}
	return metav1.Condition{Type: v1alpha1.ConditionHealthy, Status: metav1.ConditionTrue, Reason: "Passed"}
}

// uniqueNames makes names of objects out of names that may hold slashes.
type uniqueNames map[string]int

func (u uniqueNames) of(name string) string {
	name = strings.NewReplacer("/", "-", "%", "-", " ", "-").Replace(name)
	u[name]++
	if n := u[name]; n > 1 {
		return u.of(fmt.Sprintf("%s-%d", name, n))
	}
	return name
}
