package resources

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resourceName is the name of a resource in one version: "deployments.v1.apps",
// "pods.v1". kubectl reads the same form.
func resourceName(gvr schema.GroupVersionResource) string {
	return strings.TrimSuffix(gvr.Resource+"."+gvr.Version+"."+gvr.Group, ".")
}

// versionName is the name of a group version: "apps.v1", "core.v1".
func versionName(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "core." + gv.Version
	}
	return gv.Group + "." + gv.Version
}

// segment makes any name fit to be one segment of a path.
func segment(name string) string {
	return strings.NewReplacer("/", "-", "%", "-").Replace(name)
}
