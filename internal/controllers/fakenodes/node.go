package fakenodes

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// NamePrefix begins the names of the nodes; their numbers follow.
	NamePrefix = "kapi-node-"
	// Label marks the nodes, with the value "true".
	Label = "kapi.dev/fake-node"
	// instanceType is the value of the label node.kubernetes.io/instance-type.
	instanceType = "fake"
)

const (
	leaseEvery    = 10 * time.Second
	leaseDuration = 40 * time.Second
	statusEvery   = 5 * time.Minute
)

func nameOf(number int) string { return NamePrefix + strconv.Itoa(number) }

// numberOf is the inverse of nameOf.
func numberOf(name string) (int, bool) {
	text, ok := strings.CutPrefix(name, NamePrefix)
	number, err := strconv.Atoi(text)
	return number, ok && err == nil && number > 0 && nameOf(number) == name
}

// labelsOf are the labels that a node sets on itself. NodeRestriction allows no
// others of Kubernetes' own.
func labelsOf(name string) map[string]string {
	return map[string]string{
		Label:                          "true",
		corev1.LabelHostname:           name,
		corev1.LabelOSStable:           "linux",
		corev1.LabelArchStable:         runtime.GOARCH,
		corev1.LabelInstanceTypeStable: instanceType,
	}
}

// newNode is a node as it registers.
func newNode(number int, families []corev1.IPFamily, version string, now time.Time) *corev1.Node {
	subnets := subnetsOf(number, families)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nameOf(number), Labels: labelsOf(nameOf(number))},
		Spec:       corev1.NodeSpec{PodCIDR: subnets[0], PodCIDRs: subnets},
	}
	setStatus(&node.Status, number, version, now)
	return node
}

// setStatus brings the status of a node up to date. It has no addresses: whoever
// wants to reach the node is told so by the API server instead of waiting for a
// connection.
func setStatus(status *corev1.NodeStatus, number int, version string, now time.Time) {
	room := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("8"),
		corev1.ResourceMemory:           resource.MustParse("32Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
	}
	status.Capacity, status.Allocatable = room, room.DeepCopy()
	status.Addresses = nil
	id := fmt.Sprintf("%x", sha256.Sum256([]byte(nameOf(number))))[:32]
	status.NodeInfo = corev1.NodeSystemInfo{
		MachineID:               id,
		SystemUUID:              id,
		BootID:                  id,
		KernelVersion:           "none",
		OSImage:                 "none",
		ContainerRuntimeVersion: "fake://1",
		KubeletVersion:          version,
		OperatingSystem:         "linux",
		Architecture:            runtime.GOARCH,
	}
	for _, c := range []struct {
		kind            corev1.NodeConditionType
		status          corev1.ConditionStatus
		reason, message string
	}{
		{corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "there is no memory to run out of"},
		{corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "there is no disk to fill"},
		{corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "there are no processes"},
		{corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "a node of kapi without a machine"},
	} {
		setNodeCondition(status, corev1.NodeCondition{
			Type: c.kind, Status: c.status, Reason: c.reason, Message: c.message,
			LastHeartbeatTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(now),
		})
	}
}

func setNodeCondition(status *corev1.NodeStatus, want corev1.NodeCondition) {
	for i := range status.Conditions {
		is := &status.Conditions[i]
		if is.Type != want.Type {
			continue
		}
		if is.Status == want.Status {
			want.LastTransitionTime = is.LastTransitionTime
		}
		*is = want
		return
	}
	status.Conditions = append(status.Conditions, want)
}

// fresh says whether a node's status needs no update yet: it says Ready, was
// written a short while ago, and by a node of this version.
func fresh(node *corev1.Node, version string, now time.Time) bool {
	if node.Status.NodeInfo.KubeletVersion != version || len(node.Status.Addresses) > 0 {
		return false
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			// A little less than the interval, as times in a status are whole seconds.
			return c.Status == corev1.ConditionTrue && now.Sub(c.LastHeartbeatTime.Time) < statusEvery-leaseEvery
		}
	}
	return false
}

// newLease is the lease of a node, renewed now. The garbage collector deletes it
// with the node.
func newLease(node *corev1.Node, now time.Time) *coordinationv1.Lease {
	seconds := int32(leaseDuration / time.Second)
	renewed := metav1.NewMicroTime(now)
	holder := node.Name
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: node.Name, Namespace: corev1.NamespaceNodeLease,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &renewed},
	}
}
