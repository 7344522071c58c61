package chain

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/controlplane/apiserver"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// versionPriority is the priority of one version inside its group.
type versionPriority struct {
	version  string
	priority int32
}

// kubeGroups are the groups of kube-apiserver that the generic control plane
// does not have, with the priority of the group. A group version without an
// entry gets no APIService, and is then not served by the aggregator.
// Source: apiVersionPriorities in k8s.io/kubernetes/cmd/kube-apiserver/app/aggregator.go;
// a test holds this table to it.
var kubeGroups = []struct {
	group    string
	priority int32
	versions []versionPriority
}{
	{"apps", 17800, []versionPriority{{"v1", 15}}},
	{"autoscaling", 17500, []versionPriority{{"v2", 30}, {"v1", 15}, {"v2beta1", 9}, {"v2beta2", 1}}},
	{"batch", 17400, []versionPriority{{"v1", 15}, {"v1beta1", 9}, {"v2alpha1", 9}}},
	{"networking.k8s.io", 17200, []versionPriority{{"v1", 15}, {"v1beta1", 9}}},
	{"policy", 17100, []versionPriority{{"v1", 15}, {"v1beta1", 9}}},
	{"storage.k8s.io", 16800, []versionPriority{{"v1", 15}, {"v1beta1", 9}, {"v1alpha1", 1}}},
	{"scheduling.k8s.io", 16600, []versionPriority{{"v1", 15}, {"v1beta1", 9}, {"v1alpha3", 3}}},
	{"node.k8s.io", 16300, []versionPriority{{"v1", 15}, {"v1beta1", 9}, {"v1alpha1", 1}}},
	{"resource.k8s.io", 16200, []versionPriority{{"v1", 21}, {"v1beta2", 15}, {"v1beta1", 9}, {"v1alpha3", 1}}},
	{"lifecycle.k8s.io", 15700, []versionPriority{{"v1alpha1", 1}}},
}

// apiServicePriorities returns the priorities of all group versions of the inner layers.
func apiServicePriorities() map[schema.GroupVersion]apiserver.APIServicePriority {
	all := maps.Clone(apiserver.DefaultGenericAPIServicePriorities())
	for group := range slices.Values(kubeGroups) {
		for version := range slices.Values(group.versions) {
			all[schema.GroupVersion{Group: group.group, Version: version.version}] = apiserver.APIServicePriority{
				Group: group.priority, Version: version.priority,
			}
		}
	}
	all[v1alpha1.SchemeGroupVersion] = apiserver.APIServicePriority{Group: inspectPriority, Version: 1}
	return all
}

// inspectPriority puts the group behind all of upstream's: where short names
// collide, theirs win.
const inspectPriority = 1000
