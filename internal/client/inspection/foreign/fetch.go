package foreign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/fault"
)

const jsonType = "application/json"

// maxReason is how much of a failing answer is read: no status is longer.
const maxReason = 1 << 20

// get returns the body of a path, also where its code is one of those that are
// known to have a body that says what is wrong, as those of health endpoints do.
func (s *Server) get(ctx context.Context, path, accept string, known ...int) ([]byte, error) {
	var body []byte
	err := s.stream(ctx, path, accept, func(answer io.Reader) (err error) {
		body, err = io.ReadAll(answer)
		return err
	}, known...)
	return body, err
}

// stream reads the body of a path, which may have a query, while it comes. It is
// not the REST client that asks: that one keeps no body which is neither JSON nor good.
func (s *Server) stream(ctx context.Context, path, accept string, read func(io.Reader) error, known ...int) error {
	path, query, _ := strings.Cut(path, "?")
	target := s.rest.Get().AbsPath(path).URL()
	target.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return fmt.Errorf("asking for %s: %w", path, err)
	}
	request.Header.Set("Accept", accept)
	response, err := s.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK || slices.Contains(known, response.StatusCode) {
		return read(response.Body)
	}
	return allowing(refusal(response), needsPage(path))
}

// refusal is an answer that is none as an API error: the server's own status, or
// one made of code and text.
func refusal(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReason))
	if err != nil {
		return err
	}
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil && status.Kind == "Status" {
		return &apierrors.StatusError{ErrStatus: status}
	}
	return apierrors.NewGenericServerResponse(response.StatusCode, "get", schema.GroupResource{}, "", strings.TrimSpace(string(body)), 0, true)
}

// allowing adds to a Forbidden error what would allow it.
func allowing(err error, needs string) error {
	if apierrors.IsForbidden(err) {
		return fault.WithHint(err, "it %s", needs)
	}
	return err
}

func needsPage(page string) string {
	return fmt.Sprintf("needs get on the nonResourceURL %s, which ClusterRole %s gives", page, roleFor(page))
}

func needs(verb, resource string) string {
	return fmt.Sprintf("needs %s on %s: kubectl create clusterrole NAME --verb=%s --resource=%s makes a role that gives it", verb, resource, verb, resource)
}

// errFormat is an answer that is not what it should be: a login page, a proxy's text.
var errFormat = errors.New("not in the form that is expected")

// why is the reason of a gap for a page that can't be had.
func why(err error, page string) string {
	switch {
	case apierrors.IsForbidden(err):
		return "forbidden to you: " + needsPage(page)
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		return fmt.Sprintf("this server does not serve %s", page)
	case errors.Is(err, errFormat):
		return fmt.Sprintf("what %s answers is %s", page, errFormat)
	default:
		return fmt.Sprintf("%s can't be read: %s", page, firstLine(err.Error()))
	}
}

// whyNot is why for the objects of a resource ("apiservices.apiregistration.k8s.io").
func whyNot(err error, verb, resource string) string {
	switch {
	case apierrors.IsForbidden(err):
		return "forbidden to you: " + needs(verb, resource)
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		return fmt.Sprintf("this server does not serve %s", resource)
	default:
		return fmt.Sprintf("%s can't be read: %s", resource, firstLine(err.Error()))
	}
}

// roleFor is the role of upstream's that allows to get a page.
// Source: k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go.
func roleFor(page string) string {
	for _, known := range []struct{ prefix, role string }{
		{"/metrics", "system:monitoring"},
		{"/readyz", "system:monitoring"},
		{"/livez", "system:monitoring"},
		{"/healthz", "system:monitoring"},
		{"/flagz", "system:monitoring"},
		{"/statusz", "system:monitoring"},
		{"/version", "system:public-info-viewer"},
		{"/openapi", "system:discovery"},
		{"/api", "system:discovery"},
	} {
		if strings.HasPrefix(page, known.prefix) {
			return known.role
		}
	}
	return "cluster-admin"
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
