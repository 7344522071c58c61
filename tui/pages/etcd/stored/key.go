package stored

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Prefix is where the objects of a resource are in the store, as the server has
// registered it; why says where they are instead. Both are empty where nobody says it.
// tells says that the server gives the prefix of everything that it stores.
func Prefix(resource schema.GroupVersionResource, registrations []*v1alpha1.APIResourceRegistration, tells bool) (prefix, why string) {
	found := false
	for _, r := range registrations {
		if r.Spec.Group != resource.Group || r.Spec.Resource != resource.Resource {
			continue
		}
		found = true
		switch {
		case r.Spec.APIService != "":
			return "", "Its objects are with the aggregated server of APIService " + r.Spec.APIService + ", which keeps them where it likes."
		case r.Spec.EtcdPrefix != "":
			return strings.TrimSuffix(r.Spec.EtcdPrefix, "/"), ""
		}
	}
	if found && tells {
		return "", "The resource is answered from memory: nothing of it is stored."
	}
	return "", ""
}

// Conventional is where an API server keeps a resource if nobody told it otherwise.
// Source: the storage factory of kube-apiserver, and the stores of definitions and of
// APIServices, which have the group in their keys.
func Conventional(resource schema.GroupResource) string {
	const root = "/registry/"
	switch name := resource.String(); name {
	case "replicationcontrollers":
		return root + "controllers"
	case "nodes":
		return root + "minions"
	case "services":
		return root + "services/specs"
	case "endpoints":
		return root + "services/endpoints"
	case "ingresses.networking.k8s.io":
		return root + "ingress"
	}
	if builtIn(resource.Group) {
		return root + resource.Resource
	}
	return root + resource.Group + "/" + resource.Resource
}

// builtIn tells whether kube-apiserver itself serves a group, but for those that
// have their groups in their keys.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || slices.Contains([]string{
		"admissionregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "certificates.k8s.io",
		"coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io",
		"networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io",
		"storage.k8s.io", "storagemigration.k8s.io",
	}, group)
}

// Join is the key of an object below its resource's prefix.
func Join(prefix, namespace, name string) string {
	if namespace != "" {
		prefix += "/" + namespace
	}
	return prefix + "/" + name
}
