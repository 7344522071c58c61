// Package object is the page of any resource of the server, as kubectl would show
// it: a list in the server's own table, and one object as YAML, described, or as it
// is in the store. Resources are found by the names that one types: plural, singular,
// short, with or without the group.
//
// It may import the contract, data, the components, kit, and what shows stored keys.
package object

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/page"
)

// New returns the page of a resource (object/RESOURCE.GROUP) or of one object
// (object/RESOURCE.GROUP/NAME). Settings are version, namespace, filter and view
// (yaml, describe, etcd). Without a version the resource is looked for first.
func New(env page.Env, at page.Location) (page.Page, error) {
	typed, name, _ := strings.Cut(at.Name, "/")
	if typed == "" {
		return nil, fault.WithHint(fault.Usagef("no resource is named"), "name one as for kubectl, such as object/pods or object/deployments.apps")
	}
	view, err := viewOf(at.Get("view"))
	if err != nil {
		return nil, err
	}
	version := at.Get("version")
	if version == "" {
		return newFinder(env, at, typed, name), nil
	}
	resource, group, _ := strings.Cut(typed, ".")
	gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	if name == "" {
		return newList(env, gvr, at.Get("namespace"), at.Get("filter")), nil
	}
	return newObject(env, gvr, at.Get("namespace"), name, view), nil
}

// Location is where a resource, or one object of it, is shown.
func Location(resource schema.GroupVersionResource, namespace, name, view string) page.Location {
	at := resource.GroupResource().String()
	if name != "" {
		at += "/" + name
	}
	return page.At("object", at, "version", resource.Version, "namespace", namespace, "view", view)
}

// Path is that of a resource, or of one object of it, in the API.
func Path(resource schema.GroupVersionResource, namespace, name string) string {
	path := "/apis/" + resource.Group + "/" + resource.Version
	if resource.Group == "" {
		path = "/api/" + resource.Version
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	path += "/" + resource.Resource
	if name != "" {
		path += "/" + name
	}
	return path
}

// commands are the command lines for an object.
func commands(resource schema.GroupVersionResource, namespace, name string) []string {
	// Type and name in one word: a name that begins with a dash is no flag then.
	object := page.Quote(resource.GroupResource().String() + "/" + name)
	if namespace != "" {
		object += " -n " + page.Quote(namespace)
	}
	return []string{
		"kubectl get " + object + " -o yaml",
		"kubectl describe " + object,
		"kapi inspect route get " + page.Quote(Path(resource, namespace, name)),
	}
}
