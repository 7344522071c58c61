package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestInspectRequestByAuditID sends requests that end in different places, and
// looks for each by the audit ID that it was sent with.
func TestInspectRequestByAuditID(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	for _, test := range []struct {
		request raw
		code    int
		ended   string
		user    string
	}{
		{raw{method: "GET", path: "/api/v1/namespaces/default"}, http.StatusOK, "layer kube-apiserver", "kapi-admin"},
		{raw{method: "GET", path: "/apis/nothing.example.com/v1"}, http.StatusNotFound, "layer not-found", "kapi-admin"},
		{raw{method: "GET", path: "/api/v1/secrets", as: "inspect-nobody"}, http.StatusForbidden, "filter authorization", "inspect-nobody"},
		{raw{method: "GET", path: "/version", header: map[string]string{"Authorization": "Bearer planted-token"}, anonymous: true}, http.StatusUnauthorized, "filter authentication", ""},
	} {
		id, status := test.request.send(t, server.Config(t))
		if status != test.code {
			t.Fatalf("%+v: %d", test.request, status)
		}
		// The trace is there once the handler chain is done, a moment after the answer.
		var end ending
		eventually(t, func(context.Context) error {
			if end = runToEnd(t, inspectCmd(t, server, "request", id)); end.code != 0 {
				return fmt.Errorf("%d %s", end.code, end.stderr)
			}
			return nil
		})
		for _, want := range []string{
			` ` + regexp.QuoteMeta(test.request.path) + `\n`,
			fmt.Sprintf(`^%d .* after `, test.code),
			`^Audit ID: +` + id + `$`,
			`^Ended by: +` + test.ended,
			`^FILTER, THEN LAYER +IN +BACK +0 `,
			`^audit-init `,
		} {
			if !regexp.MustCompile(`(?m)` + want).MatchString(end.stdout) {
				t.Errorf("request %+v: no match for %s in\n%s", test.request, want, end.stdout)
			}
		}
		if strings.Contains(end.stdout, "planted-token") {
			t.Errorf("a token is shown:\n%s", end.stdout)
		}
		user := runToEnd(t, inspectCmd(t, server, "request", id, "-o", "jsonpath={.spec.user.name}"))
		if user.stdout != test.user {
			t.Errorf("request %+v: user %q, want %q", test.request, user.stdout, test.user)
		}
	}
}
