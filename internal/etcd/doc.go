// Package etcd runs the one etcd member that lives inside kapi, and diagnoses
// its data directory before etcd touches it.
//
// Start gives a Member that listens on unix sockets and on no TCP port. What
// can be wrong with a data directory is found beforehand by reading only
// (preflight.go, walscan.go, boltscan.go), because etcd itself answers most of
// it with a panic in a goroutine of its own, after it has begun to write. What
// goes wrong later (a full disk) arrives as an error instead of an exit of the
// process (fatal.go).
//
// It is not a client of an etcd that runs elsewhere, except for CheckExternal,
// which only asks whether one can be used. It holds no lock of kapi's own and
// knows nothing of Kubernetes.
//
// It is the only package that may import go.etcd.io/etcd/server. It may import
// fault, and nothing else of kapi.
package etcd
