package foreign

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
)

// methods are the HTTP methods that verbs stand for. They stand for themselves too.
func methods() map[string]string {
	return map[string]string{
		"GET": http.MethodGet, "HEAD": http.MethodHead, "POST": http.MethodPost, "PUT": http.MethodPut,
		"PATCH": http.MethodPatch, "DELETE": http.MethodDelete, "OPTIONS": http.MethodOptions,
		"LIST": http.MethodGet, "WATCH": http.MethodGet, "CREATE": http.MethodPost, "UPDATE": http.MethodPut,
		"DELETECOLLECTION": http.MethodDelete,
	}
}

// verbs are what methods mean for a resource.
func verbs() map[string]string {
	return map[string]string{
		http.MethodGet: "get", http.MethodHead: "get", http.MethodPost: "create", http.MethodPut: "update",
		http.MethodPatch: "patch", http.MethodDelete: "delete",
	}
}

// parseRequest understands a verb and a path as an API server does, and returns
// the path without its query. What can't be a request is bad input.
func parseRequest(verb, given string) (*v1alpha1.RequestInfo, string, error) {
	method, ok := methods()[strings.ToUpper(verb)]
	if !ok {
		return nil, "", fault.WithHint(fault.Usagef("%q is neither an HTTP method nor a verb that stands for one", verb),
			"these are known: get, list, watch, create, update, patch, delete, deletecollection, and methods of HTTP")
	}
	target, err := url.ParseRequestURI(given)
	if err != nil || !strings.HasPrefix(given, "/") || strings.HasPrefix(given, "//") {
		return nil, "", fault.WithHint(fault.Usagef("%q is not the path of a URL", given), `begin it with one "/", without scheme and host`)
	}
	if clean := path.Clean(target.Path); clean != target.Path && clean+"/" != target.Path {
		return nil, "", fault.WithHint(fault.Usagef("the path %q is not clean", given), "did you mean %q?", clean)
	}
	watches := strings.EqualFold(verb, "watch") || isOn(target.Query(), "watch")
	info, err := requestInfo(method, target, watches)
	return info, target.Path, err
}

// requestInfo tells what a method and a URL mean. The forms of URLs are those of
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris, and
// the old ones with "watch" or "proxy" in front of the resource.
func requestInfo(method string, target *url.URL, watches bool) (*v1alpha1.RequestInfo, error) {
	info := &v1alpha1.RequestInfo{Verb: strings.ToLower(method)}
	parts := strings.Split(strings.Trim(target.Path, "/"), "/")
	before := map[string]int{"api": 2, "apis": 3}[parts[0]] // prefix, group, version
	if before == 0 || len(parts) < 3 {
		return info, nil
	}
	info.APIPrefix = parts[0]
	if len(parts) <= before {
		return info, nil // discovery of a group version
	}
	info.IsResourceRequest = true
	if parts[0] == "apis" {
		info.APIGroup = parts[1]
	}
	info.APIVersion, parts = parts[before-1], parts[before:]
	info.Verb = verbs()[method]
	if parts[0] == "watch" || parts[0] == "proxy" {
		if len(parts) < 2 {
			return nil, fault.WithHint(fault.Usagef("the path %q names no resource after %s", target.Path, parts[0]), "add it, as in /api/v1/watch/pods")
		}
		info.Verb, parts = parts[0], parts[1:]
	}
	setResource(info, parts)
	settleVerb(info, target.Query(), watches)
	return info, nil
}

// setResource reads namespace, resource, name and subresource. A namespace is in
// itself, with its own subresources.
func setResource(info *v1alpha1.RequestInfo, parts []string) {
	if parts[0] == "namespaces" && len(parts) > 1 {
		info.Namespace = parts[1]
		if len(parts) > 2 && !slices.Contains([]string{"status", "finalize"}, parts[2]) {
			parts = parts[2:]
		}
	}
	info.Resource = parts[0]
	if len(parts) > 1 {
		info.Name = parts[1]
	}
	if len(parts) > 2 && info.Verb != "proxy" {
		info.Subresource = parts[2]
	}
}

// settleVerb tells requests for one object from those for many.
func settleVerb(info *v1alpha1.RequestInfo, query url.Values, watches bool) {
	switch {
	case info.Name != "":
	case info.Verb == "delete":
		info.Verb = "deletecollection"
	case info.Verb == "get":
		info.Verb = "list"
		if watches {
			info.Verb = "watch"
		}
		if name, ok := strings.CutPrefix(query.Get("fieldSelector"), "metadata.name="); ok && !strings.ContainsAny(name, ",/%") {
			info.Name = name
		}
	}
}

// isOn reads a parameter that is on unless it says otherwise.
func isOn(query url.Values, name string) bool {
	value := strings.ToLower(query.Get(name))
	return query.Has(name) && value != "false" && value != "0"
}
