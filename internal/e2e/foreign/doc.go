// Package foreign tests what kapi shows of an API server that is not kapi, against
// a plain upstream kube-apiserver with its own etcd. It has tests only; it is apart
// from e2e so that it does not link the server.
package foreign
