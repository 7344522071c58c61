// Package route is the page of a dry run: what would happen to a request, in the
// order in which it would, and whether that comes true when it is sent. Only
// requests that read are ever sent from here.
//
// It may import the contract, data, the components and kit, and no other page.
package route

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/page"
)

// New returns the page of the dry run of a request: the settings are verb (GET),
// path, user and groups (several, or with commas between). Without a path it is the
// page that says how to ask for one.
func New(env page.Env, at page.Location) (page.Page, error) {
	path := cmp.Or(at.Get("path"), at.Name)
	if path == "" {
		return newUsage(env), nil
	}
	if !strings.HasPrefix(path, "/") {
		return nil, fault.WithHint(fault.Usagef("path %q does not begin with a slash", path), "write it as in a URL: /api/v1/namespaces/default/pods")
	}
	spec := v1alpha1.RouteExplanationSpec{Verb: cmp.Or(at.Get("verb"), "GET"), Path: path, User: at.Get("user")}
	for _, groups := range at.Query["groups"] {
		for _, group := range strings.Split(groups, ",") {
			if group = strings.TrimSpace(group); group != "" {
				spec.Groups = append(spec.Groups, group)
			}
		}
	}
	if len(spec.Groups) > 0 && spec.User == "" {
		return nil, fault.WithHint(fault.Usagef("groups need a user"), "name the user whose groups these are: --as USER")
	}
	return newRun(env, spec), nil
}

// reads tells whether a verb changes nothing.
func reads(verb string) bool {
	return slices.Contains([]string{"get", "list", "watch", "head", "options"}, strings.ToLower(verb))
}

// typed is how a request is typed on a command line, after what asks for it.
func typed(spec v1alpha1.RouteExplanationSpec) string {
	said := spec.Verb + " " + page.Quote(spec.Path)
	if spec.User != "" {
		said += " --as " + page.Quote(spec.User)
	}
	for _, group := range spec.Groups {
		said += " --as-group " + page.Quote(group)
	}
	return said
}
