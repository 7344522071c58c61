// Package chain composes the server chain: four servers, each a delegate of the
// one before it, outermost first:
//
//	aggregator → kube-apiserver → apiextensions → 404
//
// The servers are upstream's, from the published packages. What is ours is the
// composition: which options apply in which order (generic.go), one file for
// each layer, how services of aggregated servers and webhooks are found
// (services.go), the bootstrap hooks (bootstrap*.go), and the observation of
// hops between layers (hop.go). The slot for kapi's own layer is between
// kube-apiserver and apiextensions (layers.go).
//
// The package holds no process-wide state; what upstream keeps in globals
// (feature gates, klog) is set by package globals before New is called.
// It may import k8s.io/apiserver, k8s.io/kubernetes and package storage.
package chain
