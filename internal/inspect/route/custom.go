package route

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionslisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// clusterWide are the verbs by which namespaced objects may be asked for without a namespace.
var clusterWide = []string{"list", "watch"}

// custom decides whether a CRD serves a request. What no CRD serves is passed on.
// Source: crdHandler in k8s.io/apiextensions-apiserver/pkg/apiserver.
func (a *answer) custom(crds apiextensionslisters.CustomResourceDefinitionLister, info *request.RequestInfo) (bool, error) {
	if !strings.HasPrefix(info.Path, "/apis/") {
		return false, nil
	}
	if !info.IsResourceRequest {
		return discovered(crds, strings.Split(strings.Trim(info.Path, "/"), "/"))
	}
	name := info.Resource + "." + info.APIGroup
	crd, err := crds.Get(name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("getting CustomResourceDefinition %s: %w", name, err)
	}
	namespaced := crd.Spec.Scope == apiextensionsv1.NamespaceScoped
	switch version := served(crd, info.APIVersion); {
	case version == nil,
		!namespaced && info.Namespace != "",
		namespaced && info.Namespace == "" && !slices.Contains(clusterWide, info.Verb):
		return false, nil
	case !hasSubresource(version, info.Subresource):
		a.code = http.StatusNotFound
	case !slices.Contains(customVerbs(info.Subresource), info.Verb):
		a.code = http.StatusMethodNotAllowed
	}
	return true, nil
}

// customVerbs are those that are served for custom resources and their subresources.
func customVerbs(subresource string) []string {
	if subresource != "" {
		return []string{"get", "update", "patch"}
	}
	return []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
}

// discovered says whether a CRD makes a group, or a group version, be served.
func discovered(crds apiextensionslisters.CustomResourceDefinitionLister, parts []string) (bool, error) {
	if len(parts) != 2 && len(parts) != 3 {
		return false, nil
	}
	all, err := crds.List(labels.Everything())
	if err != nil {
		return false, fmt.Errorf("listing CustomResourceDefinitions: %w", err)
	}
	return slices.ContainsFunc(all, func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		if crd.Spec.Group != parts[1] {
			return false
		}
		return slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return served(crd, v.Name) != nil && (len(parts) == 2 || v.Name == parts[2])
		})
	}), nil
}

// served returns a version of a CRD if it is served; nil if it is not.
func served(crd *apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	if !holds(crd, apiextensionsv1.NamesAccepted) && !holds(crd, apiextensionsv1.Established) {
		return nil
	}
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Name == name && v.Served {
			return v
		}
	}
	return nil
}

func holds(crd *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == kind && c.Status == apiextensionsv1.ConditionTrue
	})
}

func hasSubresource(version *apiextensionsv1.CustomResourceDefinitionVersion, name string) bool {
	s := version.Subresources
	switch name {
	case "":
		return true
	case "status":
		return s != nil && s.Status != nil
	case "scale":
		return s != nil && s.Scale != nil
	default:
		return false
	}
}
