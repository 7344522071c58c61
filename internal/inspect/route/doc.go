// Package route explains a request without running it: how the server would
// understand it, which filters it would come through, who would decide what, which
// layer would answer, and what would be written where.
//
// It asks the parts that the server itself uses (its RequestInfo resolver, its
// authorizers, the routes of its web services) and follows by rules of its own
// where upstream offers no way to ask: the matching of flow schemas, and the way
// from layer to layer. Nothing is sent, stored or counted, but an authorization
// webhook is asked as for a real request.
//
// It imports k8s.io/apiserver, the listers of what it reads, and the types. It must
// not import k8s.io/kubernetes.
package route
