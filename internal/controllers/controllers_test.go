package controllers

import (
	"maps"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/fault"
)

// TestEveryControllerIsMade: the catalog and the constructors name the same.
func TestEveryControllerIsMade(t *testing.T) {
	var listed []string
	for _, c := range catalog.Controllers() {
		listed = append(listed, c.Name)
	}
	slices.Sort(listed)
	if made := slices.Sorted(maps.Keys(constructors())); !slices.Equal(made, listed) {
		t.Errorf("made   %v\nlisted %v", made, listed)
	}
}

// TestNames: kube-controller-manager's canonical name is an alias of each, so that
// its --controllers can be carried over.
func TestNames(t *testing.T) {
	for _, name := range []string{
		names.NamespaceController, names.GarbageCollectorController, names.ServiceAccountController, names.ServiceAccountTokenController,
		names.LegacyServiceAccountTokenCleanerController, names.RootCACertificatePublisherController, names.ClusterRoleAggregationController,
		names.ResourceQuotaController, names.CertificateSigningRequestApprovingController, names.CertificateSigningRequestSigningController,
		names.CertificateSigningRequestCleanerController, names.ValidatingAdmissionPolicyStatusController, names.StorageVersionMigratorController,
		names.StorageVersionGarbageCollectorController, names.ServiceCIDRController, names.PersistentVolumeProtectionController,
		names.PersistentVolumeClaimProtectionController, names.VolumeAttributesClassProtectionController,
		names.KubeAPIServerClusterTrustBundlePublisherController, names.BootstrapSignerController, names.TokenCleanerController,
		names.DeploymentController, names.ReplicaSetController, names.ReplicationControllerController, names.StatefulSetController,
		names.DaemonSetController, names.JobController, names.CronJobController, names.TTLAfterFinishedController, names.EndpointsController,
		names.EndpointSliceController, names.EndpointSliceMirroringController, names.DisruptionController, names.PodGarbageCollectorController,
		names.HorizontalPodAutoscalerController, names.PersistentVolumeBinderController, names.EphemeralVolumeController,
		names.ResourceClaimController, names.TaintEvictionController,
		names.NodeLifecycleController, names.PodCertificateRequestCleanerController, names.PodGroupProtectionController,
	} {
		c, ok := catalog.Find(name)
		if !ok || len(c.Aliases) == 0 || c.Aliases[0] != name {
			t.Errorf("%s is not the first alias of a controller, %q has %v", name, c.Name, c.Aliases)
		}
	}
}

// TestIdentities: upstream's policy knows each user that a controller acts as, so
// that it has rights, and none but its own.
func TestIdentities(t *testing.T) {
	known := map[string]bool{}
	subjects := func(all []rbacv1.Subject) {
		for _, s := range all {
			name := s.Name
			if s.Kind == rbacv1.ServiceAccountKind {
				name = "system:serviceaccount:" + s.Namespace + ":" + s.Name
			}
			known[name] = true
		}
	}
	for _, b := range slices.Concat(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()) {
		subjects(b.Subjects)
	}
	for _, bindings := range bootstrappolicy.NamespaceRoleBindings() {
		for _, b := range bindings {
			subjects(b.Subjects)
		}
	}
	if !known[reader] {
		t.Errorf("%s has no role", reader)
	}
	for _, c := range catalog.Controllers() {
		if strings.HasPrefix(c.User(), "system:node:") {
			continue // the Node authorizer's
		}
		if slices.ContainsFunc(constructors()[c.Name].gates, func(g featuregate.Feature) bool { return !feature.DefaultFeatureGate.Enabled(g) }) {
			continue // upstream makes its role when it runs
		}
		if !known[c.User()] {
			t.Errorf("%s acts as %s, which has no role", c.Name, c.User())
		}
	}
}

// TestAbsentNames: to the names of kube-controller-manager's controllers that kapi does
// not have it says why not, and does not take them for slips.
func TestAbsentNames(t *testing.T) {
	for _, name := range []string{
		names.NodeIpamController, names.TTLController,
		names.SELinuxWarningController, names.PersistentVolumeAttachDetachController, names.PersistentVolumeExpanderController,
		names.DeviceTaintEvictionController, names.ResourcePoolStatusRequestController,
		"cloud-node-lifecycle-controller", "service-lb-controller", "node-route-controller",
		"nodeipam", "ttl", "attachdetach", "persistentvolume-expander", "service", "route", "cloud-node-lifecycle",
	} {
		if err := catalog.Check("-" + name); fault.Code(err) != fault.CodeUsage || !strings.HasPrefix(fault.Hint(err), "leave it out: ") {
			t.Errorf("%s: %v; %s", name, err, fault.Hint(err))
		}
	}
}
