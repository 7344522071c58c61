// Package catalog is the table of the controllers that can run inside kapi: their
// names, what users miss without each, and whom each acts as. It also reads the
// value of --controllers.
//
// It knows no controller's code, so that configuration, help and completion can
// use it. It is a leaf: it may import near, fault and the standard library.
package catalog

import (
	"slices"
	"strings"
)

// Set is a group of controllers that are turned on together.
type Set string

// The sets. Nodes is turned on by --fake-nodes.
const (
	API       Set = "api"
	Workloads Set = "workloads"
	Nodes     Set = "nodes"
)

// Words that stand for sets in --controllers beside the sets themselves.
const (
	// All is API and Workloads.
	All = "all"
	// None is the empty set.
	None = "none"
)

// Names of controllers that others than the table speak of.
const (
	ServiceAccount         = "serviceaccount"
	ServiceAccountToken    = "serviceaccount-token"
	CSRSigning             = "csrsigning"
	GarbageCollector       = "garbagecollector"
	StorageVersionMigrator = "svm"
	VolumeBinder           = "persistentvolume-binder"
	Scheduler              = "scheduler"
	FakeNodes              = "fake-nodes"
	FakeVolumes            = "fake-volumes"
)

// Controller is one line of the table.
type Controller struct {
	// Name is the short name that kube-controller-manager's --controllers takes.
	Name string
	// Aliases are other names for it, kube-controller-manager's canonical one first.
	Aliases []string
	Set     Set
	// Doc says what is missing without it, as an end of "without it …".
	Doc string
	// Identity is the user that it acts as: a service account of namespace
	// kube-system, or a whole user name where there is a colon in it. The roles of
	// each are upstream's (plugin/pkg/auth/authorizer/rbac/bootstrappolicy).
	Identity string
	// Queues are the values of the label name in the metrics workqueue_*.
	Queues []string
	// Package is the path below k8s.io/kubernetes/pkg/controller, or a whole import
	// path: what its goroutines run in. Errors that come without a context are told
	// apart by it. Two pairs share code, and the errors of both are those of one:
	// csrapproving's are csrsigning's, and replicationcontroller's are replicaset's.
	Package string
}

// User returns the name of the user that the controller acts as.
func (c Controller) User() string {
	if strings.Contains(c.Identity, ":") {
		return c.Identity
	}
	return "system:serviceaccount:kube-system:" + c.Identity
}

// Find returns the controller of a name or an alias.
func Find(name string) (Controller, bool) {
	for _, c := range Controllers() {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c, true
		}
	}
	return Controller{}, false
}

// In returns the names of a set, in the order of the table.
func In(set Set) []string {
	var names []string
	for _, c := range Controllers() {
		if c.Set == set {
			names = append(names, c.Name)
		}
	}
	return names
}
