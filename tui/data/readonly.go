package data

import (
	"fmt"
	"net/http"
	"regexp"

	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/fault"
)

// ReadOnly returns a configuration whose clients change nothing on a server: the
// transport refuses every request but those that only ask. The one given stays as
// it is.
func ReadOnly(config *rest.Config) *rest.Config {
	own := rest.CopyConfig(config)
	own.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnly{next} })
	return own
}

// readOnly is a transport for requests that change nothing.
type readOnly struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (r readOnly) RoundTrip(request *http.Request) (*http.Response, error) {
	if !asks(request) {
		if request.Body != nil {
			_ = request.Body.Close() // as a transport has to
		}
		return nil, errReadOnly(fmt.Sprintf("%s %s", request.Method, request.URL.Path))
	}
	return r.next.RoundTrip(request)
}

// WrappedRoundTripper gives client-go the transport below.
func (r readOnly) WrappedRoundTripper() http.RoundTripper { return r.next }

// reviews are what can be created and is kept nowhere.
var reviews = regexp.MustCompile(`/apis/(?:` +
	`inspect\.kapi\.dev/[^/]+/(?:routeexplanations|storedkeyqueries)` +
	`|authorization\.k8s\.io/[^/]+/(?:namespaces/[^/]+/localsubjectaccessreviews|selfsubjectaccessreviews|selfsubjectrulesreviews|subjectaccessreviews)` +
	`|authentication\.k8s\.io/[^/]+/selfsubjectreviews)/?$`)

// asks tells whether a request only asks. Upgrades are no questions, whatever their
// method is: exec begins with a GET. Neither are requests that are sent on to a pod,
// a service or a node, which may do anything.
func asks(request *http.Request) bool {
	if request.Header.Get("Upgrade") != "" || passedOn.MatchString(request.URL.Path) {
		return false
	}
	switch request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, "": // "" is GET
		return true
	case http.MethodPost:
		return reviews.MatchString(request.URL.Path)
	}
	return false
}

// passedOn are paths of subresources behind which another server is.
var passedOn = regexp.MustCompile(`/api/v1/(?:namespaces/[^/]+/(?:pods|services)|nodes)/[^/]+/(?:proxy|exec|attach|portforward)(?:/|$)`)

// errReadOnly says what was refused, and what would allow it.
func errReadOnly(what string) error {
	return fault.WithHint(fault.Usagef("refused to send %s: nothing may be changed", what), "start the console with --allow-changes")
}
