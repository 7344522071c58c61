package route

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// methods are the HTTP methods that stand for a verb. They stand for themselves too.
var methods = map[string]string{
	"GET": http.MethodGet, "HEAD": http.MethodHead, "POST": http.MethodPost, "PUT": http.MethodPut,
	"PATCH": http.MethodPatch, "DELETE": http.MethodDelete, "OPTIONS": http.MethodOptions,
	"LIST": http.MethodGet, "WATCH": http.MethodGet, "CREATE": http.MethodPost, "UPDATE": http.MethodPut,
	"DELETECOLLECTION": http.MethodDelete,
}

const (
	maxPath   = 4096
	maxGroups = 64
)

// contentTypes let a request with a body pass the routes' check of its type.
var contentTypes = map[string]string{
	http.MethodPost: "application/json", http.MethodPut: "application/json",
	http.MethodPatch: "application/merge-patch+json",
}

// newRequest makes the request that is to be explained, with its RequestInfo in
// the context. What can't be one is a BadRequest that names the value.
func (e *Explainer) newRequest(ctx context.Context, spec v1alpha1.RouteExplanationSpec) (*http.Request, *request.RequestInfo, error) {
	method, ok := methods[strings.ToUpper(spec.Verb)]
	if !ok {
		return nil, nil, badRequest("spec.verb %q is neither an HTTP method (GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS) "+
			"nor a verb that stands for one (get, list, watch, create, update, patch, delete, deletecollection)", short(spec.Verb))
	}
	target, err := parsePath(spec.Path)
	if err != nil {
		return nil, nil, err
	}
	if strings.EqualFold(spec.Verb, "watch") {
		query := target.Query()
		query.Set("watch", "1")
		target.RawQuery = query.Encode()
	}
	r := (&http.Request{
		Method: method, URL: target, RequestURI: target.RequestURI(), Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: http.Header{"Accept": {"*/*"}}, Body: http.NoBody,
	}).WithContext(ctx)
	if contentType := contentTypes[method]; contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	info, err := e.cfg.RequestInfo.NewRequestInfo(r)
	if err != nil {
		return nil, nil, badRequest("spec.path %q can't be understood: %v", short(spec.Path), err)
	}
	return r.WithContext(request.WithRequestInfo(ctx, info)), info, nil
}

func parsePath(given string) (*url.URL, error) {
	if !strings.HasPrefix(given, "/") || strings.HasPrefix(given, "//") {
		return nil, badRequest("spec.path %q is not a path: it must begin with one \"/\", without scheme and host", short(given))
	}
	if len(given) > maxPath {
		return nil, badRequest("spec.path is %d bytes long, more than %d", len(given), maxPath)
	}
	target, err := url.ParseRequestURI(given)
	if err != nil {
		return nil, badRequest("spec.path %q is not a path with a query", short(given))
	}
	if clean := path.Clean(target.Path); clean != target.Path && clean+"/" != target.Path {
		return nil, badRequest("spec.path %q is not clean: did you mean %q?", short(given), short(clean))
	}
	return target, nil
}

func badRequest(format string, values ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf(format, values...))
}

// short cuts a value for a message.
func short(value string) string {
	const most = 120
	if runes := []rune(value); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return value
}
