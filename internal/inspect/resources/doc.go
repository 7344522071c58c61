// Package resources collects what the server knows of its resources: which
// layer registers which (APIResourceRegistration), what is stored and cached of
// them (ResourceStorage), how far discovery and OpenAPI have come
// (DiscoveryState), and the members of etcd below (EtcdMember).
//
// It asks handlers, listers, etcd and metrics that it is given, and only when it
// is asked itself; Run takes one sample a minute, from which growth is told. It
// opens no watch, builds no OpenAPI document, and changes nothing.
//
// It imports the inspect API, inspect/store, the etcd client, and upstream's
// types and configuration; not the chain that it looks at.
package resources
