// Package auth observes how the server decides who asks and what they may do:
// the authenticators and authorizers of its unions, the admission plugins of its
// chain, and the priority levels of priority and fairness.
//
// It wraps the parts that the server is made of, one by one, without changing
// what they answer; how they were configured is given to it (package configured
// derives it from kube-apiserver's options). It decides nothing itself, and keeps
// neither tokens nor reasons: counters and durations only.
//
// It imports k8s.io/apiserver's interfaces, client-go's listers, the types of
// inspect.kapi.dev and the histogram. It must not import k8s.io/kubernetes.
package auth
